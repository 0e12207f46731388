"""Counts of a table whose codes lie in pieces where tasks are run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.store_counts import BlockCounts, joined_rows
from bayleaf.counts.table_counts import Layout, TableCounts
from bayleaf.data.codes import Codes
from bayleaf.streams.partitions.dask_partitions import Tasks

T = TypeVar("T")


class CodePieces(NamedTuple):
    """The codes of a table in pieces."""

    tasks: Tasks
    pieces: list[Any]  # tasks: narrow and wide blocks, weights or None
    sizes: tuple[int, ...]  # rows of each
    cards: tuple[int, ...]  # numbers of states, the class last
    layout: Layout  # of the counts of all pieces


class PartitionCounts(BlockCounts):
    """Count source over pieces of codes; only sums travel.

    Integer weights give the same counts, bit for bit, as `TableCounts` over all rows;
    others to 1e-12 of them, and the same for the same partitions. `n_jobs` threads are
    those of the learner, here.
    """

    def __init__(
        self, table: CodePieces, n_jobs: int | None = None, **options: Any
    ) -> None:
        super().__init__(n_jobs, **options)
        self._table = table

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, a class last."""
        return self._table.cards

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self._table.sizes)

    def _added(self, ask: Callable[[TableCounts], T], add: Callable[[T, T], T]) -> T:
        """The sum of what pieces answer, added up where they lie."""
        tasks = self._table.tasks
        options = {
            "has_class": self.has_class,
            "max_table_cells": self.max_table_cells,
            "layout": self._table.layout,
        }
        answer = partial(_answered, ask, self.cards, options)
        parts = [tasks.call(answer, piece) for piece in self._table.pieces]
        (found,) = tasks.results([tasks.added(parts, add)])
        total: T = found
        return total

    def _taken(self, rows: NDArray[np.intp] | None) -> Codes:
        """The rows at increasing places; None means all."""
        tasks, parts, first = self._table.tasks, [], 0
        for piece, size in zip(self._table.pieces, self._table.sizes, strict=True):
            own = None
            if rows is not None:
                own = rows[slice(*np.searchsorted(rows, [first, first + size]))] - first
            first += size
            if size and (own is None or len(own)):
                parts.append(tasks.call(partial(_chosen, own), piece))
        found = tasks.results(parts)
        return joined_rows([codes_of(self.cards, arrays) for arrays in found])


def codes_of(cards: tuple[int, ...], arrays: Any) -> Codes:
    """Codes of a piece."""
    narrow, wide, weights = arrays
    slots = Codes.empty(cards, 0).slots
    return Codes.from_blocks(narrow, wide, slots, cards, weights)


def _answered(
    ask: Callable[[TableCounts], T],
    cards: tuple[int, ...],
    options: dict[str, Any],
    arrays: Any,
) -> T:
    """What one piece answers."""
    return ask(TableCounts(codes_of(cards, arrays), 1, **options))


def _chosen(rows: NDArray[np.intp] | None, arrays: Any) -> Any:
    """Some rows of a piece."""
    if rows is None:
        return arrays
    narrow, wide, weights = arrays
    return (
        np.ascontiguousarray(narrow[:, rows]),
        np.ascontiguousarray(wide[:, rows]),
        None if weights is None else weights[rows],
    )
