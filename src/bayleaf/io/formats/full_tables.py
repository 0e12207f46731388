"""Full tables of all distributions of a network, for formats that hold nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.given_tables import check_distributions
from bayleaf.models.bayesian_network import BayesianNetwork

MAX_TABLE_CELLS = 10_000_000


class FullTable(NamedTuple):
    """One distribution as a table.

    Attributes
    ----------
    child : int
        The variable.
    parents : tuple of int
        In the order of the axes.
    rows : ndarray of shape (parent configurations, child card), dtype float64
        The first parent varies slowest.
    experience : ndarray of shape (*parent cards), dtype float64, or None
        How many rows each distribution is worth.
    """

    child: int
    parents: tuple[int, ...]
    rows: NDArray[np.float64]
    experience: NDArray[np.float64] | None


def full_tables(
    network: BayesianNetwork, max_table_cells: int = MAX_TABLE_CELLS
) -> Iterator[FullTable]:
    """Expand the distributions of a network, one at a time, in the variables' order.

    Raises
    ------
    ValueError
        If a table would have more cells than `max_table_cells`, before any is made,
        or holds anything but distributions; the variable is named.
    """
    for variable, cpd in zip(network.domain, network.cpds, strict=True):
        if (cells := prod(cpd.cards)) > max_table_cells:
            raise ValueError(
                f"the table of variable {variable.name!r} would have {cells:,} cells "
                f"with its {len(cpd.cards) - 1} parents; give it fewer parents, or "
                f"raise max_table_cells, which is {max_table_cells:,}"
            )
    return _expanded(network)


def _expanded(network: BayesianNetwork) -> Iterator[FullTable]:
    """Each distribution as a table, once it has been checked."""
    for variable, cpd in zip(network.domain, network.cpds, strict=True):
        table, what = cpd.probabilities, f"the table of variable {variable.name!r}"
        if not table.size or not np.isfinite(table).all():
            raise ValueError(f"{what} is empty or holds numbers that are not finite")
        check_distributions(table, what)
        rows = table.reshape(-1, table.shape[-1])
        experience = getattr(cpd, "experience", None)
        yield FullTable(cpd.child, cpd.parents, rows, experience)


def number_texts(values: NDArray[np.float64]) -> list[str]:
    """Numbers in the shortest form that reads back as the same number."""
    return [repr(value) for value in values.ravel().tolist()]
