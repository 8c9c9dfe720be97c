"""The published layout: a table for each predicate in the user's own database."""
