"""Databases that run statements: one adapter for each."""
