"""Parameters that say which arcs a learned structure may have."""
