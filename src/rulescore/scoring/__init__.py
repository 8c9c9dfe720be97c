"""Turns counts into rates, scores and aggregates, by arithmetic alone."""
