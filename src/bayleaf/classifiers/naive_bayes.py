"""Naive Bayes: features independent given the class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.hybrid import HybridNetworkClassifier
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.search.left_out.linear_families import GaussianParentRanking, Numbers


class NaiveBayesClassifier(HybridNetworkClassifier):
    """Naive Bayes over nominal features, and numbers in intervals or as numbers.

    The class is the only parent of every feature. All parameters are shared with other
    classifiers, see `HybridNetworkClassifier`, `SingleNetworkClassifier` and
    `BayesianClassifier`.

    Examples
    --------
    >>> from bayleaf import NaiveBayesClassifier
    >>> rows = [["sun", "hot"], ["sun", "mild"], ["rain", "mild"], ["rain", "cool"]]
    >>> model = NaiveBayesClassifier().fit(rows, ["out", "out", "in", "in"])
    >>> model.predict([["sun", "cool"]]).tolist()
    ['out']
    """

    def _learn_network(self, counts: CountSource, domain: Domain) -> Learned:
        return self._network_model(counts, domain, [()] * (len(domain) - 1))

    def _number_families(
        self, numbers: Numbers, codes: Codes, log_prior: NDArray[np.float64]
    ) -> LinearGaussianFamilies:
        return GaussianParentRanking.from_rows(numbers).families(0)
