"""The fewest cells, and the cheapest changes, that flip a prediction, proven."""
