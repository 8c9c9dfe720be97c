"""Plans to statements. The only code that knows sqlglot."""
