"""Adapters that other tools load."""
