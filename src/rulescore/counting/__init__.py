"""Runs a plan and formulas on an engine: counts, contributions and the rows behind them."""
