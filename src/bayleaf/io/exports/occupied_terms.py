"""Scores as sums of terms, each a row of numbers for some joint states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OccupiedTerm:
    """What the occupied joint states of a family add at one depth.

    Parameters
    ----------
    members : tuple of int
        Which variables of the family, by their places; the last varies fastest.
    widths : tuple of int
        Their numbers of states, that of unknown ones included.
    keys : ndarray of shape (n_rows,), dtype int64
        Joint states as numbers, in increasing order.
    rows : ndarray of shape (n_rows, n_classes)
        Nats, relative to a joint state without rows.
    says : ndarray of shape (n_states,), dtype bool
        States of the child under which the term counts.
    """

    members: tuple[int, ...]
    widths: tuple[int, ...]
    keys: Whole
    rows: Floats
    says: NDArray[np.bool_]


def occupied_terms(
    family: Mapping[str, Any], weights: Floats, pseudo: Sequence[float]
) -> Iterator[OccupiedTerm]:
    """What one family of an average says at each of its depths.

    Logarithms are taken relative to those of a joint state without rows, which is a
    number that all classes share.

    Parameters
    ----------
    family : mapping of str to object
        As `shipped_networks` gives it.
    weights : ndarray of shape (n_depths,)
        Weight of each depth.
    pseudo : sequence of float
        Prior weight of each state, of all together, and by the states' shares.
    """
    *radices, n_classes = family["radices"]
    keys = np.cumsum(family["steps"], dtype=np.int64)
    totals = np.asarray(family["totals"], dtype=np.float64)
    digits = np.stack(np.unravel_index(keys, (*radices, n_classes)))
    marginal = np.bincount(digits[0], totals, radices[0])
    each, together, shared = pseudo
    n_states = radices[0] - 1
    least = each + together / n_states + shared * marginal / marginal.sum()
    # Without prior weight a state says nothing.
    least[n_states] = 0.0
    strength = each * n_states + together + shared
    says = least > 0
    for depth in range(len(radices)):
        # Where a family has fewer parents than others, its deepest evidence repeats.
        is_last = depth == len(radices) - 1
        weight = float(weights[depth:].sum() if is_last else weights[depth])
        if not weight:
            continue
        parents = tuple(range(1, depth + 1))
        for members in ((*parents, 0), parents):
            widths = tuple(radices[k] for k in members)
            own, counts = _sums(digits[list(members)], widths, digits[-1], totals)
            counts = counts[:, :n_classes]
            if members == parents:
                rows = -weight * np.log1p(counts / strength)
            else:
                child = own % radices[0]
                own, counts = own[says[child]], counts[says[child]]
                child = child[says[child]]
                rows = weight * np.log1p(counts / least[child, None])
            yield OccupiedTerm(members, widths, own, _wide(rows, n_classes), says)


def _wide(rows: Floats, n_classes: int) -> Floats:
    """Rows with a column for every class."""
    missing = n_classes - rows.shape[1]
    return np.pad(rows, ((0, 0), (0, missing)))


def _sums(
    digits: Whole, widths: Sequence[int], labels: Whole, totals: Floats
) -> tuple[Whole, Floats]:
    """Occupied joint states in increasing order, and their weight by class."""
    keys = np.zeros(len(totals), dtype=np.int64)
    for digit, width in zip(digits, widths, strict=True):
        keys = keys * width + digit
    distinct, places = np.unique(keys, return_inverse=True)
    n_classes = int(labels.max(initial=0)) + 1
    size = len(distinct) * n_classes
    cells = np.bincount(places * n_classes + labels, totals, size)
    table = cells.astype(np.float64).reshape(-1, n_classes)
    return distinct, table
