"""Sufficient statistics: counts, and the information measures read off them."""
