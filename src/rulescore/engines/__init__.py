"""Databases that load facts and run statements."""
