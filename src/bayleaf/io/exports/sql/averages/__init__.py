"""Averages of networks as stages of a query."""
