"""A verdict for every row of predictions: the user's rows with all their columns, in their order, and what the rules say."""
