"""Graphs over named variables, with or without tables."""
