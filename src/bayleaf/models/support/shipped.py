"""What a page that computes with a model, without Python, has to hold of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.models.bayesian_network import BayesianNetwork


@dataclass(frozen=True, eq=False)
class ShippedNetwork:
    """A model that is a single network, the class its last variable.

    Parameters
    ----------
    network : BayesianNetwork
        Features, then any latent variables, then the class.
    roles : tuple of str
        "feature", "latent", "cells" (of a latent variable, not shown) or "class", one
        a variable.
    order : tuple of int
        Variables in the order in which features are revealed, the class anywhere.
    class_weight : ndarray of shape (n_classes,), optional
        What posteriors of the classes are multiplied by before they are normalised.
    """

    network: BayesianNetwork
    roles: tuple[str, ...]
    order: tuple[int, ...]
    class_weight: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class ShippedNetworks:
    """A model whose joint distribution is the mean of those of several networks.

    Parameters
    ----------
    networks : tuple of BayesianNetwork
        Features, then the class, in each of them.
    """

    networks: tuple[BayesianNetwork, ...]


@dataclass(frozen=True, eq=False)
class ShippedAverage:
    """A model that is no single network: only its class has a posterior.

    Parameters
    ----------
    engine : str
        Which of the page's programs computes with the numbers: "one_dependence",
        "averaged", "mixture" or "hybrid".
    values : mapping of str to object
        The numbers: arrays of floats, arrays of codes (uint16), and plain values.
    network : BayesianNetwork, optional
        Tables that the program asks too.
    """

    engine: str
    values: Mapping[str, Any]
    network: BayesianNetwork | None = None
