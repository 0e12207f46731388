"""What pages and scorers hold of a model, and the scripts that compute with it."""
