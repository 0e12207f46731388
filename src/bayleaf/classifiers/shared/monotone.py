"""Tables in order, and the check that a posterior is monotone in some features."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit

from bayleaf.classifiers.shared.parameters import no_such_feature
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource, Family
from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.models.class_model import ClassModel
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.support.number_terms import Curves
from bayleaf.search.left_out.left_out_scores import LeftOutRows
from bayleaf.wording import name_list, quoted

Floats = NDArray[np.float64]

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
    if not directions_of(estimator):
        return learned
    model = cast(NetworkModel, learned.model)
    tables = {cpd.family: cast(TableCPD, cpd) for cpd in model.network.cpds}
    pooled = pooled_tables(estimator, tables, counts, domain)
    network, log_likelihood = model.network, learned.log_likelihood
    for family, (table, gained) in pooled.items():
        log_likelihood += gained
        network = network.with_table(domain[family[-1]].name, table.probabilities)
    return Learned(replace(model, network=network), log_likelihood)


def pooled_tables(
    estimator: Any, tables: dict[Family, TableCPD], counts: CountSource, domain: Domain
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


Name = str | int


@dataclass(frozen=True, eq=False)
class MonotoneFeature:
    """A feature and the order in which the second class gains.

    A missing state is left out of the order.
    """

    feature: int  # place in the domain
    order: NDArray[np.intp]  # ascending where the second class gains, else descending


def check_monotone(monotone: Any) -> None:
    """Raise unless a parameter maps names to 1, -1 or 0.

    TypeError if it is not a mapping, or a direction is not a number; ValueError for
    other numbers.
    """
    if monotone is None:
        return
    if not isinstance(monotone, Mapping):
        raise TypeError(
            "monotone must map names of columns to +1 or -1, as in {'age': +1}, got "
            f"{quoted(monotone)}"
        )
    for name, direction in monotone.items():
        refusal = (
            f"monotone of {quoted(name)} must be +1 (the second class gains as the "
            f"feature grows), -1 (it loses) or 0 (free), got {quoted(direction)}"
        )
        whole = isinstance(direction, numbers.Real) and not isinstance(direction, bool)
        if not whole:
            raise TypeError(refusal)
        if direction not in (-1, 0, 1):
            raise ValueError(refusal)


def directions_of(estimator: Any) -> dict[Name, int]:
    """The directions that an estimator asks for, those of free features left out."""
    asked = getattr(estimator, "monotone", None) or {}
    return {name: int(direction) for name, direction in asked.items() if direction}


def keeps_parents(estimator: Any) -> bool:
    """Whether monotone features may have parents among the features.

    The order of each table given the parents is that of a row only while the parents
    are known: a sum over a parent's states need not keep it.
    """
    complete = "error" == estimator.missing == estimator.unknown
    return complete and bool(getattr(estimator, "_monotone_parents", False))


def check_two_classes(classes: Sequence[Any]) -> None:
    """Raise if there are classes of which neither is the second of two."""
    if len(classes) > 2:
        raise ValueError(
            "monotone says how the probability of the second of two classes moves, but "
            f"there are {len(classes)}: {name_list([str(own) for own in classes])}; "
            "join classes to two, or leave monotone out"
        )


def monotone_features(estimator: Any, domain: Domain) -> list[MonotoneFeature]:
    """The features that `monotone` names, in the order of the domain.

    The class is the last variable; the estimator's encoder is fitted. ValueError for
    more than two classes, or a name that is not a feature of the model or one without
    order.
    """
    asked = directions_of(estimator)
    if not asked:
        return []
    *features, class_variable = domain.variables
    check_two_classes(class_variable.states)
    places = {variable.name: place for place, variable in enumerate(features)}
    for name in asked:
        if name not in places:
            raise no_such_feature("monotone", name, places, estimator.encoder_)
    found = []
    for name in sorted(asked, key=places.__getitem__):
        order = _order(features[places[name]])
        found.append(MonotoneFeature(places[name], order[:: asked[name]]))
    return found


def monotone_remarks(estimator: Any) -> list[str]:
    """What a summary says of monotone features: a line, if there are any."""
    asked, classes = directions_of(estimator), estimator.classes_
    if not asked or len(classes) < 2:
        return []
    moves = {1: "never falls", -1: "never rises"}
    parts = []
    for direction, move in moves.items():
        names = [str(name) for name, own in asked.items() if own == direction]
        if names:
            grow = "grows" if len(names) == 1 else "grow"
            parts.append(f"{move} as {name_list(names)} {grow}")
    second = quoted(classes[1].item() if hasattr(classes[1], "item") else classes[1])
    return [
        f"monotone: P({second}) {' and '.join(parts)}, whatever the other features "
        "are; checked state by state"
    ]


def _order(variable: Variable) -> NDArray[np.intp]:
    """Known states from the least on; refuses those without order."""
    states = variable.known_states
    if variable.kind == "numeric":
        return np.arange(len(states), dtype=np.intp)
    # Integers of few values are nominal, but have their order all the same.
    values = [own for own in states if isinstance(own, numbers.Real | np.bool_)]
    if len(values) < len(states):
        raise ValueError(
            f"monotone names column {quoted(variable.name)}, whose values have no "
            "order; give it one by ordered_features, or take it out of monotone"
        )
    return np.argsort(np.array([float(own) for own in values]), kind="stable")


def pooled_steps(values: Floats, weights: Floats) -> Floats:
    """Return the values (n,) nearest to the given ones that never fall.

    Of least weighted squared distance: where neighbours fall they share their weighted
    mean, which keeps the mean of all; values that never fall come back as they are.
    Weights (n,) are not negative; those of zero count next to nothing. Ayer, Brunk,
    Ewing, Reid and Silverman (1955), An empirical distribution function for sampling
    with incomplete information, Annals of Mathematical Statistics 26, 641-647.
    """
    if (np.diff(values) >= 0).all():
        return values
    least = max(float(weights.max()), 1.0) * 1e-12
    return np.asarray(isotonic_regression(values, weights=np.maximum(weights, least)).x)


def likelihood_ordered(
    table: Floats, n_rows: Floats, order: NDArray[np.intp]
) -> Floats:
    """Return P(state | class) of two classes whose ratio never falls along an order.

    With ``m_c(x) = n_c P(x | c)`` rows in each cell, the share ``m_1 / (m_0 + m_1)`` of
    the second class is pooled over adjacent states, and given back to the classes by
    the states' totals. That is the pair of distributions most probable by these cells
    of all pairs in likelihood-ratio order (Dykstra, Kochar & Robertson 1995, Inference
    for likelihood ratio ordering in the two-sample problem, Journal of the American
    Statistical Association 90, 1034-1040).

    `table` (2, ..., n_states) contains P(state | class, other parents), each worth
    `n_rows` (2, ...) above zero. P(state | second) / P(state | first) must not fall
    along `order`; other states stay, each distribution keeps its sum, and a table in
    order comes back as it is.
    """
    rows = n_rows.reshape(2, -1, 1)
    flat = table.reshape(2, rows.shape[1], table.shape[-1])
    cells = rows * flat[:, :, order]
    totals = cells.sum(axis=0)
    # A state that no class has, as under a fixed distribution, says nothing.
    shares = np.where(totals > 0, cells[1], 0.5) / np.where(totals > 0, totals, 1.0)
    falling = np.flatnonzero((np.diff(shares, axis=1) < 0).any(axis=1))
    if not falling.size:
        return table
    found = flat.copy()
    for context in falling.tolist():
        pooled = pooled_steps(shares[context], totals[context])
        both = np.stack([1.0 - pooled, pooled]) * totals[context]
        found[:, context, order] = both / rows[:, context]
    return found.reshape(table.shape)


class PooledAverage(NamedTuple):
    """A model in order, and what left-out rows then score."""

    model: AveragedKDBModel
    scores: Floats  # (n_rows, 2), log scores


def pooled_average(
    model: AveragedKDBModel,
    features: Sequence[MonotoneFeature],
    left_out: LeftOutRows,
    scores: Floats,
) -> PooledAverage:
    """Put what some features add to the sum in order, by curves.

    The contribution of such a feature, alone as it is, by tables, as a number and by a
    curve, is one number of nats per state for the second class against the first.
    Neighbours that fall are pooled, each state counting as its left-out rows
    distinguish the classes: by the sum of P(1 - P), the curvature of their log-loss.
    `model` has two classes and no other terms of the features; `scores` (n_rows, 2) are
    log scores.
    """
    changes: dict[int, Floats] = {}
    for own in features:
        alone = model.scores_of_states(own.feature)[own.order]
        odds = alone[:, 1] - alone[:, 0]
        second = expit(scores[:, 1] - scores[:, 0])
        counted = left_out.codes.weights * second * (1.0 - second)
        column = left_out.codes.column(own.feature)
        n_states = model.domain.cards[own.feature]
        told = np.bincount(column, counted, minlength=n_states).astype(np.float64)
        moved = pooled_steps(odds, told[own.order]) - odds
        if moved.any():
            curve = np.zeros((n_states, 2))
            curve[own.order] = moved[:, None] * np.array([-0.5, 0.5])
            changes[own.feature] = curve
            # A cell without a state says nothing.
            scores = scores + np.vstack([curve, np.zeros(2)])[column]
    if not changes:
        return PooledAverage(model, scores)
    curves = model.curves or Curves(np.array([], dtype=np.int64), ())
    return PooledAverage(replace(model, curves=curves.plus(changes)), scores)
