"""A row after sets of changes, as the model itself sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.explain.change_sets import ChangeSets, with_changes
from bayleaf.explain.row_probability import row_log_probabilities
from bayleaf.models.class_model import calibrated_log_proba
from bayleaf.models.predictor import Predictor

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# The class of rows that no class makes possible, for which nothing is predicted.
_NONE = -1
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class ChangedRow:
    """A row and its single changes.

    Parameters
    ----------
    predictor : Predictor
        The model.
    codes : Codes
        The row.
    changes : ChangeSets
        What may change.
    """

    predictor: Predictor
    codes: Codes
    changes: ChangeSets

    @cached_property
    def chosen(self) -> int:
        """The class chosen for the row as it is."""
        return int(self.predictor.choose(self.predictor.proba(self.codes))[0])

    def proba(self, sets: Indices) -> Floats:
        """Class probabilities after sets of changes; zeros for impossible rows."""
        predictor = self.predictor
        changed = with_changes(self.codes, self.changes, sets)
        scores = predictor.joint_log_proba(changed)
        possible = np.isfinite(scores.max(axis=1))
        proba = np.zeros(scores.shape)
        proba[possible] = np.exp(
            calibrated_log_proba(
                scores[possible], predictor.temperature, predictor.prior_shift
            )
        )
        return proba

    def classes(self, sets: Indices) -> Indices:
        """The class chosen after each set of changes; -1 for impossible rows."""
        return self._classes(self.proba(sets))

    def _classes(self, proba: Floats) -> Indices:
        """The class chosen for probabilities; -1 where all are zero."""
        return np.where(proba.any(axis=1), self.predictor.choose(proba), _NONE)

    def flipped(self, sets: Indices) -> NDArray[np.bool_]:
        """Which sets of changes lead to another class."""
        classes = self.classes(sets)
        return np.asarray((classes != self.chosen) & (classes != _NONE))

    def log_probabilities(self, sets: Indices) -> Floats:
        """Log probability of the row after each set of changes."""
        changed = with_changes(self.codes, self.changes, sets)
        return row_log_probabilities(self.predictor.model, changed)

    def worth_alone(self) -> Floats:
        """How far each change alone brings log-odds to any other class, nats."""
        singles = np.arange(len(self.changes.features))[:, None]
        logs = np.log(np.maximum(self.proba(singles), _TINY))
        odds = logs - logs[:, [self.chosen]]
        odds[:, self.chosen] = -np.inf
        return np.asarray(odds.max(axis=1))

    def greedy(self) -> Indices | None:
        """A set that flips it, one best change after the other; None if that fails."""
        chosen, features = self.chosen, self.changes.features
        taken = np.empty(0, dtype=np.intp)
        while True:
            free = np.flatnonzero(~np.isin(features, features[taken]))
            if not len(free):
                return None
            sets = np.column_stack([np.tile(taken, (len(free), 1)), free])
            proba = self.proba(sets)
            classes = self._classes(proba)
            flips = np.flatnonzero((classes != chosen) & (classes != _NONE))
            if len(flips):
                return np.asarray(sets[flips[0]])
            loss = self.predictor.loss
            costs = -proba if loss is None else proba @ loss.T
            ahead = np.delete(costs, chosen, axis=1).min(axis=1) - costs[:, chosen]
            taken = sets[np.argmin(np.where(classes == _NONE, np.inf, ahead))]
