"""Commands that need counts of a table alone."""
