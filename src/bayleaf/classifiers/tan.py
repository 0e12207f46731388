"""Tree-augmented naive Bayes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.edge_parameters import (
    EdgeParameters,
    check_most_required,
    rooted_constraints,
)
from bayleaf.classifiers.shared.hybrid import HybridNetworkClassifier
from bayleaf.classifiers.shared.parameters import check_threshold
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.search.feature_orders import tree_parents
from bayleaf.search.left_out.linear_families import Numbers, gaussian_tree


class TANClassifier(EdgeParameters, HybridNetworkClassifier):
    """Tree-augmented naive Bayes (Friedman, Geiger & Goldszmidt 1997).

    Beside the class every feature has at most one feature as parent; the tree is the
    one of largest total I(X;Y|C), rooted at the feature with the largest I(X;C). With
    ``numeric="gaussian"`` numbers have a tree of their own, by correlations within
    classes. Where arcs are required or forbidden it is the directed forest of largest
    total I(X;Y|C) among those that keep to this (Edmonds 1967); of equal ones that with
    most arcs, then that whose roots have the largest I(X;C).

    Parameters
    ----------
    theta : float, optional
        Arcs with I(X;Y|C) at or below this (nats) are left out, which makes a
        forest; those that are required stay.
    **shared
        The parameters that the classifiers share, see `HybridNetworkClassifier`,
        `SingleNetworkClassifier` and `BayesianClassifier`.

    References
    ----------
    Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network classifiers.
    Machine Learning 29, 131-163, section 4.

    Edmonds, J. (1967). Optimum branchings. Journal of Research of the National Bureau
    of Standards 71B, 233-240.
    """

    _chooses_structure = True
    _bytes_a_pair = 60
    _monotone_parents = True

    theta: float | None = None

    def _check(self) -> None:
        check_threshold("theta", self.theta)

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        self._constraints = rooted_constraints(self, domain)
        check_most_required(
            self._constraints, domain.names[:-1], 1, "the one of a tree"
        )
        return super()._learn(counts, domain, rng)

    def _learn_network(self, counts: CountSource, domain: Domain) -> Learned:
        constraints = self._constraints_among(domain)
        parents = tree_parents(counts, self.theta, constraints)
        return self._network_model(counts, domain, parents)

    def _number_families(
        self, numbers: Numbers, codes: Codes, log_prior: NDArray[np.float64]
    ) -> LinearGaussianFamilies:
        return gaussian_tree(numbers, self.theta, self._constraints)
