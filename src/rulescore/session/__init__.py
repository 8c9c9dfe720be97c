"""Opens a setting step by step, counts, lists violations, and remembers results."""
