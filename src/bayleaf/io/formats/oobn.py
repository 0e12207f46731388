"""HUGIN's classes without instances: one network in the block of a class."""

from __future__ import annotations

from pathlib import Path

from bayleaf.io.formats.full_tables import MAX_TABLE_CELLS
from bayleaf.io.formats.net import read, write_within
from bayleaf.io.formats.source_file import MAX_BYTES
from bayleaf.models.bayesian_network import BayesianNetwork

__all__ = ["MAX_BYTES", "read", "write"]


def write(
    network: BayesianNetwork,
    path: str | Path,
    *,
    max_table_cells: int = MAX_TABLE_CELLS,
) -> None:
    """Write a network as a class of HUGIN; errors as those of net files."""
    write_within("class network\n{\n", "}\n", network, path, max_table_cells)
