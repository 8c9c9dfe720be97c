"""The published experiments, run again: published numbers and ours, cell by cell, and why they differ."""
