"""Trees whose leaves share distributions, made from finished trees."""
