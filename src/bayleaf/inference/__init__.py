"""Exact and approximate answers to questions about a factorised joint distribution."""
