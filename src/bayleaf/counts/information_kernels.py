"""Information of many pairs, straight from stored pair counts.

Sums of n ln n are kept as whole multiples of a small unit, see
`information.LogTerms`. Arrays are indexed rather than sliced in the inner loops: a
slice costs more than the table of two booleans that it would hold.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

Whole = NDArray[np.int64]


@compiled
def _term(count: np.int64, terms: Whole, scale: float) -> np.int64:
    """Look up n ln n of a whole n, in units of 1 / scale, if n is small."""
    place = np.uint64(count)
    if place < np.uint64(terms.size):
        return np.int64(terms[place])
    return np.int64(np.rint(count * log(count) * scale))


@compiled
def _weight_term(weight: float, terms: Whole, scale: float) -> np.int64:
    """Compute n ln n of any n >= 0, in units of 1 / scale."""
    whole = np.int64(weight)
    if whole == weight:
        return _term(whole, terms, scale)
    return np.int64(np.rint(weight * log(weight) * scale))


@compiled
def _whole_terms(
    stored: NDArray[Any],
    state: int,
    rows: tuple[np.int64, np.int64],
    columns: tuple[np.int64, np.int64],
    class_count: np.int64,
    left_margins: Whole,
    right_margins: Whole,
    below: Whole,
    terms: Whole,
    scale: float,
) -> np.int64:
    """Sum of n ln n over one class's table whose last row and column are not stored.

    `rows` and `columns` are (first place, number of places); `below` is room for the
    counts of the last row.
    """
    top, n_rows = rows
    start, n_columns = columns
    corner = class_count
    amount = np.int64(0)
    for y in range(n_columns):
        below[y] = right_margins[state, start + y]
        corner -= below[y]
    for x in range(n_rows):
        rest = left_margins[state, top + x]
        for y in range(n_columns):
            count = np.int64(stored[state, top + x, start + y])
            amount += _term(count, terms, scale)
            rest -= count
            below[y] -= count
        amount += _term(rest, terms, scale)
        corner -= rest
    for y in range(n_columns):
        amount += _term(below[y], terms, scale)
    return amount + _term(corner, terms, scale)


@compiled
def _boolean_terms(
    count: np.int64,
    left: np.int64,
    right: np.int64,
    total: np.int64,
    terms: Whole,
    scale: float,
) -> np.int64:
    """Sum of n ln n over a table of two by two, from one cell and the margins."""
    left -= count
    right -= count
    rest = total - left - right - count
    return (
        _term(count, terms, scale)
        + _term(left, terms, scale)
        + _term(right, terms, scale)
        + _term(rest, terms, scale)
    )


@compiled
def whole_pairs(
    stored: NDArray[Any],
    triangle: bool,
    class_counts: Whole,
    left: tuple[Whole, ...],
    right: tuple[Whole, ...],
    left_margins: Whole,
    right_margins: Whole,
    terms: Whole,
    scale: float,
    amounts: Whole,
) -> None:
    """Fill in the information of the pairs in which both variables are whole.

    A variable is *whole* if none of its cells is missing and its last state is not
    stored. `left` and `right` are (positions, n_stored, starts, sums) of such
    variables, where sums are of n ln n over class and state; `stored`, `triangle`,
    `class_counts` and the margins are those of `PairCounts`. `amounts`
    (n_left, n_right) takes information times total weight, in units of 1 / scale; of
    a triangle only pairs stored in order are filled in.
    """
    left_positions, left_stored, left_starts, left_sums = left
    right_positions, right_stored, right_starts, right_sums = right
    class_sum = np.int64(0)
    for state in range(class_counts.size):
        class_sum += _term(class_counts[state], terms, scale)
    below = np.empty(right_stored.max(), np.int64)
    for i in range(left_positions.size):
        a, top, n_rows = left_positions[i], left_starts[i], left_stored[i]
        for j in range(right_positions.size):
            if not triangle or right_starts[j] > top:
                margin_sums = left_sums[i] + right_sums[j]
                amounts[a, right_positions[j]] = class_sum - margin_sums
        for state in range(class_counts.size):
            total = class_counts[state]
            for j in range(right_positions.size):
                b, start, n_columns = (
                    right_positions[j],
                    right_starts[j],
                    right_stored[j],
                )
                if triangle and start <= top:
                    continue
                if n_rows == 1 and n_columns == 1:
                    amounts[a, b] += _boolean_terms(
                        np.int64(stored[state, top, start]),
                        left_margins[state, top],
                        right_margins[state, start],
                        total,
                        terms,
                        scale,
                    )
                    continue
                amounts[a, b] += _whole_terms(
                    stored,
                    state,
                    (top, n_rows),
                    (start, n_columns),
                    total,
                    left_margins,
                    right_margins,
                    below,
                    terms,
                    scale,
                )


@compiled
def _complete(
    stored: NDArray[Any],
    class_count: float,
    left_margin: NDArray[np.float64],
    right_margin: NDArray[np.float64],
    table: NDArray[np.float64],
) -> None:
    """Fill in `table`, of all states, from one class's counts of the stored ones."""
    n_left, n_right = stored.shape
    n_rows, n_columns = table.shape
    if n_left < n_rows:
        table[n_left, n_columns - 1] = class_count
        for y in range(n_right):
            table[n_left, n_columns - 1] -= right_margin[y]
        for y in range(n_right):
            table[n_left, y] = right_margin[y]
    for x in range(n_left):
        rest = left_margin[x]
        for y in range(n_right):
            count = float(stored[x, y])
            table[x, y] = count
            rest -= count
            if n_left < n_rows:
                table[n_left, y] -= count
        if n_right < n_columns:
            table[x, n_right] = rest
            if n_left < n_rows:
                table[n_left, n_right] -= rest


@compiled
def _observed_terms(
    table: NDArray[np.float64], margins: NDArray[np.float64], terms: Whole, scale: float
) -> tuple[np.int64, float]:
    """Information times the total, in units of 1 / scale, and the total of a table.

    `margins` is room for one row.
    """
    n_rows, n_columns = table.shape
    margins[:n_columns] = 0.0
    amount = np.int64(0)
    total = 0.0
    for x in range(n_rows):
        row = 0.0
        for y in range(n_columns):
            count = table[x, y]
            amount += _weight_term(count, terms, scale)
            row += count
            margins[y] += count
        amount -= _weight_term(row, terms, scale)
        total += row
    for y in range(n_columns):
        amount -= _weight_term(margins[y], terms, scale)
    return amount + _weight_term(total, terms, scale), total


@compiled
def other_pairs(
    stored: NDArray[Any],
    triangle: bool,
    class_counts: NDArray[np.float64],
    left: tuple[NDArray[Any], ...],
    right: tuple[NDArray[Any], ...],
    left_margins: NDArray[np.float64],
    right_margins: NDArray[np.float64],
    terms: Whole,
    scale: float,
    first: int,
    amounts: Whole,
    totals: NDArray[np.float64],
) -> None:
    """Fill in the information of the pairs in which not both variables are whole.

    `left` and `right` are (whole, cards, n_states, n_stored, starts) of all variables.
    `amounts` and `totals` (n_some, n_right) take information times total weight, in
    units of 1 / scale, and total weight, for the left variables from position `first`
    on; of a triangle only pairs stored in order are filled in.
    """
    left_whole, left_cards, left_states, left_stored, left_starts = left
    right_whole, right_cards, right_states, right_stored, right_starts = right
    widest = right_states.max()
    cells = np.empty(left_states.max() * widest)
    margins = np.empty(widest)
    for i in range(amounts.shape[0]):
        a = first + i
        top, end = left_starts[a], left_starts[a] + left_stored[a]
        for b in range(amounts.shape[1]):
            start, stop = right_starts[b], right_starts[b] + right_stored[b]
            if (left_whole[a] and right_whole[b]) or (triangle and start <= top):
                continue
            n_cells = left_states[a] * right_states[b]
            table = cells[:n_cells].reshape(left_states[a], right_states[b])
            for state in range(class_counts.size):
                _complete(
                    stored[state, top:end, start:stop],
                    class_counts[state],
                    left_margins[state, top:end],
                    right_margins[state, start:stop],
                    table,
                )
                observed = table[: left_cards[a], : right_cards[b]]
                amount, total = _observed_terms(observed, margins, terms, scale)
                amounts[i, b] += amount
                totals[i, b] += total
