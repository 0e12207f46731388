"""Pictures of networks, explanations and evaluations, with matplotlib (extra plot).

Every function draws on the axes that it gets, or on a new figure that pyplot does not
manage, and returns the axes: ``network(model).figure.savefig("network.svg")``.
"""

from bayleaf.plot.bars import drift, importance, posterior_bars
from bayleaf.plot.comparisons import error_scatter, learning_curve, rank_bars
from bayleaf.plot.contribution_bars import contributions
from bayleaf.plot.critical import critical_difference
from bayleaf.plot.distributions import cpt
from bayleaf.plot.group_rates import group_rates
from bayleaf.plot.held_out import calibration, roc
from bayleaf.plot.latents import latent_partition
from bayleaf.plot.networks import network
from bayleaf.plot.shapes import shape
from bayleaf.plot.trees import tree_cpd

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
