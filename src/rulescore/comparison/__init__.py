"""Compares models, rules and runs, with intervals that say whether a difference is real."""
