"""A literal, slow evaluator of the definitions. It shares no code with the package."""
