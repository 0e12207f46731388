"""Learn what a table's columns mean, and turn tables into codes accordingly."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import NARROW_STATES, Codes
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.labels import sorted_positions
from bayleaf.data.tables.columns import (
    Column,
    Matrix,
    Name,
    NumberColumn,
    ValueColumn,
    iterate_names,
)
from bayleaf.data.tables.matrix import encode_matrix, learn_matrix
from bayleaf.wording import brief, brief_names, name_list

# An integer column with at most this many distinct values is taken as nominal.
MAX_NOMINAL_INTEGERS = 10
# One state is left for missing cells.
_MOST_STATES = Codes.MAX_STATES - 1
MISSING_RULES = ("marginalize", "state", "error")
UNKNOWN_RULES = ("missing", "error")


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


@dataclass(frozen=True)
class EncoderRules:
    """How columns are read.

    Parameters
    ----------
    categorical_features : sequence of str, int or bool, optional
        Columns of numbers that are nominal, by name, position or mask; every other
        column of numbers is then numeric. By default integer columns with at most
        ten distinct values are nominal.
    missing : {"marginalize", "state", "error"}, default="marginalize"
        Whether missing cells are left open, count as a state, or are refused.
    unknown : {"missing", "error"}, default="missing"
        What becomes of values that training did not contain.
    max_states : int, default=1000
        Largest number of states of a nominal column.
    """

    categorical_features: tuple[Name | bool, ...] | None = None
    missing: Literal["marginalize", "state", "error"] = "marginalize"
    unknown: Literal["missing", "error"] = "missing"
    max_states: int = 1000

    def __post_init__(self) -> None:
        if self.max_states < 1:
            raise ValueError(f"max_states must be at least 1, got {self.max_states}")

    def nominal_names(self, names: Sequence[Name]) -> frozenset[Name] | None:
        """Names of the columns declared nominal; None where nothing is declared."""
        declared = self.categorical_features
        if declared is None:
            return None
        if declared and all(isinstance(item, bool | np.bool_) for item in declared):
            if len(declared) != len(names):
                raise ValueError(
                    f"categorical_features is a mask of {len(declared)} entries for "
                    f"{len(names)} columns; give one entry a column"
                )
            return frozenset(n for n, flag in zip(names, declared, strict=True) if flag)
        return frozenset(_named(item, names) for item in declared)


def _named(item: Name, names: Sequence[Name]) -> Name:
    """The column that an entry of `categorical_features` means."""
    if item in names:
        return item
    if isinstance(item, int | np.integer) and 0 <= item < len(names):
        return names[int(item)]
    raise ValueError(
        f"categorical_features names {item!r}, but the columns are {name_list(names)}"
    )


@dataclass(frozen=True)
class TableEncoder:
    """The learned reading of a table: a domain, and the rules for cells outside it.

    Parameters
    ----------
    domain : Domain
        The feature variables, in column order.
    rules : EncoderRules
        How missing and unknown cells are treated.
    notes : dict of name to str
        Remarks on single columns for a reader: what was taken as nominal, what
        carries no information and why.
    unknown_counts : dict of name to int
        How many cells of the table encoded last held values not seen in training.
    """

    domain: Domain
    rules: EncoderRules = EncoderRules()
    notes: dict[Name, str] = field(default_factory=dict, compare=False)
    unknown_counts: dict[Name, int] = field(default_factory=dict, compare=False)

    def transform(self, parts: Matrix | list[Column]) -> Codes:
        """Encode the features of a table.

        Raises
        ------
        ValueError
            If the columns are not those of training, or cells are missing or unknown
            where the rules refuse them.
        """
        self._check_names(tuple(iterate_names(parts)))
        self.unknown_counts.clear()
        if isinstance(parts, Matrix):
            encoded, remaining = encode_matrix(parts, self.domain)
            for j, count in remaining.items():
                if self.rules.unknown == "error":
                    # The long way raises, and names the values.
                    self._encode(self.domain[j], parts.columns()[j])
                self._count_unknown(self.domain[j], count, ())
            parts = parts.columns() if any(e is None for e in encoded) else []
        else:
            encoded = [None] * len(self.domain)
        columns = [
            self._encode(self.domain[j], parts[j]) if codes is None else codes
            for j, codes in enumerate(encoded)
        ]
        return Codes.from_columns(columns, self.domain.cards)

    def _check_names(self, names: tuple[Name, ...]) -> None:
        """Raise unless the columns are those of training, in the same order."""
        expected = self.domain.names
        if names == expected:
            return
        absent = [name for name in expected if name not in set(names)]
        extra = [name for name in names if name not in set(expected)]
        if absent or extra:
            lacking = f"lacks {name_list(absent)}" if absent else ""
            adding = f"has {name_list(extra)}, unknown in training" if extra else ""
            raise ValueError(
                f"the table {' and '.join(filter(None, (lacking, adding)))}; "
                "pass the columns of training"
            )
        raise ValueError(
            "the columns stand in another order than in training; "
            f"select them as {name_list(expected)}"
        )

    def _encode(self, variable: Variable, column: Column) -> NDArray[np.integer[Any]]:
        """Codes of one column."""
        if variable.kind == "numeric":
            codes, is_missing = _interval_codes(variable, column)
        else:
            values = column.distinct() if isinstance(column, NumberColumn) else column
            _check_same_sort(variable, values)
            codes, unknown, strangers = _state_codes(variable, values)
            if unknown:
                self._count_unknown(variable, unknown, strangers)
            is_missing = values.indices < 0
        n_missing = int(np.count_nonzero(is_missing))
        if n_missing and self.rules.missing == "error":
            raise _missing_error(variable.name, is_missing)
        return codes

    def _count_unknown(
        self, variable: Variable, count: int, strangers: Sequence[Hashable]
    ) -> None:
        """Keep the number of unknown cells of a column, or refuse them."""
        if self.rules.unknown == "error":
            which = f" ({name_list(strangers, limit=3)})" if strangers else ""
            raise ValueError(
                f"column {variable.name!r} holds values{which} that training did not "
                "contain; correct them or allow them with unknown='missing'"
            )
        self.unknown_counts[variable.name] = count

    def extended(self, parts: Matrix | list[Column]) -> TableEncoder:
        """The same encoder with the states that another table adds.

        Nominal variables gain states, kept in order; numeric ones keep their cut
        points.
        """
        columns = parts.columns() if isinstance(parts, Matrix) else parts
        self._check_names(tuple(column.name for column in columns))
        variables = tuple(
            self._extended_variable(variable, column)
            for variable, column in zip(self.domain, columns, strict=True)
        )
        if variables == self.domain.variables:
            return self
        return replace(self, domain=Domain(variables))

    def _extended_variable(self, variable: Variable, column: Column) -> Variable:
        """One variable with the states that a column adds."""
        values = column.distinct() if isinstance(column, NumberColumn) else column
        may_gain_missing = (
            self.rules.missing == "state" and not variable.has_missing_state
        )
        gains_missing = may_gain_missing and bool((values.indices < 0).any())
        states = variable.states
        if variable.kind == "nominal":
            _check_same_sort(variable, values)
            known = [state for state in states if state is not None]
            added = [value for value in _used(values) if value not in set(known)]
            states = tuple(_ordered(known + added))
            _check_max_states(variable.name, len(states), self.rules.max_states)
            if variable.has_missing_state:
                states = (*states, None)
        if gains_missing:
            states = (*states, None)
        return replace(variable, states=states)

    def __repr__(self) -> str:
        n_numeric = sum(variable.kind == "numeric" for variable in self.domain)
        kinds = f"{n_numeric} numeric, {len(self.domain) - n_numeric} nominal"
        return brief(self, kinds, brief_names(self.domain.names))


def learn_encoder(
    parts: Matrix | list[Column],
    target: Target,
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
    target : Target
        The class of each row.
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
        The table's codes with the class as the last variable.

    Raises
    ------
    ValueError
        If a column is wholly missing, has too many states, or misses cells where
        the rules refuse that.
    """
    names = tuple(iterate_names(parts))
    nominal = rules.nominal_names(names)
    learner = _Learner(target, weights, discretizer, rules, nominal, allow_empty)
    encoded: list[tuple[Variable, NDArray[np.integer[Any]]] | None]
    encoded = [None] * len(names)
    if isinstance(parts, Matrix):
        encoded = learn_matrix(parts, nominal, MAX_NOMINAL_INTEGERS)
        for variable, _ in filter(None, encoded):
            _check_max_states(variable.name, variable.n_states, rules.max_states)
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
    columns = [codes for _, codes in learned] + [target.codes]
    cards = (*domain.cards, target.variable.n_states)
    codes = Codes.from_columns(columns, cards, weights)
    return TableEncoder(domain, rules, notes), codes


@dataclass(frozen=True)
class _Learner:
    """What learning one column needs to know of the table."""

    target: Target
    weights: NDArray[np.float64]
    discretizer: Discretizer
    rules: EncoderRules
    nominal: frozenset[Name] | None
    allow_empty: bool

    def learn(self, column: Column) -> tuple[Variable, NDArray[np.integer[Any]]]:
        """The variable that a column becomes, and its codes."""
        nominal = self._nominal(column)
        if nominal is not None:
            variable, is_missing = self._nominal_variable(nominal)
            codes = _state_codes(variable, nominal)[0]
        else:
            assert isinstance(column, NumberColumn)
            variable, is_missing = self._numeric_variable(column)
            codes = _interval_codes(variable, column)[0]
        if self.rules.missing == "error" and is_missing.any():
            raise _missing_error(column.name, is_missing)
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
                f"column {name!r} has no value in any training row; drop it, "
                "or count missing cells as a state with missing='state'"
            )
        return as_state and bool(is_missing.any())

    def _nominal_variable(
        self, column: ValueColumn
    ) -> tuple[Variable, NDArray[np.bool_]]:
        """A nominal variable over the values that occur."""
        is_missing = column.indices < 0
        states = _used(column)
        _check_max_states(column.name, len(states), self.rules.max_states)
        if not column.ordered:
            states = _ordered(states)
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
        cuts = self.discretizer.cut_points(
            values, self.target.codes, self.target.variable.n_states, self.weights
        )
        if len(cuts) >= _MOST_STATES:
            raise ValueError(
                f"the discretizer cuts column {column.name!r} at {len(cuts)} points; "
                f"at most {_MOST_STATES - 1} are possible, so choose fewer bins"
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


def _used(column: ValueColumn) -> list[Hashable]:
    """The values that occur in at least one row, in the column's order."""
    # The first place counts the missing cells, whose index is -1.
    counts = np.bincount(column.indices + 1, minlength=len(column.values) + 1)[1:]
    # A table may list one value twice; a dict keeps the first.
    return list(dict.fromkeys(column.values[i] for i in np.flatnonzero(counts)))


def _ordered(values: list[Hashable]) -> list[Hashable]:
    """Values in the order of states."""
    return [values[i] for i in sorted_positions(values)]


def _check_max_states(name: Name, n_states: int, limit: int) -> None:
    """Raise if a nominal column has too many states to be more than an identifier."""
    if n_states > limit:
        raise ValueError(
            f"column {name!r} has {n_states} distinct values, more than "
            f"max_states={limit}, like an identifier; drop it, group its values, "
            "or raise max_states"
        )
    if n_states > _MOST_STATES:
        raise ValueError(
            f"column {name!r} has {n_states} distinct values, but at most "
            f"{_MOST_STATES} are possible; drop it or group its values"
        )


def _check_same_sort(variable: Variable, column: ValueColumn) -> None:
    """Raise if a nominal column turned from text into numbers or back."""
    values = _used(column)
    known = [state for state in variable.states if state is not None]
    if not known or not values:
        return
    was_text = all(isinstance(state, str) for state in known)
    was_numbers = not any(isinstance(state, str) for state in known)
    is_text = all(isinstance(value, str) for value in values)
    is_numbers = not any(isinstance(value, str) for value in values)
    if (was_text and is_numbers) or (was_numbers and is_text):
        was, now = ("text", "numbers") if was_text else ("numbers", "text")
        raise ValueError(
            f"column {variable.name!r} held {was} in training but holds {now} now; "
            f"convert it to {was}"
        )


def _state_codes(
    variable: Variable, column: ValueColumn
) -> tuple[NDArray[np.integer[Any]], int, list[Hashable]]:
    """Codes of a nominal column, number of unknown cells, and the unknown values."""
    absent = variable.n_states - variable.has_missing_state
    index = variable.state_index
    found = [
        index.get(value, -1) if value is not None else -1 for value in column.values
    ]
    # One entry more for the index -1 of a missing cell.
    table = np.array([*found, absent], dtype=np.int64)
    strange = table < 0
    unknown, strangers = 0, []
    if strange.any():
        counts = np.bincount(column.indices[column.indices >= 0], minlength=len(found))
        strangers = [
            column.values[i] for i in np.flatnonzero(strange[:-1] & (counts > 0))
        ]
        unknown = int(counts[strange[:-1]].sum())
        table[strange] = absent
    codes = table.astype(_code_type(variable)).take(column.indices)
    return codes, unknown, strangers


def _code_type(variable: Variable) -> np.dtype[np.unsignedinteger[Any]]:
    """The type that holds all codes of a variable."""
    return np.dtype(np.uint8 if variable.n_states <= NARROW_STATES else np.uint16)


def _interval_codes(
    variable: Variable, column: Column
) -> tuple[NDArray[np.integer[Any]], NDArray[np.bool_]]:
    """Codes of a numeric column, and which cells are missing."""
    cuts, code_type = np.array(variable.cut_points), _code_type(variable)
    if isinstance(column, ValueColumn):
        text = [value for value in _used(column) if isinstance(value, str)]
        if text:
            raise ValueError(
                f"column {variable.name!r} held numbers in training but holds text "
                f"now, such as {text[0]!r}; convert it to numbers"
            )
        numbers = [v if isinstance(v, int | float) else np.nan for v in column.values]
        values = np.array([*numbers, np.nan], dtype=np.float64)[column.indices]
    else:
        values = column.floats()
    is_missing = np.isnan(values)
    places = None
    if isinstance(column, NumberColumn):
        places = column.places_in_range()
    if places is not None:
        every, offsets = places
        intervals = np.searchsorted(cuts, every.astype(np.float64))
        codes = intervals.astype(code_type).take(offsets)
    else:
        codes = np.searchsorted(cuts, values).astype(code_type)
    codes[is_missing] = variable.n_states - variable.has_missing_state
    return codes, is_missing


def _missing_error(name: Name, is_missing: NDArray[np.bool_]) -> ValueError:
    """The error for missing cells where the rules refuse them."""
    return ValueError(
        f"column {name!r} has {np.count_nonzero(is_missing)} missing cells (the first "
        f"in row {int(np.argmax(is_missing))}), such as NaN; fill them or allow them "
        "with missing='marginalize'"
    )


def _note(variable: Variable, integer_as_nominal: bool) -> str:
    """What a reader should know of a column, or nothing."""
    if variable.kind == "numeric" and not variable.cut_points:
        if variable.has_missing_state:
            return "numeric, no cut point found; only missingness carries information"
        return "no cut point found, so it carries no information"
    if variable.n_states == 1:
        return f"constant ({variable.label(0)}), so it carries no information"
    if integer_as_nominal and all(
        isinstance(s, int) for s in variable.states if s is not None
    ):
        n_values = variable.n_states - variable.has_missing_state
        return f"integers, {n_values} values, taken as nominal"
    return ""
