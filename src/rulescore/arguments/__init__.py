"""Turns what users write (Python arguments, options, the project file) into a setting."""
