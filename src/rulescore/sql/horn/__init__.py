"""Statements that count many rules of Horn form at once."""
