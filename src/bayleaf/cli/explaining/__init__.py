"""Why rows get their class, and what would change it."""
