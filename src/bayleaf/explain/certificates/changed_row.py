"""A row after sets of changes, as the model itself sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.explain.row_probability import row_log_probabilities
from bayleaf.models.class_model import ClassModel, calibrated_log_proba
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.partial_cases import known_cells
from bayleaf.scoring.terms import ScoringProgram, program_of
from bayleaf.wording import quoted, shown_name, stated

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
# Old and new state of each changed feature.
Changes = Mapping[str | int, tuple[str, str]]

# The class of rows that no class makes possible, for which nothing is predicted.
_NONE = -1
_TINY = 1e-300

_PROGRAMS: WeakKeyDictionary[ClassModel, ScoringProgram | None] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class ChangedRow:
    """A row and its single changes; a set (size,) is of positions of changes."""

    predictor: Predictor
    codes: Codes
    features: Indices  # Feature of each single change; they do not decrease.
    states: Indices  # New state of each single change.

    @cached_property
    def chosen(self) -> int:
        """The class chosen for the row as it is."""
        return int(self.predictor.choose(self.predictor.proba(self.codes))[0])

    @cached_property
    def program(self) -> ScoringProgram | None:
        """The terms of such rows.

        None where tables are too large, or where what terms count depends on which
        features are known and changes make some unknown.
        """
        program, n = self._whole_program, self.codes.n_variables
        if program is None:
            return None
        cards = np.array(program.cards, dtype=np.intp)
        if (self.states < cards[self.features]).all():
            return program.given(known_cells(self.codes, n)[0])
        depends = program.sharing is not None or self.predictor.temperature != 1.0
        return None if depends else program

    @property
    def _whole_program(self) -> ScoringProgram | None:
        model = self.predictor.model
        if model not in _PROGRAMS:
            try:
                _PROGRAMS[model] = program_of(model)
            except (TypeError, ValueError):
                _PROGRAMS[model] = None
        return _PROGRAMS[model]

    @cached_property
    def extra_costs(self) -> Floats:
        """What each other class costs more than the chosen one, by the true class."""
        loss = self.predictor.loss
        if loss is None:
            loss = 1.0 - np.eye(len(self.predictor.classes))
        return np.delete(loss - loss[self.chosen], self.chosen, axis=0)

    def after(self, sets: Indices) -> Codes:
        """Copies of the row, each with one set of changes (n_sets, size)."""
        table = np.repeat(self._cells, len(sets), axis=1)
        for change in sets.T:
            table[self.features[change], np.arange(len(sets))] = self.states[change]
        return Codes.from_columns(list(table), self.codes.cards)

    @cached_property
    def _cells(self) -> NDArray[np.uint16]:
        """Codes of the row, shape (n_features, 1)."""
        columns = [self.codes.column(v) for v in range(self.codes.n_variables)]
        return np.array(columns, dtype=np.uint16)

    def named(self, changes: Indices) -> dict[str | int, tuple[str, str]]:
        """Old and new state of each feature that a set of changes changes."""
        found = {}
        for feature, state in zip(self.features[changes], self.states[changes]):
            variable = self.predictor.encoder.domain[int(feature)]
            own = variable.label(int(self.codes.column(int(feature))[0]))
            found[variable.name] = (own, variable.label(int(state)))
        return found

    def proba(self, sets: Indices) -> Floats:
        """Class probabilities after sets of changes; zeros for impossible rows."""
        predictor, codes = self.predictor, self.after(sets)
        scores = predictor.joint_log_proba(codes)
        possible = np.isfinite(scores.max(axis=1))
        # Impossible rows are scored as if nothing spoke for any class.
        scores[~possible] = 0.0
        proba = np.exp(calibrated_log_proba(scores, *predictor.calibration(codes)))
        proba[~possible] = 0.0
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
        return row_log_probabilities(self.predictor.model, self.after(sets))

    def worth_alone(self) -> Floats:
        """How far each change alone brings log-odds to any other class, nats."""
        singles = np.arange(len(self.features))[:, None]
        logs = np.log(np.maximum(self.proba(singles), _TINY))
        odds = logs - logs[:, [self.chosen]]
        odds[:, self.chosen] = -np.inf
        return np.asarray(odds.max(axis=1))

    def greedy(self) -> Indices | None:
        """A set that flips it, one best change after the other; None if that fails."""
        chosen, taken = self.chosen, np.empty(0, dtype=np.intp)
        while True:
            free = np.flatnonzero(~np.isin(self.features, self.features[taken]))
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


def changes_text(changes: Changes) -> str:
    """Changes as one sentence."""
    return "; ".join(
        f"{stated(shown_name(name), old)} becomes {new}"
        for name, (old, new) in changes.items()
    )


def changes_cell(changes: Changes) -> str:
    """Changes as a cell of a table."""
    return "; ".join(
        f"{stated(shown_name(name), new)} (not {old})"
        for name, (old, new) in changes.items()
    )


def changes_list(changes: Changes) -> list[dict[str, Any]]:
    """Changes as plain values."""
    return [
        {"feature": name, "from": old, "to": new}
        for name, (old, new) in changes.items()
    ]


def check_counts(**counts: Any) -> None:
    """Raise ValueError unless parameters are integers of at least 1."""
    for name, count in counts.items():
        if not isinstance(count, Integral) or count < 1:
            raise ValueError(f"{name} must be an integer >= 1, got {quoted(count)}")


def check_lists(**lists: Any) -> None:
    """Raise ValueError if the text of one feature is given for a list of features."""
    for name, given in lists.items():
        if isinstance(given, str):
            raise ValueError(
                f"{name} must be a list of features, got the text {quoted(given)}; "
                f"give [{quoted(given)}]"
            )
