"""A folder with the family, and the command line."""

from command_line import family, run

__all__ = ["family", "run"]
