"""Descriptions of all that one evaluation needs; nothing here opens a file."""
