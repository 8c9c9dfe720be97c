"""From a setting to its results: opened step by step, counted, listed, and remembered."""
