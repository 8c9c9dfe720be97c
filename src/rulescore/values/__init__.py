"""Values: their types, the keys that stand for constants, and date-times."""
