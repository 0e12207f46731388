"""Places for the boxes of a directed graph and ways for its arcs around them."""
