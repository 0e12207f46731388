"""Averaged two-dependence estimators."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.averaged_networks import AveragedNetworksClassifier
from bayleaf.classifiers.shared.edge_parameters import (
    check_edge_parameters,
    rooted_constraints,
)
from bayleaf.classifiers.shared.monotone import monotone_features
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource, Family
from bayleaf.data.domain import Domain
from bayleaf.typing import ByName, Name


class A2DEClassifier(AveragedNetworksClassifier):
    """Average of the networks in which two features are parents of all others.

    Every pair of features in turn serves as super-parents; the joint probabilities of
    these networks are averaged. One feature alone makes naive Bayes. A super-parent is
    no parent of features that forbidden edges or tiers keep it from, of the other
    super-parent neither; arcs cannot be required, as each network has those of its own
    super-parents alone. Monotone features are no super-parents.

    Parameters
    ----------
    forbidden_edges : sequence of (parent, child), default=()
        Names of columns that no arc joins in this direction.
    tiers : sequence of sequence of str or int, default=()
        Groups of columns, the earliest first: no arc leads from a later group to an
        earlier one. Columns that none of them names are free.
    monotone : dict of name to {+1, -1, 0}, optional
        Features along which the probability of the second class never falls or never
        rises, see `HybridNetworkClassifier`.
    **shared
        The parameters that the classifiers share, see `BayesianClassifier`.

    References
    ----------
    Webb, G. I., Boughton, J. R., Zheng, F., Ting, K. M., Salem, H. (2012). Learning by
    extrapolation from marginal to full-multivariate probability distributions:
    decreasingly naive Bayesian classification. Machine Learning 86, 233-272.
    """

    _is_incremental = True

    forbidden_edges: Collection[tuple[Name, Name]] = ()
    tiers: Sequence[Sequence[Name]] = ()
    monotone: ByName[int] | None = None

    def _check(self) -> None:
        check_edge_parameters(self)

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        # The sum over all triples of the product of their numbers of states.
        one, two, three = (sum(c**p for c in domain.cards[:-1]) for p in (1, 2, 3))
        triples = (one**3 - 3 * one * two + 2 * three) // 6
        n_tables = 3 * math.comb(len(domain) - 1, 3)
        self._check_cells(3 * triples * domain.cards[-1], n_tables)
        constraints = rooted_constraints(self, domain)
        is_open = constraints.open_arcs(len(domain) - 1)
        alone = {own.feature for own in monotone_features(self, domain)}
        networks = list(_networks(is_open, alone))
        return self._averaged_model(counts, domain, networks)


def _networks(is_open: NDArray[np.bool_], alone: set[int]) -> Iterator[list[Family]]:
    """Families of each network, the super-parents first, the second given the first.

    The first is the lower of the two, unless only the other may be its parent. Arcs are
    those that are open, by [child, parent]; features in `alone` are no super-parents.
    """
    n_features = len(is_open)
    heads_of = [feature for feature in range(n_features) if feature not in alone]
    for pair in itertools.combinations(heads_of, min(2, len(heads_of))):
        if len(pair) == 2 and is_open[pair] and not is_open[pair[::-1]]:
            pair = pair[::-1]
        others = [k for k in range(n_features) if k not in pair]
        heads = [(pair[:k], own) for k, own in enumerate(pair)]
        yield [
            (n_features, *(p for p in parents if is_open[child, p]), child)
            for parents, child in [*heads, *((pair, k) for k in others)]
        ]
