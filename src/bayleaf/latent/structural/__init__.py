"""Structures learned by expectation maximisation."""
