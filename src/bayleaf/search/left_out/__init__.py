"""Choices by how well training rows are predicted once they are left out."""
