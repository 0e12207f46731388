"""Where numeric columns are cut into intervals."""
