"""Full tables of all distributions of a network, for formats that hold nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.given_tables import check_distributions
from bayleaf.io.atomic import text_file
from bayleaf.io.formats.safe_names import SafeNames
from bayleaf.models.bayesian_network import BayesianNetwork

MAX_TABLE_CELLS = 10_000_000


class FullTable(NamedTuple):
    """One distribution as a table."""

    child: int  # index of the variable
    parents: tuple[int, ...]  # in the order of the axes
    rows: NDArray[np.float64]  # (configurations, child card), first parent slowest
    experience: NDArray[np.float64] | None  # (*parent cards), rows behind each


class NetworkWriter(Protocol):
    """A format's function that writes a file; it appears when all is written.

    ValueError names a variable whose table exceeds `max_table_cells`, is not of
    distributions, or whose states do not fit a file.
    """

    def __call__(
        self,
        network: BayesianNetwork,
        path: str | Path,
        *,
        max_table_cells: int = MAX_TABLE_CELLS,
    ) -> None:
        """Write a network."""


def network_writer(
    texts: Callable[[SafeNames, Iterator[FullTable]], Iterator[str]],
    *,
    at_least_two: bool = False,
) -> NetworkWriter:
    """The writer of a format, from its texts; `at_least_two` as in `for_network`."""

    def write(
        network: BayesianNetwork,
        path: str | Path,
        *,
        max_table_cells: int = MAX_TABLE_CELLS,
    ) -> None:
        names = SafeNames.for_network(network.domain, at_least_two=at_least_two)
        cards = [len(states) for states in names.states]
        tables = full_tables(network, max_table_cells, cards)
        with text_file(path) as out:
            out.writelines(texts(names, tables))

    return write


def full_tables(
    network: BayesianNetwork,
    max_table_cells: int = MAX_TABLE_CELLS,
    n_listed: Sequence[int] | None = None,
) -> Iterator[FullTable]:
    """Expand the distributions of a network, one at a time, in the variables' order.

    If more states of variables are listed than there are, those added come last. They
    never occur: their own probability is 0, and children have under them what they have
    under the parent's last state, so that no posterior of another variable changes.
    ValueError names the variable whose table exceeds `max_table_cells`, before any is
    made, or has rows that are not distributions.
    """
    cards = network.domain.cards
    listed = cards if n_listed is None else n_listed
    for variable, cpd in zip(network.domain, network.cpds, strict=True):
        if (cells := prod(listed[member] for member in cpd.family)) > max_table_cells:
            raise ValueError(
                f"the table of variable {variable.name!r} would have {cells:,} cells "
                f"with its {len(cpd.parents)} parents; give it fewer parents, or "
                f"raise max_table_cells, which is {max_table_cells:,}"
            )
    return (_padded(table, cards, listed) for table in _expanded(network))


def _padded(
    table: FullTable, cards: Sequence[int], n_listed: Sequence[int]
) -> FullTable:
    """One table with the added states of its variables."""
    family = (*table.parents, table.child)
    added = [(0, n_listed[member] - cards[member]) for member in family]
    if not any(n for _, n in added):
        return table
    cells = table.rows.reshape([cards[member] for member in family])
    cells = np.pad(cells, [*added[:-1], (0, 0)], mode="edge")
    cells = np.pad(cells, [*((0, 0) for _ in added[:-1]), added[-1]])
    counts = table.experience
    if counts is not None and added[:-1]:
        counts = np.pad(counts, added[:-1], mode="edge")
    rows = cells.reshape(-1, cells.shape[-1])
    return FullTable(table.child, table.parents, rows, counts)


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
