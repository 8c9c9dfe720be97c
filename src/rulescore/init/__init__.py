"""The files of a first session, and projects for tables as they are."""
