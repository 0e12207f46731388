"""Where learners get their counts from: additive passes over rows, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.pairs import PairCounts
from bayleaf.data.codes import Codes

Family = tuple[int, ...]
Counts = NDArray[np.float64]

# Rows of a table in batches that learners get which need rows, by default.
MOST_ROWS = 1_000_000


class CountSource(Protocol):
    """Sufficient statistics of a table whose last variable may be the class.

    Every answer is a sum over rows, so the answers for two halves of a table add up to
    the answer for the whole: a source may lie in memory, on disk or on a cluster. Rows
    in which a variable of the question is missing are left out of the answer
    (available-case counts).

    A class is never missing; without one, counts by class are those of a single class
    that all rows have.
    """

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, a class last."""
        ...

    @property
    def has_class(self) -> bool:
        """Whether the last variable is the class."""
        ...

    @property
    def n_jobs(self) -> int:
        """Number of threads that a pass may use."""
        ...

    @property
    def class_index(self) -> int:
        """Index of the class variable, the last one; ValueError without a class."""
        ...

    def class_counts(self) -> Counts:
        """Total weight of each class, shape (n_classes,)."""
        ...

    def family_counts(self, families: Sequence[Family]) -> list[Counts]:
        """Weight of each joint state of families, each (*parent cards, child card).

        Families list parents first and the child last.
        """
        ...

    def pair_counts(self, left: Sequence[int], right: Sequence[int]) -> PairCounts:
        """Class-pair counts of every variable in `left` with every one in `right`."""
        ...

    def add_up(self, block_function: Callable[[Codes], Counts]) -> Counts:
        """Sum what `block_function` returns for blocks of rows, in row order."""
        ...

    def rows(self) -> Codes:
        """The table, a class last, for what sums over rows cannot answer.

        TypeError if the source keeps no rows.
        """
        ...


def shared_family_counts(
    source: CountSource, families: Sequence[Family]
) -> Iterator[Counts]:
    """Weight of each joint state of families, many of which hold the same variables.

    Each set of variables is counted once, the class first, and its axes are then put
    in the order of each family.
    """
    last = source.class_index
    orders = [tuple(sorted(f, key=lambda v: (v != last, v))) for f in families]
    distinct = list(dict.fromkeys(orders))
    counts = dict(zip(distinct, source.family_counts(distinct), strict=True))
    for family, order in zip(families, orders, strict=True):
        yield counts[order].transpose([order.index(v) for v in family])
