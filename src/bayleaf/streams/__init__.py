"""Tables that are read once, batch by batch, into a file of codes."""
