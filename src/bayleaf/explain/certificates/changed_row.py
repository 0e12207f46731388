"""A row after sets of changes, as the model itself sees it, and the search for sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import (
    PartialCodes,
    Rows,
    available_codes,
    cell_label,
    open_states,
    rows_of,
    sets_in,
)
from bayleaf.explain.row_probability import row_log_probabilities
from bayleaf.explain.subject import is_absent
from bayleaf.models.class_model import calibrated_log_proba
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.bounds import worst_changes
from bayleaf.scoring.partial_cases import known_cells
from bayleaf.scoring.terms import ScoringProgram
from bayleaf.wording import quoted, shown_name, stated

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
# Old and new state of each changed feature.
Changes = Mapping[str | int, tuple[str, str]]

# The class of rows that no class makes possible, for which nothing is predicted.
_NONE = -1
_TINY = 1e-300
# Sets that are held at a time.
_BLOCK_ROWS = 1 << 13
# What rounding may add to a sum of costs and to a margin, relative.
_PRICE_ROUNDING = 1e-12
_MARGIN_ROUNDING = 1e-7


@dataclass(frozen=True, eq=False)
class ChangedRow:
    """A row and its single changes; a set (size,) is of positions of changes."""

    predictor: Predictor
    row: Rows
    features: Indices  # Feature of each single change; they do not decrease.
    states: Indices  # New state of each single change.

    @classmethod
    def of(
        cls, predictor: Predictor, row: Rows, states: Mapping[int, Iterable[int]]
    ) -> ChangedRow:
        """A row whose cells may take some states; missing cells stay missing."""
        domain, pairs = predictor.encoder.domain, list[tuple[int, int]]()
        for feature, others in states.items():
            if not is_absent(row, domain, feature)[0]:
                current = open_states(row, 0, feature)
                pairs += [(feature, s) for s in sorted(others) if s not in current]
        return cls(predictor, row, *np.array(pairs, np.intp).reshape(-1, 2).T)

    @cached_property
    def chosen(self) -> int:
        """The class chosen for the row as it is."""
        return int(self.predictor.choose(self.predictor.proba(self.row))[0])

    @cached_property
    def program(self) -> ScoringProgram | None:
        """The terms of such rows.

        None where tables are too large, a cell is a set of states, or where what terms
        count depends on which features are known and changes make some unknown.
        """
        if isinstance(self.row, PartialCodes):
            return None
        try:
            program = self.predictor.model.program
        except (TypeError, ValueError):
            return None
        cards = np.array(program.cards, dtype=np.intp)
        if (self.states < cards[self.features]).all():
            return program.given(known_cells(self.codes, len(cards))[0])
        depends = program.sharing is not None or self.predictor.temperature != 1.0
        return None if depends else program

    @cached_property
    def extra_costs(self) -> Floats:
        """What each other class costs more than the chosen one, by the true class."""
        loss = self.predictor.loss
        if loss is None:
            loss = 1.0 - np.eye(len(self.predictor.classes))
        return np.delete(loss - loss[self.chosen], self.chosen, axis=0)

    @property
    def codes(self) -> Codes:
        """The row, its sets of states missing."""
        return available_codes(self.row)

    def after(self, sets: Indices) -> Rows:
        """Copies of the row, each with one set of changes (n_sets, size)."""
        table = np.repeat(self._cells, len(sets), axis=1)
        is_changed = np.zeros(table.shape, dtype=np.bool_)
        for change in sets.T:
            cells = self.features[change], np.arange(len(sets))
            table[cells], is_changed[cells] = self.states[change], True
        codes = Codes.from_columns(list(table), self.codes.cards)
        partial = sets_in(self.row).repeated(len(sets)).without(is_changed)
        return rows_of(codes, partial, self.predictor.encoder.domain)

    @cached_property
    def _cells(self) -> NDArray[np.uint16]:
        """Codes of the row, shape (n_features, 1)."""
        columns = [self.codes.column(v) for v in range(self.codes.n_variables)]
        return np.array(columns, dtype=np.uint16)

    def named(self, changes: Indices) -> dict[str | int, tuple[str, str]]:
        """Old and new state of each feature that a set of changes changes."""
        found, domain = {}, self.predictor.encoder.domain
        for feature, state in zip(self.features[changes], self.states[changes]):
            variable = domain[int(feature)]
            before = cell_label(self.row, domain, 0, int(feature))
            found[variable.name] = (before, variable.label(int(state)))
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

    def greedy(self, target: int | None = None) -> Indices | None:
        """Equally large sets that flip it, or lead to a class; None if that fails.

        They share all changes but the last, each the best one after the others.
        """
        chosen, taken = self.chosen, np.empty(0, dtype=np.intp)
        targets = np.delete(np.arange(len(self.predictor.classes)), chosen)
        if target is not None:
            targets = np.array([target])
        others = np.setdiff1d(np.arange(len(self.predictor.classes)), targets)
        while True:
            free = np.flatnonzero(~np.isin(self.features, self.features[taken]))
            if not len(free):
                return None
            sets = np.column_stack([np.tile(taken, (len(free), 1)), free])
            proba = self.proba(sets)
            classes = self._classes(proba)
            is_target = np.isin(classes, targets)
            if is_target.any():
                return np.asarray(sets[is_target])
            loss = self.predictor.loss
            costs = -proba if loss is None else proba @ loss.T
            ahead = costs[:, targets].min(axis=1) - costs[:, others].min(axis=1)
            taken = sets[np.argmin(np.where(classes == _NONE, np.inf, ahead))]


class BudgetSpentError(Exception):
    """Sets of a size exceed the budget; all smaller ones have been returned."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the budget is spent on sets of {size} changes")
        self.size = size


@dataclass(eq=False)
class SetSearch:
    """Search for sets of changes, the most promising features first."""

    row: ChangedRow
    budget: int  # Sets that may be looked at before `BudgetSpentError` is raised.
    costs: Floats | None = None  # What each change costs; by default nothing.
    limit: float = np.inf  # Largest cost of a set; it may fall during the search.
    # Least log-odds (n_classes,) against each class before any change, nats; None for
    # models whose terms have no bounds.
    _start: Floats | None = field(init=False)
    _order: Indices = field(init=False)
    _ranks: Indices = field(init=False)
    _prices: Floats = field(init=False)
    # Worst case (n_changes, n_classes) of each change: the log-odds after a set of
    # changes are at least `_start` minus the sum of its gains.
    _gains: Floats = field(init=False)

    def __post_init__(self) -> None:
        features = self.row.features
        self._start, gains = self._bounds()
        if self._start is None:
            worth = self.row.worth_alone()
        else:
            others = np.delete(gains, self.row.chosen, axis=1)
            worth = others.max(axis=1, initial=-np.inf)
        prices = np.zeros(len(features)) if self.costs is None else self.costs
        if self.costs is not None:
            # Changes without worth are ordered by their price as well.
            worth = (worth - worth.min(initial=0.0) + 1.0) / prices
        distinct, places = np.unique(features, return_inverse=True)
        best = np.full(len(distinct), -np.inf)
        np.maximum.at(best, places, worth)
        ranks = np.argsort(np.argsort(-best, kind="stable"))[places]
        self._order = np.lexsort((-worth, ranks))
        self._ranks, self._prices = ranks[self._order], prices[self._order]
        self._gains = gains[self._order]
        self._spent = 0

    def _bounds(self) -> tuple[Floats | None, Floats]:
        """Start and gains of log-odds after calibration, nats."""
        row, program = self.row, self.row.program
        worst = None
        if program is not None:
            worst = worst_changes(
                program, row.codes, row.features, row.states, row.chosen
            )
        if worst is None:
            return None, np.zeros((len(row.features), 0))
        temperatures, shift = row.predictor.calibration(row.codes)
        start, gains = (nats / temperatures[0] for nats in worst)
        if shift is not None:
            shift = shift.reshape(-1)
            start = start + shift[row.chosen] - shift
        return start, gains

    @property
    def bounded(self) -> bool:
        """Whether bounds rule out sets."""
        return self._start is not None

    @property
    def n_features(self) -> int:
        """Features that may change."""
        return int(self._ranks[-1]) + 1 if len(self._ranks) else 0

    def blocks(self, max_changes: int) -> Iterator[Indices]:
        """Blocks (n_sets, size) of sets that bounds do not rule out, smallest first."""
        for size in range(1, min(max_changes, self.n_features) + 1):
            yield from self._of_size(size)

    def _of_size(self, size: int) -> Iterator[Indices]:
        tops = self._tops(self._gains, size)
        if self.costs is None:
            cheapest = np.zeros(tops.shape[:2])
        else:
            cheapest = -self._tops(-self._prices[:, None], size)[:, :, 0]
        none = np.empty((1, 0), dtype=np.intp)
        waiting = [none[self._may_do(none, tops[size], cheapest[size])]]
        step = max(1, _BLOCK_ROWS // max(1, len(self._order)))
        while waiting:
            sets = waiting.pop()
            if len(sets) > step:
                waiting.append(sets[step:])
            left = size - sets.shape[1] - 1
            sets = self._extended(sets[:step], left, size)
            sets = sets[self._may_do(sets, tops[left], cheapest[left])]
            if len(sets) and left:
                waiting.append(sets)
            elif len(sets):
                yield self._order[sets]

    def _extended(self, sets: Indices, left: int, size: int) -> Indices:
        """Sets with one change more; features remain for the changes left."""
        after = self._ranks_after(sets)
        allowed = self._ranks >= after[:, None]
        allowed &= self._ranks < self.n_features - left
        rows, added = np.nonzero(allowed)
        self._spent += len(rows)
        if self._spent > self.budget:
            raise BudgetSpentError(size)
        return np.column_stack([sets[rows], added])

    def _may_do(
        self, sets: Indices, tops: Floats, cheapest: Floats
    ) -> NDArray[np.bool_]:
        """Whether sets may do with the best, and the cheapest, changes left."""
        after = self._ranks_after(sets)
        prices = self._prices[sets].sum(axis=1) + cheapest[after]
        within = np.asarray(prices <= self.limit * (1.0 + _PRICE_ROUNDING))
        if self._start is None:
            return within
        falls = self._gains[sets].sum(axis=1) + tops[after]
        return within & self._may_flip(falls - self._start)

    def _may_flip(self, odds: Floats) -> NDArray[np.bool_]:
        """Whether another class may be chosen, by log-odds against the chosen one."""
        costs, chosen = self.row.extra_costs, self.row.chosen
        ratios = np.exp(np.clip(odds, None, 500.0))
        ratios[:, chosen] = 0.0
        for_others = ratios @ np.clip(-costs, 0.0, None).T
        against = costs[:, chosen] * (1.0 - _MARGIN_ROUNDING)
        return np.asarray((for_others >= against).any(axis=1))

    def _ranks_after(self, sets: Indices) -> Indices:
        """Rank of the first feature that may be added to each set."""
        if not sets.shape[1]:
            return np.zeros(len(sets), dtype=np.intp)
        return self._ranks[sets[:, -1]] + 1

    def _tops(self, values: Floats, size: int) -> Floats:
        """Sums of the largest values of distinct features from a rank on.

        Shape (size + 1, n_features + 1, n_columns), each column by itself.
        """
        tops = np.zeros((size + 1, self.n_features + 1, values.shape[1]))
        best = np.zeros((0, values.shape[1]))
        for rank in range(self.n_features - 1, -1, -1):
            own = values[self._ranks == rank].max(axis=0, keepdims=True)
            best = -np.sort(-np.concatenate([best, own]), axis=0)[:size]
            tops[1 : 1 + len(best), rank] = np.cumsum(best, axis=0)
        return tops


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
