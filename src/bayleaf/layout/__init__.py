"""Places for the boxes of a directed graph and ways for its arcs around them."""

from bayleaf.layout.layered import Drawing, layered_drawing, with_tops

__all__ = ["Drawing", "layered_drawing", "with_tops"]
