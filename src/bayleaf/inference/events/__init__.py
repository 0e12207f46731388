"""Questions about several variables together, and about events in words."""
