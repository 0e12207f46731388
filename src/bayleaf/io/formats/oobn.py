"""HUGIN's classes without instances: one network in the block of a class."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bayleaf.io.formats.full_tables import FullTable, network_writer
from bayleaf.io.formats.net import net_texts, read
from bayleaf.io.formats.safe_names import SafeNames

__all__ = ["read", "write"]


@partial(network_writer, at_least_two=True)
def write(names: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write a network as a class of HUGIN."""
    yield "class network\n{\n"
    yield from net_texts(names, tables)
    yield "}\n"
