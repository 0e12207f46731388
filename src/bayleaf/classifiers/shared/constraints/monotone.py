"""Classifiers whose posterior is monotone in some features."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.base import BayesianClassifier, Learned
from bayleaf.classifiers.shared.constraints.monotone_features import (
    MonotoneFeature,
    check_monotone,
    check_two_classes,
    directions_of,
    monotone_features,
)
from bayleaf.classifiers.shared.training import TrainingTable
from bayleaf.counts.source import CountSource, Family
from bayleaf.cpds.monotone import likelihood_ordered
from bayleaf.cpds.table import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.class_model import ClassModel
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.wording import quoted

# Rows of the other features' states in which monotone features are tried.
_MOST_CONTEXTS = 64
# Nats by which log-odds may fall as rounding has it.
_ROUNDING = 1e-9


class MonotoneClassifier(BayesianClassifier):
    """Base of classifiers that keep the second class's probability monotone.

    Parameters
    ----------
    monotone : dict of name to {+1, -1, 0}, optional
        Features along which the probability of the second of two classes (in
        `classes_`) never falls (+1) or never rises (-1), all other features equal, be
        they given or missing. Such a feature depends on the class alone: it is parent
        and child of no feature, and its probabilities are pooled over adjacent states.
    **shared
        The parameters that the classifiers share, see `BayesianClassifier`.
    """

    def __init__(self, *, monotone: Any = None, **shared: Any) -> None:
        super().__init__(**shared)
        self.monotone = monotone

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_monotone(self.monotone)

    def _training_table(self, *arguments: Any, **options: Any) -> TrainingTable:
        table = super()._training_table(*arguments, **options)
        if directions_of(self):
            check_two_classes(table.classes.tolist())
        return table

    def _learn_from(
        self, counts: CountSource, class_variable: Variable, rng: np.random.Generator
    ) -> None:
        super()._learn_from(counts, class_variable, rng)
        confirm_monotone(self, self.model_)


def pooled_network(
    estimator: Any, learned: Learned, counts: CountSource, domain: Domain
) -> Learned:
    """A network whose tables of monotone features are in order, and its likelihood.

    See `pooled_tables`; without monotone features it is the same object.
    """
    model = cast(NetworkModel, learned.model)
    tables = {cpd.family: cast(TableCPD, cpd) for cpd in model.network.cpds}
    pooled = pooled_tables(estimator, tables, counts, domain)
    if not pooled:
        return learned
    network, log_likelihood = model.network, learned.log_likelihood
    for family, (table, gained) in pooled.items():
        log_likelihood += gained
        network = network.with_table(domain[family[-1]].name, table.probabilities)
    return Learned(replace(model, network=network), log_likelihood)


def pooled_tables(
    estimator: Any,
    tables: dict[Family, TableCPD],
    counts: CountSource,
    domain: Domain,
) -> dict[Family, tuple[TableCPD, float]]:
    """Tables of monotone features given the class, in likelihood-ratio order.

    Parameters
    ----------
    estimator : classifier
        Says which features are monotone.
    tables : dict of family to TableCPD
        As estimated; those of other features, and of features that do not depend on the
        class, are passed over.
    counts : CountSource
        What they were estimated from.
    domain : Domain
        Features, then the class.

    Returns
    -------
    dict of family to (TableCPD, float)
        The tables that changed, and what the log-likelihood (nats) of the rows gained.
    """
    found: dict[Family, tuple[TableCPD, float]] = {}
    if domain.cards[-1] < 2:
        return found
    for own in monotone_features(estimator, domain):
        family = len(domain) - 1, own.feature
        if family not in tables:
            continue
        (cells,) = counts.family_counts([family])
        before = tables[family]
        # One row more each, so that a class without rows has a distribution, too.
        n_rows = cells.sum(axis=1) + 1.0
        table = likelihood_ordered(before.probabilities, n_rows, own.order)
        if table is not before.probabilities:
            after = TableCPD(family, table)
            gained = after.log_likelihood(cells) - before.log_likelihood(cells)
            found[family] = after, gained
    return found


def confirm_monotone(estimator: Any, model: ClassModel) -> None:
    """Raise unless the log-odds of the second class follow all monotone features.

    On all states of each, in every row of the other features' states, or in as many as
    are drawn where there are more. A feature's part in the log-odds is the same in all
    of them, so that a few rows would find what is wrong with its states.
    """
    domain = model.domain
    if domain.cards[-1] != 2:
        return
    for own in monotone_features(estimator, domain):
        odds = _odds_along(model, domain, own)
        # A class that the prior excludes has no odds that could move.
        steps = np.diff(odds, axis=1)[np.isfinite(odds).all(axis=1)]
        if (steps < -_ROUNDING).any():
            raise RuntimeError(
                f"the model is not monotone in {quoted(domain[own.feature].name)}, "
                "though it should be; please report this with the parameters"
            )


def _odds_along(
    model: ClassModel, domain: Domain, own: MonotoneFeature
) -> NDArray[np.float64]:
    """Log-odds of the second class, (n_contexts, n_states of the feature's order)."""
    cards = domain.cards[:-1]
    others = [max(card, 1) for v, card in enumerate(cards) if v != own.feature]
    if prod(others) <= _MOST_CONTEXTS:
        contexts = np.array(list(product(*map(range, others))), dtype=np.int64)
    else:
        drawn = np.random.default_rng(0).random((_MOST_CONTEXTS, len(others)))
        contexts = (drawn * np.array(others)).astype(np.int64)
    n_states = len(own.order)
    rows = np.repeat(contexts.reshape(-1, len(others)), n_states, axis=0)
    states = np.tile(own.order, len(contexts))
    rows = np.insert(rows, own.feature, states, axis=1)
    columns = list(rows.T.astype(np.uint16))
    scores = model.class_log_scores(Codes.from_columns(columns, cards))
    with np.errstate(invalid="ignore"):
        odds = np.asarray(scores[:, 1] - scores[:, 0])
    return odds.reshape(len(contexts), n_states)
