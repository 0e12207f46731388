"""Value hierarchies learned from counts."""
