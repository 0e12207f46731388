"""Native loops of searches, under the names of their sources."""
