"""Tables that come with the library, and generators of textbook problems."""

from bayleaf.datasets.generators import make_corral, make_led7, make_monks
from bayleaf.datasets.shipped import load_heart, load_mushroom, load_vote
from bayleaf.datasets.table import Table

__all__ = [
    "Table",
    "load_heart",
    "load_mushroom",
    "load_vote",
    "make_corral",
    "make_led7",
    "make_monks",
]
