"""Class models that are one Bayesian network."""
