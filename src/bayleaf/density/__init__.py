"""Bayesian networks as density models: no variable is singled out."""
