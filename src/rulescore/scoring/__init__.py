"""Counts to rates, scores and aggregates: pure arithmetic."""
