"""The passes for Spark: a module for each."""
