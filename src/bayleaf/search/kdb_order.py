"""The order of features and the parents that KDB chooses (Sahami 1996)."""

from __future__ import annotations

import numpy as np

from bayleaf.counts.information import (
    conditional_mutual_information_matrix,
    mutual_information,
)
from bayleaf.counts.source import CountSource

# Information values that agree to this many decimals count as equal.
TIE_DECIMALS = 12


def kdb_parents(
    counts: CountSource, k: int, theta: float | None = None
) -> list[tuple[int, ...]]:
    """Choose each feature's parents among the features.

    Parameters
    ----------
    counts : CountSource
        Counts with the class last.
    k : int
        Largest number of parents.
    theta : float, optional
        Arcs with I(X;X'|C) (nats) at or below this are left out, without
        replacement (Sahami 1996, the threshold of his second algorithm).

    Returns
    -------
    list of tuple of int
        Parents of each feature, strongest first; ties go to the lower index.
    """
    n_features = len(counts.cards) - 1
    parents: list[tuple[int, ...]] = [()] * n_features
    if k == 0 or n_features < 2:
        return parents
    order = feature_order(counts)
    information = conditional_mutual_information_matrix(counts).round(TIE_DECIMALS)
    for place, feature in enumerate(order):
        # Sorted by index first, so that a stable sort leaves ties to the lower one.
        earlier = np.sort(order[:place])
        strength = information[feature, earlier]
        best = earlier[np.argsort(-strength, kind="stable")[:k]]
        if theta is not None:
            best = best[information[feature, best] > theta]
        parents[feature] = tuple(int(parent) for parent in best)
    return parents


def feature_order(counts: CountSource) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Features by decreasing I(X;C), ties to the lower index (Sahami 1996, step 1)."""
    relevance = mutual_information(counts).round(TIE_DECIMALS)
    return np.argsort(-relevance, kind="stable")
