"""Feature orders and parents drawn around those that KDB would choose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.search.constraints import Constraints
from bayleaf.search.orders.kdb import TIE_DECIMALS


def noisy_parents(
    relevance: NDArray[np.float64],
    information: NDArray[np.float64],
    max_parents: int,
    generator: np.random.Generator,
    constraints: Constraints | None = None,
) -> list[tuple[int, ...]]:
    """Draw a feature order, and the parents of each feature among the earlier ones.

    Gumbel noise on the logarithm of a measure draws in proportion to the measure,
    without replacement, as sampled KDB ensembles do
    (Zhang, Petitjean, Buntine & Webb 2020).

    `relevance` (n_features,) is the logarithm of I(X;C) in nats, `information`
    (n_features, n_features) that of I(X;X'|C), see `log_information`. Parents are
    sorted strongest first; constraints may change the order, and required parents come
    first. A feature that shares no information is a parent only where required.
    """
    n_features = len(relevance)
    order = np.argsort(-(relevance + generator.gumbel(size=n_features)), kind="stable")
    noisy = information + generator.gumbel(size=information.shape)
    constraints = constraints or Constraints()
    if constraints.has_edges:
        order = constraints.ordered(order)
        noisy[~constraints.open_arcs(n_features)] = -np.inf
    place = np.argsort(order)
    noisy[place[:, None] <= place] = -np.inf
    for parent, child in constraints.required_edges:
        noisy[child, parent] = np.inf
    strongest = np.argsort(-noisy, axis=1, kind="stable")[:, :max_parents]
    found = np.take_along_axis(noisy, strongest, axis=1) > -np.inf
    return [
        tuple(parents[:n].tolist())
        for parents, n in zip(strongest, found.sum(axis=1), strict=True)
    ]


def log_information(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of information; minus infinity for what is zero but for rounding."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(information.round(TIE_DECIMALS), 0.0))
