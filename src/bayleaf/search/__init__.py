"""Structure search, one strategy a file."""
