"""Tree-augmented naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.base import Learned
from bayleaf.classifiers.shared.hybrid import HybridNetworkClassifier
from bayleaf.classifiers.shared.incremental import IncrementalClassifier
from bayleaf.classifiers.shared.parameters import check_threshold
from bayleaf.counts.source import CountSource
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.search.left_out.linear_families import Numbers
from bayleaf.search.left_out.number_structure import number_tree
from bayleaf.search.orders.chow_liu import tree_parents


class TANClassifier(HybridNetworkClassifier, IncrementalClassifier):
    """Tree-augmented naive Bayes (Friedman, Geiger & Goldszmidt 1997).

    Beside the class every feature has at most one feature as parent; the tree is the
    one of largest total I(X;Y|C), rooted at the feature with the largest I(X;C). With
    ``numeric="gaussian"`` numbers have a tree of their own, by correlations within
    classes.

    Parameters
    ----------
    theta : float, optional
        Arcs with I(X;Y|C) at or below this (nats) are left out, which makes a
        forest.
    **shared
        The parameters that the classifiers share, see `HybridNetworkClassifier`,
        `SingleNetworkClassifier` and `BayesianClassifier`.

    References
    ----------
    Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network classifiers.
    Machine Learning 29, 131-163, section 4.
    """

    chooses_structure = True

    def __init__(self, *, theta: float | None = None, **shared: Any) -> None:
        super().__init__(**shared)
        self.theta = theta

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_threshold("theta", self.theta)

    def _learn_network(self, counts: CountSource, domain: Domain) -> Learned:
        return self._network_model(counts, domain, tree_parents(counts, self.theta))

    def _number_families(
        self, numbers: Numbers, codes: Codes, log_prior: NDArray[np.float64]
    ) -> LinearGaussianFamilies:
        return number_tree(numbers, self.theta)
