"""Distributions of networks as terms of class scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.random_network import RandomNetwork, pseudo_weights
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.scoring.terms import Counts, SumOut


def sum_out(
    network: BayesianNetwork, order: Sequence[int], weight: float = 1.0
) -> SumOut:
    """The sum over all variables but the class, the last variable of the network."""
    label = len(network.domain) - 1
    return SumOut(network, tuple(v for v in order if v != label), weight)


def nested_terms(
    networks: Sequence[RandomNetwork],
    weights: NDArray[np.float64],
    smoothing: Smoothing,
    n_classes: int,
) -> Iterator[Counts]:
    """The mean over networks of their families at all depths, by weight.

    `weights` (n_features, n_depths) are those of each feature at each depth; a family
    of fewer parents repeats its deepest evidence.
    """
    rule = pseudo_weights(smoothing)
    for network in networks:
        maps = [states.astype(np.int64) for states in network.maps]
        for feature, by_depth in enumerate(weights / len(networks)):
            family = network.counts.variables(feature)
            depths = by_depth[: len(family)].copy()
            depths[-1] += by_depth[len(family) :].sum()
            # Parents without weight are summed out. A feature without any counts in
            # partial cases.
            used = np.flatnonzero(depths)
            family = family[: 1 + int(used.max(initial=0))]
            counts = network.counts[feature]
            yield Counts(
                tuple(family),
                tuple(maps[member] for member in family),
                counts.states[: len(family)].T.astype(np.int64),
                counts.classes.astype(np.int64),
                counts.weights.astype(np.float64),
                depths[: len(family)],
                rule,
                n_classes,
            )
