"""What other tools load."""
