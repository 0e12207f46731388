"""How many cells of a row would have to be wrong for another prediction, proven."""
