"""What every fact that is not there would contribute to every rule, and what models gain from knowing it."""
