"""Directed acyclic graphs and what is derived from them; nothing about data."""
