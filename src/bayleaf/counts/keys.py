"""Counting by key: the joint state of a family's parents, against many children."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Counts, Family
from bayleaf.counts.threads import run_tasks, stretches, worthwhile
from bayleaf.data.codes import Codes
from bayleaf.native.counts import extend_keys, key_counts

Places = NDArray[np.int64]

# Children counted by one thread with one key, and cells that they may take together.
_CHILDREN = 16
_CELLS = 4_000_000
# Rows times columns, about a millisecond's work, for which a thread is started.
_LEAST_COUNTED = 2_000_000


def build_keys(codes: Codes, digits: Sequence[tuple[int, int]]) -> NDArray[np.int32]:
    """Number the joint states of some variables, the first variable slowest, (n_rows,).

    `digits` are pairs of a variable's index and how many of its codes count; a row with
    a code beyond them gets the key -1. ValueError if the keys do not fit 32 bits.
    """
    n_keys = prod(n_codes for _, n_codes in digits)
    if n_keys >= np.iinfo(np.int32).max:
        raise ValueError(
            f"counting needs {n_keys:.3g} joint states, which is more than "
            f"{np.iinfo(np.int32).max:.3g}; use fewer variables or coarser states"
        )
    keys = np.zeros(codes.n_rows, dtype=np.int32)
    for variable, n_codes in digits:
        extend_keys(keys, codes.column(variable), n_codes)
    return keys


def count_by_key(
    codes: Codes,
    keys: NDArray[np.int32],
    n_keys: int,
    variables: Sequence[int],
    threads: int = 1,
) -> tuple[Counts, Places]:
    """Count each key with each state, missing states included, of some variables.

    Returns tables (n_keys, n_states), without rows of the key -1, and the first column
    of each variable (n_variables + 1,).
    """
    widths = np.array([codes.cards[v] + 1 for v in variables], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    tables = np.zeros((n_keys + 1, int(starts[-1])))
    weights = np.ones(1) if codes.unit_weights else codes.weights
    slots = np.array([codes.slots[v] for v in variables], dtype=np.int64)

    def count(which: slice) -> None:
        # Threads write to columns of their own.
        own = slots[which]
        blocks: list[tuple[NDArray[Any], NDArray[np.bool_], Places]] = [
            (codes.narrow, own >= 0, own),
            (codes.wide, own < 0, -own - 1),
        ]
        for block, here, rows in blocks:
            if here.any():
                places = starts[:-1][which][here], widths[which][here]
                key_counts(keys, block, rows[here], *places, weights, tables)

    shares = stretches(len(variables), threads)
    run_tasks([partial(count, slice(*share)) for share in shares], threads)
    return tables[1:], starts


def family_counts_by_key(
    codes: Codes, families: Sequence[Family], threads: int
) -> list[Counts]:
    """Count some families, those with the same parents together.

    Returns one array per family, with its members' cards as shape.
    """
    counts: list[Counts] = [np.empty(0)] * len(families)
    tasks = [
        partial(_count_children, codes, families, group, counts)
        for group in _groups(codes, families)
    ]
    n_counted = codes.n_rows * len(families)
    run_tasks(tasks, worthwhile(threads, n_counted, _LEAST_COUNTED))
    return counts


def _groups(codes: Codes, families: Sequence[Family]) -> list[list[int]]:
    """Group positions of families with the same parents, not too many at a time."""
    by_parents: dict[Family, list[int]] = {}
    for position, family in enumerate(families):
        by_parents.setdefault(family[:-1], []).append(position)
    groups: list[list[int]] = []
    for parents, positions in by_parents.items():
        n_keys = prod(codes.cards[v] for v in parents) + 1
        n_cells = _CELLS
        for position in positions:
            width = n_keys * (codes.cards[families[position][-1]] + 1)
            if n_cells + width > _CELLS or len(groups[-1]) == _CHILDREN:
                groups.append([])
                n_cells = 0
            groups[-1].append(position)
            n_cells += width
    return groups


def _count_children(
    codes: Codes, families: Sequence[Family], group: Sequence[int], counts: list[Counts]
) -> None:
    """Count the families at some positions, all with the same parents."""
    parents = families[group[0]][:-1]
    keys = build_keys(codes, [(v, codes.cards[v]) for v in parents])
    shape = [codes.cards[v] for v in parents]
    children = [families[position][-1] for position in group]
    tables, starts = count_by_key(codes, keys, prod(shape), children)
    for position, child, start in zip(group, children, starts[:-1], strict=True):
        card = codes.cards[child]
        table = np.ascontiguousarray(tables[:, start : start + card])
        counts[position] = table.reshape(*shape, card)
