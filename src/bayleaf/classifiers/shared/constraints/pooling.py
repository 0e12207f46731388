"""Tables and curves that rise along a feature's order, by pooling adjacent cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

Floats = NDArray[np.float64]


def pooled_steps(values: Floats, weights: Floats) -> Floats:
    """Return the values (n,) nearest to the given ones that never fall.

    Of least weighted squared distance: where neighbours fall they share their weighted
    mean, which keeps the mean of all; values that never fall come back as they are.
    Weights (n,) are not negative; those of zero count next to nothing. Ayer, Brunk,
    Ewing, Reid and Silverman (1955), An empirical distribution function for sampling
    with incomplete information, Annals of Mathematical Statistics 26, 641-647.
    """
    if (np.diff(values) >= 0).all():
        return values
    least = max(float(weights.max()), 1.0) * 1e-12
    return np.asarray(isotonic_regression(values, weights=np.maximum(weights, least)).x)


def likelihood_ordered(
    table: Floats, n_rows: Floats, order: NDArray[np.intp]
) -> Floats:
    """Return P(state | class) of two classes whose ratio never falls along an order.

    With ``m_c(x) = n_c P(x | c)`` rows in each cell, the share ``m_1 / (m_0 + m_1)`` of
    the second class is pooled over adjacent states, and given back to the classes by
    the states' totals. That is the pair of distributions most probable by these cells
    of all pairs in likelihood-ratio order (Dykstra, Kochar & Robertson 1995, Inference
    for likelihood ratio ordering in the two-sample problem, Journal of the American
    Statistical Association 90, 1034-1040).

    `table` (2, ..., n_states) contains P(state | class, other parents), each worth
    `n_rows` (2, ...) above zero. P(state | second) / P(state | first) must not fall
    along `order`; other states stay, each distribution keeps its sum, and a table in
    order comes back as it is.
    """
    rows = n_rows.reshape(2, -1, 1)
    flat = table.reshape(2, rows.shape[1], table.shape[-1])
    cells = rows * flat[:, :, order]
    totals = cells.sum(axis=0)
    # A state that no class has, as under a fixed distribution, says nothing.
    shares = np.where(totals > 0, cells[1], 0.5) / np.where(totals > 0, totals, 1.0)
    falling = np.flatnonzero((np.diff(shares, axis=1) < 0).any(axis=1))
    if not falling.size:
        return table
    found = flat.copy()
    for context in falling.tolist():
        pooled = pooled_steps(shares[context], totals[context])
        both = np.stack([1.0 - pooled, pooled]) * totals[context]
        found[:, context, order] = both / rows[:, context]
    return found.reshape(table.shape)
