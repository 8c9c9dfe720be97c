"""Statements that make the rows of tables with keys."""
