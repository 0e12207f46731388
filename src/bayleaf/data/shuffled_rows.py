"""Distinct rows in a random order that does not depend on how the table is sorted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.interruptible import interruptible

# Steps of the finaliser of SplitMix64 (Steele, Lea & Flood 2014).
_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT = 31


def shuffled_distinct_rows(
    codes: Codes, generator: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Merge equal rows, and put what remains into a random order.

    Both depend on the contents of the rows alone: a repeated row is one row of twice
    the weight, and sorting the table changes nothing. Return the index of one row of
    each kind, (n_distinct,), and the total weight of each kind.
    """
    odd = generator.integers(1 << 63, size=codes.n_variables, dtype=np.uint64) * 2 + 1
    # Two different rows agree in such a sum with probability 2**-63 or so.
    digests = np.zeros(codes.n_rows, dtype=np.uint64)
    for index, factor in enumerate(odd):
        digests += codes.column(index).astype(np.uint64) * factor
    _, rows, kinds = interruptible(
        lambda: np.unique(scrambled(digests), return_index=True, return_inverse=True),
        # It sorts whole rows and numbers them, which takes longer than an order alone.
        4 * codes.n_rows,
    )
    return rows, exact_sums(kinds, codes.weights)


def exact_sums(
    kinds: NDArray[np.integer[Any]], weights: NDArray[Any]
) -> NDArray[np.float64]:
    """Sum weights by kind without rounding errors, however a weight is split in parts.

    What is learned in many steps would make more of an error in the last digit.
    """
    weights = np.asarray(weights, dtype=np.float64)
    total = weights.sum()
    # Multiples of this unit add up to the total without rounding.
    unit = np.exp2(np.floor(np.log2(total)) - 51) if total > 0 else 1.0
    coarse = np.round(weights / unit) * unit
    sums = np.bincount(kinds, coarse) + np.bincount(kinds, weights - coarse)
    return np.asarray(sums, dtype=np.float64)


def scrambled(digests: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Change numbers so that all bits of each depend on all of its bits, one to one."""
    for shift, factor in _STEPS:
        digests = (digests ^ (digests >> np.uint64(shift))) * np.uint64(factor)
    return digests ^ (digests >> np.uint64(_LAST_SHIFT))


def merged_rows(codes: Codes) -> tuple[Codes, NDArray[np.intp]]:
    """Merge equal rows into one of their total weight, in an order of no meaning.

    The order depends on the contents of the rows alone, never on that of the table nor
    on columns in which all rows agree. Return an index (n_distinct,) of one row of each
    kind as well.
    """
    if not codes.n_rows:
        return codes, np.empty(0, dtype=np.intp)
    columns = [codes.column(i) for i in range(codes.n_variables)]
    varying = [i for i, column in enumerate(columns) if column.min() != column.max()]
    telling = varying or [0]
    kinds, weights = shuffled_distinct_rows(
        Codes.from_columns(
            [columns[i] for i in telling],
            [codes.cards[i] for i in telling],
            codes.weights,
        ),
        np.random.default_rng(0),
    )
    unit = bool((weights == 1.0).all())
    return replace(codes.rows(kinds), weights=weights, unit_weights=unit), kinds
