"""Learning from tables that are not in memory, and from counts of them."""
