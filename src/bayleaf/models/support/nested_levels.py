"""The Dirichlet distributions behind nested families, depth by depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.nested import NestedFamilies, PseudoCounts, joint_cells
from bayleaf.cpds.smoothing import Smoothing

Floats = NDArray[np.float64]
States = NDArray[np.uint16]


class FamilyLevel(NamedTuple):
    """The Dirichlet distributions that rows use at one depth of a family.

    Parameters
    ----------
    cells, parents : ndarray of shape (n_rows, n_classes)
        Parameter of the row's state, and sum of the parameters.
    known : ndarray of shape (n_rows,), dtype bool
        Whether the states of all members are known.
    strength : float
        What smoothing adds to `parents`.
    """

    cells: Floats
    parents: Floats
    known: NDArray[np.bool_]
    strength: float


def family_levels(
    family: NestedFamilies,
    states: States,
    smoothing: Smoothing,
    shape: tuple[int, int],
) -> Iterator[FamilyLevel]:
    """Smoothed weights of a feature's state and of its parents', depth by depth.

    Parameters
    ----------
    family : NestedFamilies
        The feature and its parents in one of the networks.
    states : ndarray of shape (n_features, n_rows)
        The rows in the network's coding.
    smoothing : Smoothing
        Rule of the tables.
    shape : (int, int)
        Number of classes and of depths.

    Yields
    ------
    FamilyLevel
        From no parent on; past the last parent the deepest comes again.
    """
    n_classes, n_depths = shape
    prior = PseudoCounts.from_rule(smoothing, family.marginal)
    rows = states[list(family.variables)]
    unknown = np.array(family.radices)[:, None] - 1
    known = np.cumprod(rows < unknown, axis=0).astype(bool)
    n_members = len(family.variables)
    own = prior.states[rows[0]][:, None]
    for depth in range(n_depths):
        n = min(depth + 1, n_members)
        of_cells = _weights(family, slice(0, n), rows, n_classes)
        of_parents = _weights(family, slice(1, n), rows, n_classes)
        cells = np.where(known[n - 1][:, None], of_cells + own, 1.0)
        parents = np.maximum(of_parents + prior.strength, cells)
        yield FamilyLevel(cells, parents, known[n - 1], prior.strength)


def _weights(
    family: NestedFamilies, members: slice, rows: States, n_classes: int
) -> Floats:
    """Training weight of each row's states of some members, (n_rows, n_classes)."""
    counts, radices = family.counts, family.radices[members]
    cells = joint_cells(counts.states[members], radices)
    keys, numbers = np.unique(cells, return_inverse=True)
    table = np.bincount(
        numbers * n_classes + counts.classes,
        counts.weights,
        (len(keys) + 1) * n_classes,
    ).reshape(len(keys) + 1, n_classes)
    wanted = joint_cells(rows[members], radices)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    places = np.where(keys[places] == wanted, places, len(keys))
    return np.asarray(table[places], dtype=np.float64)
