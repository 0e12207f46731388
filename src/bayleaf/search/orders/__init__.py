"""Orders of features, and the parents that follow from them."""
