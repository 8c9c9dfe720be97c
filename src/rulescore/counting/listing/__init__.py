"""The groundings behind the counts."""
