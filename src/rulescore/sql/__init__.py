"""Turns plans and formulas into statements."""
