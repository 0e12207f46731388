"""Files of networks and models that other programs read, one file a format."""
