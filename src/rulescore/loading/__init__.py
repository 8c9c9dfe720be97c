"""Loads a setting's facts and tables onto an engine: numbers, types and checks them."""
