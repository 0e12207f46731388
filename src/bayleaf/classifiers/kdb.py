"""The k-dependence Bayesian classifier."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayleaf.classifiers.base import BayesianClassifier, Learned
from bayleaf.classifiers.parameters import check_choice, check_count, check_threshold
from bayleaf.counts.source import CountSource
from bayleaf.data.domain import Domain
from bayleaf.search.kdb_order import kdb_parents

THETA_UNITS = ("nats", "bits")


class KDBClassifier(BayesianClassifier):
    """k-dependence Bayesian classifier (Sahami 1996).

    Features are ordered by ``I(X;C)``; beside the class each takes as parents the k
    earlier features with the largest ``I(X;X'|C)``. ``k=0`` is naive Bayes,
    ``k >= n - 1`` the full Bayesian classifier over the order.

    Parameters
    ----------
    k : int, default=1
        Largest number of features among a feature's parents.
    theta : float, optional
        Of the k best, only arcs with ``I(X;X'|C)`` above this are kept.
    theta_unit : {"nats", "bits"}, default="nats"
        Unit of `theta`.
    **shared
        The parameters that the classifiers share, see `BayesianClassifier`.

    References
    ----------
    Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD-96,
    335-338.
    """

    def __init__(
        self,
        *,
        k: int = 1,
        theta: float | None = None,
        theta_unit: str = "nats",
        **shared: Any,
    ) -> None:
        super().__init__(**shared)
        self.k = k
        self.theta = theta
        self.theta_unit = theta_unit

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("k", self.k, 0)
        check_threshold("theta", self.theta)
        check_choice("theta_unit", self.theta_unit, THETA_UNITS)

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        theta = self.theta
        if theta is not None and self.theta_unit == "bits":
            theta *= math.log(2)
        return self._network_model(counts, domain, kdb_parents(counts, self.k, theta))
