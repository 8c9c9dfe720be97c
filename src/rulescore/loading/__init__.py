"""A setting's facts and tables onto an engine: numbered, typed and checked."""
