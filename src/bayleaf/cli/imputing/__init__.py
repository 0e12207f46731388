"""Commands that complete tables."""
