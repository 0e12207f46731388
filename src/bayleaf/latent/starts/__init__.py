"""Where expectation maximisation starts."""
