"""How often and how closely a model is right. The only stage that reads held-out labels: scores of rules never do."""
