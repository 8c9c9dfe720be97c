"""Statements that count one formula."""
