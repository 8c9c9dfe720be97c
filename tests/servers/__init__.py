"""Servers that tests start and stop by themselves."""
