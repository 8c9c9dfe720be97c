"""Counts what every absent fact would contribute to every rule, and uses these counts to mend models."""
