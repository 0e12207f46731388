"""Occupied counts of an average's networks, as a page without Python holds them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.random_network import RandomNetwork

# Whole numbers beyond this are not exact in JavaScript.
_MOST_CELLS = 1 << 53


def shipped_networks(
    networks: Sequence[RandomNetwork], weights: NDArray[np.float64], n_classes: int
) -> dict[str, Any]:
    """Codings and counts of networks, the parents that no weight asks for summed out.

    Parameters
    ----------
    networks : sequence of RandomNetwork
        The networks.
    weights : ndarray of shape (n_features, n_depths)
        Weight of each feature's support at each depth.
    n_classes : int
        Number of classes.

    Raises
    ------
    ValueError
        If a family has more joint states than JavaScript can number.
    """
    codings = {id(network.maps): network.maps for network in networks}
    numbers = {key: number for number, key in enumerate(codings)}
    return {
        "codings": [list(maps) for maps in codings.values()],
        "networks": [
            {
                "coding": numbers[id(network.maps)],
                "families": [
                    _family(network, feature, own, n_classes)
                    for feature, own in enumerate(weights)
                ],
            }
            for network in networks
        ],
    }


def _family(
    network: RandomNetwork,
    feature: int,
    weights: NDArray[np.float64],
    n_classes: int,
) -> dict[str, Any] | None:
    """Counts of one feature, the parents that no weight asks for summed out."""
    depths = np.flatnonzero(weights)
    if not len(depths):
        return None
    variables = network.counts.variables(feature)[: int(depths[-1]) + 1]
    counts = network.counts[feature]
    # The class is the last digit of a cell's number.
    digits = [*counts.states[: len(variables)], counts.classes]
    radices = [int(network.maps[variable][-1]) + 1 for variable in variables]
    radices.append(n_classes)
    if prod(radices) > _MOST_CELLS:
        raise ValueError(
            f"feature number {feature + 1} and its parents have too many joint states "
            "for the explorer; train with a smaller max_parents"
        )
    keys = np.zeros(len(counts.weights), dtype=np.int64)
    for codes, radix in zip(digits, radices, strict=True):
        keys = keys * radix + codes
    distinct, places = np.unique(keys, return_inverse=True)
    totals = np.bincount(places, counts.weights)
    # A row's weight is mostly a whole number, which takes fewer digits.
    whole = bool((totals == np.floor(totals)).all())
    return {
        "variables": list(variables),
        "radices": radices,
        "steps": np.diff(distinct, prepend=0).tolist(),
        "totals": totals.astype(np.int64).tolist() if whole else totals.tolist(),
    }
