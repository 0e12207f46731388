"""The order of numbers in tables of formats whose writers disagree about it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.given_tables import SUM_TOLERANCE
from bayleaf.io.formats.assemble import ROUNDING, DeclaredTable, Variables, off_one


def in_one_order(
    tables: Sequence[DeclaredTable], lines: Container[int | None], variables: Variables
) -> list[DeclaredTable]:
    """Tables with the child fastest, from those at `lines` in the file's own order.

    A program writes all its tables alike: the child is slowest, unless some table gives
    distributions only with the child fastest. NetworkFileError if tables disagree and
    another one, which fits both orders, depends on it.
    """
    both: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    votes: dict[int, int] = {}
    for i, table in enumerate(tables):
        family = variables.family(table.child, table.parents, table.line)
        cards = variables.cards(family)
        # Of a wrong size: refused when the network is assembled.
        if len(cards) > 1 and table.line in lines and table.values.size == prod(cards):
            slowest = table.values.reshape(cards[-1], -1).T
            fastest = table.values.reshape(-1, cards[-1])
            both[i] = slowest, fastest
            votes[i] = _fits_first(slowest, fastest) - _fits_first(fastest, slowest)
    first = {vote: next((i for i in votes if votes[i] == vote), -1) for vote in (1, -1)}
    is_slowest = first[-1] < 0
    disagree = first[1] >= 0 and first[-1] >= 0
    for i, vote in votes.items():
        if disagree and not vote and not np.array_equal(*both[i]):
            lower, upper = (tables[first[v]].line for v in (1, -1))
            raise variables.error(
                tables[i].line,
                f"the order of the numbers is unclear, since the table in line {lower} "
                f"has the states of its variable slowest and that in line {upper} "
                "fastest; give a row for each combination of the parents' states",
            )
    return [
        replace(table, values=both[i][votes[i] < 0 if votes[i] else not is_slowest])
        if i in both
        else table
        for i, table in enumerate(tables)
    ]


def _fits_first(rows: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether only these rows are distributions, or clearly more nearly so."""
    # Where rounding leaves both orders possible, the better one is meant.
    off, wrong = off_one(rows), off_one(other)
    return wrong > SUM_TOLERANCE and off < min(wrong, ROUNDING)
