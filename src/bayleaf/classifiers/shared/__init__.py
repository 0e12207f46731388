"""What all classifiers share, and density models with them in part."""
