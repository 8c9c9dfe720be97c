"""Is the difference real: models, rules and runs, with intervals."""
