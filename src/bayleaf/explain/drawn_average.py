"""How uncertain the evidence of an averaged KDB model is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.nested import NestedFamilies, PseudoCounts, joint_cells
from bayleaf.data.codes import Codes
from bayleaf.models.averaged_kdb import AveragedKDBModel

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


def average_scores(
    model: AveragedKDBModel, codes: Codes, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Log scores under draws, shape (n_draws, n_rows, n_classes).

    The logarithm of a Dirichlet's probability with parameter a of A has, to first
    order, the variance (A - a) / (a (A + 1)). The networks count the same rows, so
    their evidence on one feature moves together, that on different features
    independently; sums over features are taken as normal.
    """
    variance = np.zeros((codes.n_rows, model.n_classes))
    for feature in np.flatnonzero(model.weights.sum(axis=1)).tolist():
        deviation = np.zeros_like(variance)
        for network in model.networks:
            states = network.states(codes)
            family = network.families[feature]
            levels = family_counts(model, family, states)
            for weight, level in zip(model.weights[feature], levels, strict=True):
                others = level.parents - level.cells
                spread = others / (level.cells * (level.parents + 1.0))
                deviation += weight * level.known[:, None] * np.sqrt(spread)
        variance += (deviation / len(model.networks)) ** 2
    noise = rng.standard_normal((n_draws, *variance.shape))
    return np.asarray(model.class_log_scores(codes) + noise * np.sqrt(variance))


def family_counts(
    model: AveragedKDBModel, family: NestedFamilies, states: States
) -> Iterator[FamilyLevel]:
    """Smoothed weights of a feature's state and of its parents', depth by depth.

    Parameters
    ----------
    model : AveragedKDBModel
        The model.
    family : NestedFamilies
        The feature and its parents in one of the networks.
    states : ndarray of shape (n_features, n_rows)
        The rows in the network's coding.

    Yields
    ------
    FamilyLevel
        From no parent on; past the last parent the deepest comes again.
    """
    prior = PseudoCounts.from_rule(model.smoothing, family.marginal)
    rows = states[list(family.variables)]
    unknown = np.array(family.radices)[:, None] - 1
    known = np.cumprod(rows < unknown, axis=0).astype(bool)
    n_members = len(family.variables)
    own = prior.states[rows[0]][:, None]
    for depth in range(model.weights.shape[1]):
        n = min(depth + 1, n_members)
        of_cells = _weights(family, slice(0, n), rows, model.n_classes)
        of_parents = _weights(family, slice(1, n), rows, model.n_classes)
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
