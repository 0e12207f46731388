"""Averaged one-dependence estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.base import Learned
from bayleaf.classifiers.incremental import IncrementalClassifier
from bayleaf.classifiers.parameters import check_count
from bayleaf.counts.source import CountSource
from bayleaf.cpds.smoothing import Smoothing, resolve_smoothing
from bayleaf.data.domain import Domain
from bayleaf.models.one_dependence import AveragedOneDependenceModel


class AODEClassifier(IncrementalClassifier):
    """Average of the networks in which one feature is parent of all others.

    Every feature in turn serves as super-parent; the joint probabilities of these
    networks are averaged.

    Parameters
    ----------
    min_count : int, default=1
        A super-parent whose value in a row was seen in fewer training rows (by
        weight) is skipped for that row.
    **shared
        The parameters that the classifiers share, see `BayesianClassifier`.

    References
    ----------
    Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes: aggregating
    one-dependence estimators. Machine Learning 58, 5-24.
    """

    _log_likelihood_of = "families of the training rows, mean over the networks"

    def __init__(self, *, min_count: int = 1, **shared: Any) -> None:
        super().__init__(**shared)
        self.min_count = min_count

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("min_count", self.min_count, 0)

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        smoothing = resolve_smoothing(self.smoothing)
        cards = domain.cards[:-1]
        n_classes = domain.cards[-1]
        width = sum(cards) + len(cards)
        if n_classes * width**2 > self.max_table_cells * 10:
            raise ValueError(
                f"averaging {len(cards)} networks needs a table of "
                f"{n_classes * width**2:.3g} cells; drop features, coarsen columns, "
                "or raise max_table_cells"
            )
        features = range(len(cards))
        singles = counts.family_counts([(len(cards), i) for i in features])
        pairs = counts.pair_counts(features, features)
        prior = self._class_prior(counts, smoothing)
        starts = np.cumsum([0, *(card + 1 for card in cards)])
        parents = np.ones((n_classes, width))
        usable = np.zeros(width, dtype=bool)
        for i, table in enumerate(singles):
            states = slice(starts[i], starts[i + 1] - 1)
            parents[:, states] = smoothing.estimate(table)
            usable[states] = table.sum(axis=0) >= self.min_count
        children = np.ones((n_classes, width, width))
        log_likelihood = 0.0
        for i in features:
            for j in features:
                if i == j:
                    continue
                table = pairs.table(i, j)
                estimate = smoothing.estimate(table)
                rows = slice(starts[i], starts[i + 1] - 1)
                children[:, rows, starts[j] : starts[j + 1] - 1] = estimate
                log_likelihood += _log_likelihood(table, estimate)
        for i, table in enumerate(singles):
            states = slice(starts[i], starts[i + 1] - 1)
            log_likelihood += _log_likelihood(table, parents[:, states])
        log_likelihood /= max(len(cards), 1)
        log_likelihood += _log_likelihood(counts.class_counts(), prior)
        model = AveragedOneDependenceModel(domain, prior, parents, children, usable)
        return Learned(model, log_likelihood)


def _log_likelihood(
    counts: NDArray[np.float64], probabilities: NDArray[np.float64]
) -> float:
    """Sum of counts times log probabilities, nats; zero counts add nothing."""
    seen = counts > 0
    with np.errstate(divide="ignore"):
        return float(np.sum(counts[seen] * np.log(probabilities[seen])))
