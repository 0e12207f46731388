"""What a table's columns mean, learned from training rows, and tables as codes."""
