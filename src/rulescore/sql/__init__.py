"""Plans and formulas to statements."""
