"""Exact inference by message passing between the cliques of a triangulated graph."""
