"""Decides what to count, without any SQL."""
