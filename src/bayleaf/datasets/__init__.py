"""Tables and networks that come with the library, and textbook problems."""

from bayleaf.datasets.generators import make_corral, make_led7, make_monks
from bayleaf.datasets.networks_by_name import load_network
from bayleaf.datasets.shipped import load_heart, load_mushroom, load_vote
from bayleaf.datasets.table import Table

__all__ = [
    "Table",
    "load_heart",
    "load_mushroom",
    "load_network",
    "load_vote",
    "make_corral",
    "make_led7",
    "make_monks",
]
