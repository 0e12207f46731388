"""Pictures of networks, explanations and evaluations, with matplotlib (extra plot).

Every function draws on the axes that it gets, or on a new figure that pyplot does not
manage, and returns the axes: ``network(model).figure.savefig("network.svg")``.
"""

from bayleaf.plot.evidence import contributions
from bayleaf.plot.held_out import calibration, roc
from bayleaf.plot.networks import network

__all__ = [
    "calibration",
    "contributions",
    "network",
    "roc",
]
