"""Tables of any make, taken apart into columns."""
