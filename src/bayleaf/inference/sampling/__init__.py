"""Rows drawn from a factorised distribution, with and without evidence."""
