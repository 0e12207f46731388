"""Models of a numeric target."""
