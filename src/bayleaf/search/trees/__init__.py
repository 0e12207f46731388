"""Search for networks whose distributions are trees of conditions."""
