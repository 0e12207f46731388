"""Tables in order, and the check that a posterior is monotone in some features."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.constraints.monotone_features import (
    MonotoneFeature,
    monotone_features,
)
from bayleaf.classifiers.shared.constraints.pooling import likelihood_ordered
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource, Family
from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.models.class_model import ClassModel
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.wording import quoted

# Rows of the other features' states in which monotone features are tried: at least so
# many, and one for each joint state of the parents up to so many.
_LEAST_CONTEXTS, _MOST_CONTEXTS = 64, 20_000
# Nats by which log-odds may fall as rounding has it.
_ROUNDING = 1e-9


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
    """Tables of monotone features, in likelihood-ratio order for all other parents.

    Those of other features, and of features that do not depend on the class, are passed
    over. Return the tables that changed, and what the rows' log-likelihood gained, in
    nats.
    """
    found: dict[Family, tuple[TableCPD, float]] = {}
    if domain.cards[-1] < 2:
        return found
    orders = {own.feature: own.order for own in monotone_features(estimator, domain)}
    for family, before in tables.items():
        if family[-1] not in orders or family[0] != len(domain) - 1:
            continue
        (cells,) = counts.family_counts([family])
        # One row more each, so that a class without rows has a distribution, too.
        n_rows = cells.sum(axis=-1) + 1.0
        table = likelihood_ordered(before.probabilities, n_rows, orders[family[-1]])
        if table is not before.probabilities:
            after = TableCPD(family, table)
            gained = after.log_likelihood(cells) - before.log_likelihood(cells)
            found[family] = after, gained
    return found


def confirm_monotone(estimator: Any, model: ClassModel) -> None:
    """Raise unless the log-odds of the second class follow all monotone features.

    On all states of each, with all states of its parents; beside them the feature's
    part in the log-odds is the same whatever the others are, so that a few rows of
    their states, drawn at random, would show if they mattered.
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
    parents = list(model.feature_parents(own.feature))
    n_joint = prod(cards[parent] for parent in parents)
    n_contexts = min(max(n_joint, _LEAST_CONTEXTS), _MOST_CONTEXTS)
    drawn = np.random.default_rng(0).random((n_contexts, len(cards)))
    contexts = (drawn * np.maximum(cards, 1)).astype(np.int64)
    if parents and n_joint <= _MOST_CONTEXTS:
        joint = np.arange(n_contexts) % n_joint
        states = np.unravel_index(joint, [cards[parent] for parent in parents])
        contexts[:, parents] = np.stack(states, axis=1)
    n_states = len(own.order)
    rows = np.repeat(contexts, n_states, axis=0)
    rows[:, own.feature] = np.tile(own.order, n_contexts)
    columns = list(rows.T.astype(np.uint16))
    scores = model.class_log_scores(Codes.from_columns(columns, cards))
    with np.errstate(invalid="ignore"):
        odds = np.asarray(scores[:, 1] - scores[:, 0])
    return odds.reshape(n_contexts, n_states)
