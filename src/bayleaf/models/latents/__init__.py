"""Latent variables of hierarchical naive Bayes: tables, messages, reports."""
