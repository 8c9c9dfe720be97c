"""A folder with the family and the command line, and evaluations to show."""

from command_line import family, run
from evaluations import audit, evaluation, table_evaluation

__all__ = ["audit", "evaluation", "family", "run", "table_evaluation"]
