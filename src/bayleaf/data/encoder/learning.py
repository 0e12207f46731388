"""Learn what a table's columns mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.encoder.cells import (
    MOST_STATES,
    check_max_states,
    interval_codes,
    missing_error,
    ordered_values,
    state_codes,
    used_values,
)
from bayleaf.data.encoder.rules import EncoderRules
from bayleaf.data.encoder.table_encoder import TableEncoder
from bayleaf.data.tables.columns import (
    Column,
    Matrix,
    Name,
    NumberColumn,
    ValueColumn,
    iterate_names,
)
from bayleaf.data.tables.matrix import LearnedColumn, learn_matrix
from bayleaf.wording import quoted

# An integer column with at most this many distinct values is taken as nominal.
MAX_NOMINAL_INTEGERS = 10


class Discretizer(Protocol):
    """What the encoder asks of a discretiser."""

    def cut_points(
        self,
        values: NDArray[np.float64],
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64],
    ) -> tuple[float, ...]:
        """Increasing thresholds for one column; NaN marks missing cells."""
        ...


@dataclass(frozen=True)
class Target:
    """The class variable of a training table.

    Parameters
    ----------
    variable : Variable
        Name and states of the class.
    codes : ndarray of shape (n_rows,), dtype intp
        Class of each row; never missing.
    """

    variable: Variable
    codes: NDArray[np.intp]


def learn_encoder(
    parts: Matrix | list[Column],
    target: Target | None,
    weights: NDArray[np.float64],
    discretizer: Discretizer,
    rules: EncoderRules,
    *,
    allow_empty: bool = False,
) -> tuple[TableEncoder, Codes]:
    """Learn the domain of a training table and encode it.

    Parameters
    ----------
    parts : Matrix or list of Column
        The features. Rows of weight zero must have been removed.
    target : Target or None
        The class of each row; None where no variable is a class.
    weights : ndarray of shape (n_rows,), dtype float64
        Positive row weights.
    discretizer : Discretizer
        Finds the cut points of numeric columns.
    rules : EncoderRules
        How columns are read.
    allow_empty : bool, default=False
        Whether a column may be wholly missing, as in a first batch.

    Returns
    -------
    encoder : TableEncoder
        What was learned.
    codes : Codes
        The table's codes; a class is the last variable.

    Raises
    ------
    ValueError
        If a column is wholly missing, has too many states, or misses cells where
        the rules refuse that.
    """
    names = tuple(iterate_names(parts))
    nominal = rules.nominal_names(names)
    learner = _Learner(target, weights, discretizer, rules, nominal, allow_empty)
    encoded: list[LearnedColumn | None] = [None] * len(names)
    if isinstance(parts, Matrix):
        encoded = learn_matrix(parts, nominal, MAX_NOMINAL_INTEGERS)
        for variable, _ in filter(None, encoded):
            check_max_states(variable.name, variable.n_states, rules.max_states)
        parts = parts.columns() if any(e is None for e in encoded) else []
    notes: dict[Name, str] = {}
    learned = [
        learner.learn(parts[j]) if done is None else done
        for j, done in enumerate(encoded)
    ]
    domain = Domain(tuple(variable for variable, _ in learned))
    for j, variable in enumerate(domain):
        integers = encoded[j] is not None or isinstance(parts[j], NumberColumn)
        note = _note(variable, integers and nominal is None)
        if note:
            notes[variable.name] = note
    columns, cards = [codes for _, codes in learned], list(domain.cards)
    if target is not None:
        columns.append(target.codes)
        cards.append(target.variable.n_states)
    codes = Codes.from_columns(columns, cards, weights)
    return TableEncoder(domain, rules, notes), codes


@dataclass(frozen=True)
class _Learner:
    """What learning one column needs to know of the table."""

    target: Target | None
    weights: NDArray[np.float64]
    discretizer: Discretizer
    rules: EncoderRules
    nominal: frozenset[Name] | None
    allow_empty: bool

    def learn(self, column: Column) -> LearnedColumn:
        """The variable that a column becomes, and its codes."""
        nominal = self._nominal(column)
        if nominal is not None:
            variable, is_missing = self._nominal_variable(nominal)
            codes = state_codes(variable, nominal)[0]
        else:
            assert isinstance(column, NumberColumn)
            variable, is_missing = self._numeric_variable(column)
            codes = interval_codes(variable, column)[0]
        if self.rules.missing == "error" and is_missing.any():
            raise missing_error(column.name, is_missing)
        return variable, codes

    def _nominal(self, column: Column) -> ValueColumn | None:
        """The column as distinct values if it is nominal, else None."""
        if isinstance(column, ValueColumn):
            return column
        if self.nominal is not None:
            return column.distinct() if column.name in self.nominal else None
        if not column.is_integer or _many_distinct(column):
            return None
        distinct = column.distinct()
        return distinct if len(distinct.values) <= MAX_NOMINAL_INTEGERS else None

    def _has_missing_state(self, name: Name, is_missing: NDArray[np.bool_]) -> bool:
        """Whether missing cells become a state; refuses a wholly missing column."""
        as_state = self.rules.missing == "state"
        if is_missing.all() and not (as_state or self.allow_empty):
            raise ValueError(
                f"column {quoted(name)} has no value in any training row; drop it, "
                "or count missing cells as a state with missing='state'"
            )
        return as_state and bool(is_missing.any())

    def _nominal_variable(
        self, column: ValueColumn
    ) -> tuple[Variable, NDArray[np.bool_]]:
        """A nominal variable over the values that occur."""
        is_missing = column.indices < 0
        states = used_values(column)
        check_max_states(column.name, len(states), self.rules.max_states)
        if not column.ordered:
            states = ordered_values(states)
        if self._has_missing_state(column.name, is_missing):
            states = [*states, None]
        return Variable(column.name, tuple(states)), is_missing

    def _numeric_variable(
        self, column: NumberColumn
    ) -> tuple[Variable, NDArray[np.bool_]]:
        """A numeric variable over the intervals that the discretiser finds."""
        values = column.floats()
        is_missing = np.isnan(values)
        missing_state = self._has_missing_state(column.name, is_missing)
        classes, n_classes = np.zeros(len(values), dtype=np.intp), 1
        if self.target is not None:
            classes, n_classes = self.target.codes, self.target.variable.n_states
        cuts = self.discretizer.cut_points(values, classes, n_classes, self.weights)
        if len(cuts) >= MOST_STATES:
            raise ValueError(
                f"the discretizer cuts column {quoted(column.name)} at {len(cuts)} "
                f"points; at most {MOST_STATES - 1} are possible, so choose fewer bins"
            )
        return numeric_variable(
            column.name, cuts, missing_state=missing_state
        ), is_missing


def _many_distinct(column: NumberColumn) -> bool:
    """Whether a few rows show already that a column is no nominal one."""
    head = column.values[:1000]
    if column.missing is not None:
        head = head[~column.missing[:1000]]
    return len(np.unique(head)) > MAX_NOMINAL_INTEGERS


def _note(variable: Variable, integer_as_nominal: bool) -> str:
    """What a reader should know of a column, or nothing."""
    if variable.kind == "numeric" and not variable.cut_points:
        if variable.has_missing_state:
            return "numeric, no cut point found; only missingness carries information"
        return "no cut point found, so it carries no information"
    if variable.n_states == 1:
        return f"constant ({variable.label(0)}), so it carries no information"
    if integer_as_nominal and all(isinstance(s, int) for s in variable.known_states):
        return f"integers, {variable.n_known_states} values, taken as nominal"
    return ""
