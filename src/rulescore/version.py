"""The version of the program, which results remember."""

__version__ = "0.1.0"
