"""Writes a report: one HTML file that says who breaks which rules, and whether it matters. The core does not need it."""
