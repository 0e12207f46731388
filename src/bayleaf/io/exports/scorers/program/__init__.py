"""The parts of a scorer in Python, which contains those that its model needs."""
