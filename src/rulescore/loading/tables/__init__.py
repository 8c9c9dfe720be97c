"""Tables with keys onto an engine."""
