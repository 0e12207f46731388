"""The graph of a network, a model or a fitted estimator, as a picture shows it."""

from __future__ import annotations

from typing import Any

from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.texts.picture import FEATURE, PicturedGraph

# More variables than this leave no room for names.
MAX_NODES = 150


def pictured_graph(source: Any) -> PicturedGraph:
    """Nodes and arcs of a network, a model or a fitted estimator, else TypeError."""
    picture: PicturedGraph | None = getattr(
        getattr(source, "model_", source), "picture", None
    )
    if picture is not None:
        return picture
    network = getattr(source, "network_", source)
    if isinstance(network, BayesianNetwork):
        return PicturedGraph(
            network.domain.names,
            (FEATURE,) * len(network.domain),
            tuple((parent, child, None) for parent, child in network.dag.arcs),
        )
    raise TypeError(
        "network must be a Bayesian network, a model or a fitted estimator, got a "
        f"{type(source).__name__}{' that is not fitted' * hasattr(source, 'fit')}"
    )
