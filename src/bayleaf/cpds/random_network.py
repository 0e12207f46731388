"""A sampled network with a coding of its own, and what several say of a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import mapped_states
from bayleaf.cpds.nested import NestedFamilies
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RandomNetwork:
    """One sampled network: a coding of every feature, and its nested families.

    Parameters
    ----------
    maps : tuple of ndarray of dtype uint16
        For each feature, the state that each of its codes stands for.
    families : tuple of NestedFamilies
        For each feature, its counts with its parents.
    """

    maps: tuple[NDArray[np.uint16], ...]
    families: tuple[NestedFamilies, ...]

    def states(self, codes: Codes) -> NDArray[np.uint16]:
        """State of each feature in each row, shape (n_features, n_rows)."""
        columns = [codes.column(i) for i in range(len(self.maps))]
        return mapped_states(columns, self.maps)


def mean_evidence(
    families: Sequence[NestedFamilies],
    codes: Codes,
    smoothing: Smoothing,
    shape: tuple[int, int, int],
    own: NDArray[np.int64] | None = None,
    shares: Floats | None = None,
) -> Floats:
    """Mean over networks of one feature's log-probabilities at every depth.

    Parameters
    ----------
    families : sequence of NestedFamilies
        The feature's families, one a network.
    codes : Codes
        The rows.
    smoothing : Smoothing
        Rule of the tables.
    shape : tuple of int
        Depths, rows, classes.
    own, shares : ndarray of shape (n_rows,), optional
        See `NestedFamilies.multiply_evidence`.

    Returns
    -------
    ndarray of shape (n_rows, n_classes, n_depths)
        Nats.
    """
    products, logs = np.ones(shape), np.zeros(shape)
    for family in families:
        family.multiply_evidence(codes, smoothing, products, logs, own, shares)
    return np.moveaxis((np.log(products) + logs) / len(families), 0, 2)
