"""Bounds on class probabilities after changes of a row."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.explain.change_sets import ChangeSets
from bayleaf.models.class_model import ClassModel
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.bounds import worst_changes
from bayleaf.scoring.terms import ScoringProgram, program_of

Floats = NDArray[np.float64]

# What rounding may add to a margin, relative.
_ROUNDING = 1e-7

_PROGRAMS: WeakKeyDictionary[ClassModel, ScoringProgram | None] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Margins:
    """Bounds on log-odds of the chosen class against each other.

    Parameters
    ----------
    chosen : int
        The class chosen.
    costs : ndarray of shape (n_others, n_classes)
        Extra cost of predicting each other class, by true class.
    start : ndarray of shape (n_classes,)
        Least log-odds against each class before any change, nats.
    gains : ndarray of shape (n_changes, n_classes)
        Worst case of each change: the log-odds after a set of changes are at least
        `start` minus the sum of its gains.
    """

    chosen: int
    costs: Floats
    start: Floats
    gains: Floats

    def reachable(self, falls: Floats) -> NDArray[np.bool_]:
        """Whether another class may be chosen after falls of the log-odds, (n,)."""
        ratios = np.exp(np.clip(falls - self.start, None, 500.0))
        ratios[:, self.chosen] = 0.0
        for_others = ratios @ np.clip(-self.costs, 0.0, None).T
        against = self.costs[:, self.chosen] * (1.0 - _ROUNDING)
        return np.asarray((for_others >= against).any(axis=1))


def margins_of(
    predictor: Predictor, codes: Codes, changes: ChangeSets
) -> Margins | None:
    """Bounds for the changes of a row; None for models whose terms have none."""
    program = cached_program(predictor.model)
    if program is None:
        return None
    chosen = int(predictor.choose(predictor.proba(codes))[0])
    worst = worst_changes(program, codes, changes.features, changes.states, chosen)
    if worst is None:
        return None
    start, gains = (nats / predictor.temperature for nats in worst)
    if predictor.prior_shift is not None:
        start = start + predictor.prior_shift[chosen] - predictor.prior_shift
    return Margins(chosen, extra_costs(predictor, chosen), start, gains)


def cached_program(model: ClassModel) -> ScoringProgram | None:
    """The terms of a model; None where its tables are too large to be expanded."""
    if model not in _PROGRAMS:
        try:
            program = program_of(model)
        except (TypeError, ValueError):
            program = None
        _PROGRAMS[model] = program
    return _PROGRAMS[model]


def extra_costs(predictor: Predictor, chosen: int) -> Floats:
    """What each other class costs more than the chosen one, by the true class."""
    loss = predictor.loss
    if loss is None:
        loss = 1.0 - np.eye(len(predictor.classes))
    return np.delete(loss - loss[chosen], chosen, axis=0)
