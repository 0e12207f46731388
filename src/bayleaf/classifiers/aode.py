"""Averaged one-dependence estimators."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.edge_parameters import (
    check_edge_parameters,
    rooted_constraints,
)
from bayleaf.classifiers.shared.monotone import monotone_features, pooled_tables
from bayleaf.classifiers.shared.parameters import check_count, check_model_size
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.domain import Domain
from bayleaf.inference.log_sums import log_of
from bayleaf.models.one_dependence_model import AveragedOneDependenceModel
from bayleaf.search.left_out.left_out_scores import (
    LeaveOneOut,
    one_dependence_log_scores,
)
from bayleaf.typing import ByName, Name

# Of a cell: counts, probabilities and their logarithms.
_BYTES_A_CELL = 24


class AODEClassifier(BayesianClassifier):
    """Average of the networks in which one feature is parent of all others.

    Every feature in turn serves as super-parent; the joint probabilities of these
    networks are averaged. A super-parent is no parent of features that forbidden edges
    or tiers keep it from; arcs cannot be required, as each network has those of its own
    super-parent alone. Monotone features are no super-parents.

    Parameters
    ----------
    min_count : int, default=1
        A super-parent whose value in a row was seen in fewer training rows (by
        weight) is skipped for that row.
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
    Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes: aggregating
    one-dependence estimators. Machine Learning 58, 5-24.
    """

    _is_incremental = True

    min_count: int = 1
    forbidden_edges: Collection[tuple[Name, Name]] = ()
    tiers: Sequence[Sequence[Name]] = ()
    monotone: ByName[int] | None = None

    def _check(self) -> None:
        check_count("min_count", self.min_count, 0)
        check_edge_parameters(self)

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        self._check_size(domain)
        self._constraints = rooted_constraints(self, domain)
        smoothing = self._chosen_smoothing(counts, domain, self._left_out_log_scores)
        pooled = self._pooled(counts, domain, smoothing)
        cards = domain.cards[:-1]
        features = range(len(cards))
        # Where the states of each feature lie among all positions.
        ends = np.cumsum([card + 1 for card in cards])
        spans = [
            slice(end - card - 1, end - 1)
            for end, card in zip(ends, cards, strict=True)
        ]
        width, n_classes = int(ends[-1]), domain.cards[-1]
        prior = self._class_prior(counts, smoothing)
        parents = np.ones((n_classes, width))
        children = np.ones((n_classes, width, width))
        usable = np.zeros(width, dtype=bool)
        log_likelihood = 0.0
        singles = counts.family_counts([(len(cards), i) for i in features])
        for i, table in enumerate(singles):
            own = pooled[i] if i in pooled else smoothing.estimate(table)
            parents[:, spans[i]] = own
            if i not in pooled:
                usable[spans[i]] = table.sum(axis=0) >= self.min_count
            log_likelihood += _log_likelihood(table, parents[:, spans[i]])
        pairs = counts.pair_counts(features, features)
        is_open = self._constraints.open_arcs(len(cards))
        for i, j in itertools.permutations(features, 2):
            if is_open[j, i]:
                table = pairs.table(i, j)
                estimate = smoothing.estimate(table)
            else:
                table, estimate = singles[j][:, None], parents[:, None, spans[j]]
            children[:, spans[i], spans[j]] = estimate
            log_likelihood += _log_likelihood(table, estimate)
        # The prior counts once in every network, so its share is the mean itself.
        log_likelihood /= len(cards)
        log_likelihood += _log_likelihood(counts.class_counts(), prior)
        closed = None
        if self._constraints.has_edges:
            closed = ~is_open.T & ~np.eye(len(cards), dtype=np.bool_)
        model = AveragedOneDependenceModel(
            domain, prior, parents, children, usable, closed
        )
        return Learned(model, log_likelihood)

    def _pooled(
        self, counts: CountSource, domain: Domain, smoothing: Smoothing
    ) -> dict[int, NDArray[np.float64]]:
        """P(state | class) of each monotone feature."""
        found = {}
        for own in monotone_features(self, domain):
            family = len(domain) - 1, own.feature
            (cells,) = counts.family_counts([family])
            table = TableCPD(family, smoothing.estimate(cells))
            table, _ = pooled_tables(self, {family: table}, counts, domain).get(
                family, (table, 0.0)
            )
            found[own.feature] = table.probabilities
        return found

    def _restore(self, saved: Any) -> None:
        super()._restore(saved)
        self._constraints = rooted_constraints(self, self.model_.domain)

    def _left_out_log_scores(self, left_out: LeaveOneOut) -> NDArray[np.float64]:
        constraints = self._constraints
        return one_dependence_log_scores(left_out, self.min_count, constraints)

    def _check_size(self, domain: Domain) -> None:
        """Raise before counting if the table of all pairs would be too large."""
        *cards, n_classes = domain.cards
        cells = n_classes * (sum(cards) + len(cards)) ** 2
        if cells > self.max_table_cells:
            raise ValueError(
                f"averaging {len(cards)} networks needs a table of {cells:.3g} cells, "
                f"more than max_table_cells={self.max_table_cells}; drop features, "
                "coarsen columns, or raise it"
            )
        check_model_size(_BYTES_A_CELL * cells, self._memory)


def _log_likelihood(
    counts: NDArray[np.float64], probabilities: NDArray[np.float64]
) -> float:
    """Sum of counts times log probabilities, nats; zero counts add nothing."""
    seen = counts > 0
    return float(np.sum(counts[seen] * log_of(probabilities[seen])))
