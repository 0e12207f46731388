"""Rows with missing cells, which learning can leave out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain
from bayleaf.data.partial_values import Rows, available_codes, sets_in
from bayleaf.wording import counted, quoted

Floats = NDArray[np.float64]

# The rule for missing cells that leaves their rows out of learning.
DROP = "drop"


def without_incomplete_rows(
    rows: Rows, domain: Domain, weights: Floats, variables: Iterable[int] | None = None
) -> Floats:
    """Give rows that lack a cell the weight zero, weights (n_rows,).

    `rows` are those of positive weight. Cells of `variables`, by default all, count,
    and a cell that names a group is not missing. ValueError if no row stays, naming the
    variable with the most missing cells.
    """
    codes, partial = available_codes(rows), sets_in(rows)
    missing = np.array([codes.missing(v) for v in range(codes.n_variables)])
    missing[partial.variables, partial.rows] = False
    if variables is not None:
        missing = missing[[*variables]]
    incomplete: NDArray[np.bool_] = np.asarray(missing.any(axis=0))
    n_rows, n_dropped = len(incomplete), int(np.count_nonzero(incomplete))
    if n_dropped == n_rows:
        totals = missing.sum(axis=1)
        worst = int(totals.argmax())
        position = worst if variables is None else [*variables][worst]
        raise ValueError(
            "missing='drop' leaves no rows to learn from, as all have missing cells, "
            f"most of them in column {quoted(domain[position].name)} ({totals[worst]} "
            f"of {n_rows}); leave that column out, or use missing='marginalize'"
        )
    remaining = weights.copy()
    remaining[np.flatnonzero(weights > 0)[incomplete]] = 0.0
    return remaining


def note_on_dropped_rows(before: Floats, after: Floats) -> str:
    """How many rows have lost their weight; empty if none has."""
    n_rows, n_left = int(np.count_nonzero(before)), int(np.count_nonzero(after))
    if n_left == n_rows:
        return ""
    return f"left out {n_rows - n_left} of {counted(n_rows, 'row')} with missing cells"
