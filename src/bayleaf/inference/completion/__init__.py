"""Missing cells of tables filled in by a network."""
