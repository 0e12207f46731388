"""Search for networks whose distributions are tables of grouped states."""
