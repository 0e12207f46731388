"""What commands do with a numeric target."""
