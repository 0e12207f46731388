"""Tables of gated mixtures, and how mixtures explain a row."""
