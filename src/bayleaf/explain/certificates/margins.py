"""How far a row's scores are from another class, and how far each change brings them.

Bounds alone: sets of changes that they rule out need not be scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.inference.factors import Factor
from bayleaf.models.class_model import ClassModel
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.predictor import Predictor

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Cells of a family's table, and changed members, beyond which no bound is sought.
_MAX_CELLS = 5_000_000
_MAX_MEMBERS = 6
# What rounding may add to a margin, relative.
_ROUNDING = 1e-7


@dataclass(frozen=True, eq=False)
class Margins:
    """Bounds on log-odds of the chosen class against each other.

    Parameters
    ----------
    chosen : int
        The class chosen.
    worse : ndarray of shape (n_others, n_classes)
        What predicting each other class costs more where a class is true.
    start : ndarray of shape (n_classes,)
        At least the log-odds against each class before any change, nats.
    gains : ndarray of shape (n_changes, n_classes)
        At least what each change takes of them: the log-odds after a set of changes are
        no less than `start` minus the sum of its gains.
    """

    chosen: int
    worse: Floats
    start: Floats
    gains: Floats

    def least_falls(self) -> Floats:
        """Falls of which one at least is met where another class is chosen.

        Shape (n_classes,), nats.
        """
        against = self.worse[:, self.chosen] * (1.0 - _ROUNDING)
        ratios = np.full(len(against), -np.inf)
        worse = np.flatnonzero(against > 0.0)
        others = np.delete(self.worse[worse], self.chosen, axis=1)
        with np.errstate(divide="ignore"):
            gained = np.log(np.clip(-others, 0.0, None).sum(axis=1))
        ratios[worse] = np.log(against[worse]) - gained
        return np.asarray(self.start + (ratios.min() - _ROUNDING))

    def reachable(self, falls: Floats) -> NDArray[np.bool_]:
        """Whether another class may be chosen after falls of the log-odds, (n,)."""
        ratios = np.exp(np.clip(falls - self.start, None, 500.0))
        ratios[:, self.chosen] = 0.0
        for_others = ratios @ np.clip(-self.worse, 0.0, None).T
        against = self.worse[:, self.chosen] * (1.0 - _ROUNDING)
        return np.asarray((for_others >= against).any(axis=1))


def margins_of(
    predictor: Predictor, codes: Codes, features: Indices, states: Indices
) -> Margins | None:
    """Bounds for the changes of a row; None for models whose scores are no sum.

    Notes
    -----
    A change is charged, for each family that it touches, with the largest fall that a
    set of changed members can cause, divided by their number; so the charges of a set
    are never less than its fall. A parent that is missing counts as whatever state is
    worst: a ratio of sums is no less than the least ratio of their terms.
    """
    factors = _factors(predictor.model)
    if factors is None:
        return None
    chosen = int(predictor.choose(predictor.proba(codes))[0])
    # Tables of latent variables' features hold what missing cells say themselves.
    is_summed = isinstance(predictor.model, NetworkModel)
    parents = {v for f in factors for v in f.variables if is_summed and v != f.child}
    axes = [
        _Axis.of(codes, v, v in parents, features, states)
        for v in range(codes.n_variables)
    ]
    prior = factors[0].log_values
    start = prior[chosen] - prior
    gains = np.zeros((len(features), len(prior)))
    for factor in factors[1:]:
        fallen = _family(factor, chosen, [axes[v] for v in factor.variables])
        if fallen is None:
            return None
        least, charges = fallen
        start = start + least
        for v, charge in zip(factor.variables, charges, strict=True):
            gains[axes[v].changes] += charge
    if isinstance(predictor.model, NetworkModel):
        start = start - 2 * predictor.model.excess
    start, gains = start / predictor.temperature, gains / predictor.temperature
    if predictor.prior_shift is not None:
        start = start + predictor.prior_shift[chosen] - predictor.prior_shift
    if not (np.isfinite(start).all() and np.isfinite(gains).all()):
        return None
    return Margins(chosen, dearer(predictor, chosen), start, gains)


def _factors(model: ClassModel) -> tuple[Factor, ...] | None:
    """Tables whose logarithms add up to a model's scores, the prior first."""
    if isinstance(model, NetworkModel):
        return model.factors
    if not isinstance(model, HierarchicalNaiveBayesModel):
        return None
    factors = model.look_up_factors
    return factors if len(factors) == 1 + len(model.class_tables) else None


def dearer(predictor: Predictor, chosen: int) -> Floats:
    """What each other class costs more than the chosen one, by the true class."""
    loss = predictor.loss
    if loss is None:
        loss = 1.0 - np.eye(len(predictor.classes))
    return np.delete(loss - loss[chosen], chosen, axis=0)


@dataclass(frozen=True, eq=False)
class _Axis:
    """What a feature may be: states now, then states after each of its changes."""

    changes: Indices
    states: Indices
    starts: Indices

    @classmethod
    def of(
        cls,
        codes: Codes,
        feature: int,
        is_parent: bool,
        features: Indices,
        states: Indices,
    ) -> _Axis:
        """The axis of a feature; a parent that is missing may be in any state."""
        card = codes.cards[feature]
        changes = np.flatnonzero(features == feature)
        groups = [
            np.arange(card) if code >= card and is_parent else np.array([code])
            for code in [int(codes.column(feature)[0]), *states[changes].tolist()]
        ]
        sizes = [len(group) for group in groups]
        starts = np.cumsum([0, *sizes[:-1]])
        return cls(changes, np.concatenate(groups), starts)


def _family(
    factor: Factor, chosen: int, axes: Sequence[_Axis]
) -> tuple[Floats, list[Floats]] | None:
    """A family's log-odds now, and its members' charges, (n_changes, n_classes).

    None if the table is too large, or holds zeros.
    """
    if prod(len(a.states) for a in axes) * len(factor.log_values) > _MAX_CELLS:
        return None
    if not np.isfinite(factor.log_values).all():
        return None
    classes = np.arange(len(factor.log_values))
    picked = np.ix_(classes, *[a.states for a in axes])
    table = factor.padded()[picked]
    table = np.asarray(table[chosen] - table)
    for place, axis in enumerate(axes, start=1):
        table = np.minimum.reduceat(table, axis.starts, axis=place)
    now = table.reshape(len(table), -1)[:, 0]
    charges = [np.full((len(a.changes), len(now)), -np.inf) for a in axes]
    movable = [place for place, a in enumerate(axes) if len(a.changes)]
    if len(movable) > _MAX_MEMBERS:
        worst = now - table.reshape(len(now), -1).min(axis=1)
        return now, [np.broadcast_to(worst, charge.shape) for charge in charges]
    for size in range(1, len(movable) + 1):
        for moved in combinations(movable, size):
            _charge(table, now, moved, charges)
    return now, charges


def _charge(
    table: Floats, now: Floats, moved: tuple[int, ...], charges: list[Floats]
) -> None:
    """Raise the charges of some members to their shares in moving together."""
    index: list[Any] = [slice(None)]
    index += [slice(1, None) if p in moved else 0 for p in range(table.ndim - 1)]
    changed = np.asarray(table[tuple(index)])
    for axis, place in enumerate(moved, start=1):
        others = tuple(a for a in range(1, changed.ndim) if a != axis)
        falls = (now[:, None] - changed.min(axis=others)).T / len(moved)
        np.maximum(charges[place], falls, out=charges[place])
