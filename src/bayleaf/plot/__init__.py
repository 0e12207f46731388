"""Pictures of networks, explanations and evaluations, with matplotlib (extra plot).

Every function draws on the axes that it gets, or on a new figure that pyplot does not
manage, and returns the axes: ``network(model).figure.savefig("network.svg")``. Without
matplotlib it raises an ImportError.
"""

from bayleaf.plot.bars import contributions, drift, importance, posterior_bars
from bayleaf.plot.comparisons import (
    critical_difference,
    error_scatter,
    learning_curve,
    rank_bars,
)
from bayleaf.plot.distributions import cpt, tree_cpd
from bayleaf.plot.evaluations import calibration, group_rates, roc
from bayleaf.plot.network_graphs import network
from bayleaf.plot.shapes import latent_partition, shape

__all__ = [
    "calibration",
    "contributions",
    "cpt",
    "critical_difference",
    "drift",
    "error_scatter",
    "group_rates",
    "importance",
    "latent_partition",
    "learning_curve",
    "rank_bars",
    "network",
    "posterior_bars",
    "roc",
    "shape",
    "tree_cpd",
]
