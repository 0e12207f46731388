"""Averaged two-dependence estimators."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from bayleaf.classifiers.shared.averaged_networks import AveragedNetworksClassifier
from bayleaf.classifiers.shared.base import Learned
from bayleaf.classifiers.shared.incremental import IncrementalClassifier
from bayleaf.counts.source import CountSource, Family
from bayleaf.data.domain import Domain


class A2DEClassifier(AveragedNetworksClassifier, IncrementalClassifier):
    """Average of the networks in which two features are parents of all others.

    Every pair of features in turn serves as super-parents; the joint probabilities of
    these networks are averaged. One feature alone makes naive Bayes.

    Parameters
    ----------
    **shared
        The parameters that the classifiers share, see `BayesianClassifier`.

    References
    ----------
    Webb, G. I., Boughton, J. R., Zheng, F., Ting, K. M., Salem, H. (2012). Learning by
    extrapolation from marginal to full-multivariate probability distributions:
    decreasingly naive Bayesian classification. Machine Learning 86, 233-272.
    """

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        # The sum over all triples of the product of their numbers of states.
        one, two, three = (sum(c**p for c in domain.cards[:-1]) for p in (1, 2, 3))
        triples = (one**3 - 3 * one * two + 2 * three) // 6
        self._check_cells(3 * triples * domain.cards[-1])
        return self._averaged_model(counts, domain, list(_networks(len(domain) - 1)))


def _networks(n_features: int) -> Iterator[list[Family]]:
    """Families of each network, the super-parents first, the second given the first."""
    for pair in itertools.combinations(range(n_features), min(2, n_features)):
        heads = [(n_features, *pair[: k + 1]) for k in range(len(pair))]
        others = [k for k in range(n_features) if k not in pair]
        yield [*heads, *((n_features, *pair, k) for k in others)]
