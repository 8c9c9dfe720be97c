"""The published experiments, run again: published numbers beside ours, cell by cell, and why they differ."""
