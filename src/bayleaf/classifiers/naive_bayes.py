"""Naive Bayes: features independent given the class."""

from __future__ import annotations

import numpy as np

from bayleaf.classifiers.shared.base import Learned
from bayleaf.classifiers.shared.conditional import SingleNetworkClassifier
from bayleaf.classifiers.shared.incremental import IncrementalClassifier
from bayleaf.counts.source import CountSource
from bayleaf.data.domain import Domain


class NaiveBayesClassifier(SingleNetworkClassifier, IncrementalClassifier):
    """Naive Bayes over nominal and discretised features.

    The class is the only parent of every feature. All parameters are shared with other
    classifiers, see `SingleNetworkClassifier` and `BayesianClassifier`.

    Examples
    --------
    >>> from bayleaf import NaiveBayesClassifier
    >>> rows = [["sun", "hot"], ["sun", "mild"], ["rain", "mild"], ["rain", "cool"]]
    >>> model = NaiveBayesClassifier().fit(rows, ["out", "out", "in", "in"])
    >>> model.predict([["sun", "cool"]]).tolist()
    ['out']
    """

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        return self._network_model(counts, domain, [()] * (len(domain) - 1))
