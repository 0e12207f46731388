"""Models as programs of other systems: queries, graphs of operators, scorers."""
