"""Learn what a table's columns mean."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import (
    EXACT,
    MAX_NOMINAL_NUMBERS,
    ColumnReading,
    EncoderRules,
    Form,
    Read,
    distinct_text,
    learn_reading,
    many_distinct,
)
from bayleaf.data.domain import Domain, Variable, numeric_variable, ordered_variable
from bayleaf.data.fitted_hierarchies import (
    fit_hierarchy,
    has_range_leaves,
    range_cut_points,
)
from bayleaf.data.interval_numbers import IntervalNumbers, weight_by_value
from bayleaf.data.memory import check_memory
from bayleaf.data.partial_values import (
    Hierarchies,
    PartialValues,
    available_codes,
    put_groups_back,
    take_groups_out,
)
from bayleaf.data.reading_plan import ReadingPlan
from bayleaf.data.table_encoder import (
    MOST_STATES,
    TableEncoder,
    check_max_states,
    interval_codes,
    missing_error,
    most_frequent,
    ordered_values,
    state_codes,
    used_values,
)
from bayleaf.data.tables.columns import (
    Column,
    Matrix,
    Name,
    NumberColumn,
    PlainColumn,
    ValueColumn,
    iterate_names,
    n_cells,
)
from bayleaf.data.tables.matrix import LearnedColumn, learn_matrix
from bayleaf.data.text_forms import (
    TextDecision,
    decide,
    evidence_of,
    file_signs,
    without_texts,
)
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.wording import counted, name_list, quoted

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
# A nominal column is an identifier where more than this share of its present values
# are distinct, from some number of rows on.
IDENTIFIER_SHARE, LEAST_ROWS = 0.9, 30
OTHER_VALUES = "other values"
# Names of columns of dates.
_DATE = re.compile(
    r"(?<![^\W_])(?:date|datum|fecha|dato|dob|дата)(?![^\W_])|日付", re.IGNORECASE
)
# A nominal column may be a key where more than this share of its present values are
# distinct; integers that count fewer rows than these may be anything.
KEY_SHARE, FEWEST_NUMBERED = 0.5, 30


class Discretizer(Protocol):
    """What the encoder asks of a discretiser."""

    def cut_points(
        self,
        values: Floats,
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: Floats,
    ) -> tuple[float, ...]:
        """Increasing thresholds for one column; NaN marks missing cells."""
        ...


@dataclass(frozen=True)
class Target:
    """The class variable of a training table."""

    variable: Variable
    codes: NDArray[np.intp]  # (n_rows,), never missing


def learn_encoder(
    parts: Matrix | list[Column],
    target: Target | None,
    weights: Floats,
    discretizer: Discretizer,
    rules: EncoderRules,
    *,
    allow_empty: bool = False,
    hierarchies: Hierarchies = MappingProxyType({}),
) -> tuple[TableEncoder, Codes]:
    """Learn the domain of a training table and encode it; a class is the last variable.

    Rows of weight zero must have been removed. `allow_empty` permits wholly missing
    columns, as in a first batch; texts of columns with `hierarchies` are not parsed, as
    those that name groups. ValueError if a column is wholly missing, or has too many
    states, is an identifier or misses cells where the rules refuse that; or if none is
    left.
    """
    names = tuple(iterate_names(parts))
    check_memory(
        float(len(names) + 1) * len(weights),
        f"the codes of {len(weights):,} rows and {len(names):,} columns",
        "learn from fewer rows or columns",
    )
    nominal = rules.nominal_names(names)
    learner = ColumnLearner(
        target, weights, discretizer, rules, nominal, allow_empty, hierarchies
    )
    room = None
    is_planned = rules.plan is not None and rules.plan.columns
    if isinstance(parts, Matrix) and not is_planned and not hierarchies:
        learned, room = learner.learn_whole(parts)
    else:
        given = parts.columns() if isinstance(parts, Matrix) else parts
        columns = [without_texts(column, rules.missing_texts) for column in given]
        decisions = decided_texts(columns, hierarchies, rules)
        learned = [
            learner.learn(
                one, as_is=one.name in hierarchies, decision=decisions.get(one.name)
            )
            for one in columns
        ]
    encoder = encoder_of(learned, rules, names)
    coded = [codes for one in learned for _, codes in one.variables]
    cards = list(encoder.domain.cards)
    if target is not None:
        coded.append(target.codes)
        cards.append(target.variable.n_states)
    return encoder, Codes.from_columns(coded, cards, weights, room=room)


def learn_rows(
    parts: Matrix | list[Column],
    target: Target | None,
    weights: Floats,
    discretizer: Discretizer,
    rules: EncoderRules,
    hierarchies: Hierarchies,
    *,
    allow_empty: bool = False,
) -> tuple[TableEncoder, Codes, PartialValues]:
    """Learn and encode a training table whose cells may name groups of `hierarchies`.

    Such cells are missing in the codes, and what they may be is returned with them.
    Otherwise as `learn_encoder`. ValueError also if a hierarchy does not fit its
    column, or the column is left out.
    """
    plain, groups = take_groups_out(parts, hierarchies)
    encoder, codes = learn_encoder(
        plain,
        target,
        weights,
        discretizer,
        rules,
        allow_empty=allow_empty,
        hierarchies=hierarchies,
    )
    if not hierarchies:
        return encoder, codes, PartialValues.none()
    encoder = with_value_hierarchies(encoder, hierarchies)
    columns = available_codes(encoder.transform(plain).rows)
    if target is not None:
        columns = columns.with_column(target.codes, target.variable.n_states)
    codes = replace(columns, weights=codes.weights, unit_weights=codes.unit_weights)
    return encoder, *put_groups_back(codes, encoder.domain, hierarchies, groups)


def with_value_hierarchies(
    encoder: TableEncoder, hierarchies: Mapping[Name, ValueHierarchy]
) -> TableEncoder:
    """An encoder whose variables have hierarchies, fitted to their states.

    Numeric columns with range leaves are cut where the ranges end, unless declared
    nominal; encode the training table again, since cut points may differ. ValueError as
    in `fit_hierarchy` and `range_cut_points`, or if a column is not a variable.
    """
    for name in hierarchies:
        if name not in encoder.domain.names:
            raise ValueError(
                f"column {quoted(name)} has a value hierarchy, but is left out or "
                "split into parts, so that no cell of it is a state; take it out of "
                "hierarchies, or keep the column, as identifiers='keep' does"
            )
    nominal = encoder.rules.nominal_names(encoder.domain.names) or frozenset()
    variables, notes = [], dict(encoder.notes)
    for variable in encoder.domain:
        tree = hierarchies.get(variable.name)
        if tree is not None:
            is_number = variable.kind == "numeric" or not any(
                isinstance(state, str | bool) for state in variable.known_states
            )
            if is_number and variable.name not in nominal and has_range_leaves(tree):
                notes.pop(variable.name, None)
                cuts = range_cut_points(tree)
                numbers = variable.numbers if variable.cut_points == cuts else None
                variable = numeric_variable(
                    variable.name, cuts, missing_state=variable.has_missing_state
                )
                variable = replace(variable, numbers=numbers)
            variable = replace(variable, hierarchy=fit_hierarchy(tree, variable))
        variables.append(variable)
    return replace(
        encoder,
        domain=Domain(tuple(variables)),
        notes=notes,
        hierarchies=dict(hierarchies),
    )


def decided_texts(
    columns: Sequence[Column],
    as_is: Collection[Name],
    rules: EncoderRules,
    names: Iterable[Name] | None = None,
) -> dict[Name, TextDecision]:
    """How the columns of texts are read, but for those that stay `as_is`.

    What is ambiguous in a column is decided by the plan, or by other columns. `names`
    are those of all columns of the table, by default of these.
    """
    plan = rules.plan or ReadingPlan()
    planned = plan.decisions(names or [column.name for column in columns])
    evidence = {
        column.name: evidence_of(column)
        for column in columns
        if isinstance(column, ValueColumn)
        and column.is_text
        and column.name not in as_is
        and (column.name not in planned or _lacks_zone(planned[column.name]))
        and rules.order_of(column.name) is None
    }
    signs = file_signs(evidence.values(), plan.signs)
    decisions = {name: decide(cells, signs) for name, cells in evidence.items()}
    for name, decision in decisions.items():
        if name in planned:
            form = replace(planned[name].form, zone=decision.form.zone)
            decisions[name] = TextDecision(form)
    return planned | decisions


def _lacks_zone(decision: TextDecision) -> bool:
    """Whether a plan leaves open the time zone of a column of dates."""
    return decision.form.kind == "date" and decision.form.zone is None


@dataclass(frozen=True)
class ColumnLearner:
    """Target, weights and rules for learning one column."""

    target: Target | None  # None where no variable is a class
    weights: Floats  # (n_rows,), positive
    discretizer: Discretizer
    rules: EncoderRules
    nominal: frozenset[Name] | None  # None where nothing is declared
    allow_empty: bool  # a column may be wholly missing
    hierarchies: Hierarchies
    is_decided: bool = False  # a plan decides how columns are used

    def learn_whole(
        self, matrix: Matrix
    ) -> tuple[list[LearnedVariables], NDArray[np.uint8]]:
        """The columns of a matrix of integers, most of them in one pass."""
        short, room = learn_matrix(matrix, self.nominal, MAX_NOMINAL_NUMBERS)
        columns = matrix.columns() if any(one is None for one in short) else []
        learned = []
        for place, done in enumerate(short):
            if done is None:
                learned.append(self.learn(columns[place]))
                continue
            variable, codes = done
            form: Form = "truths" if matrix.is_truth else "numbers"
            if self.nominal is not None or variable.n_states > self.rules.max_states:
                states = list(variable.states)
                own = ValueColumn(variable.name, codes.astype(np.int32), states)
                learned.append(self.learn(own, form=form))
                continue
            reading = ColumnReading(variable.name, form, variable.n_states)
            note = _note(variable, integer_as_nominal=not matrix.is_truth)
            notes = {variable.name: note} if note else {}
            learned.append(LearnedVariables(reading, [done], notes))
        return learned, room

    def learn(
        self,
        column: Column,
        *,
        as_is: bool = False,
        form: Form | None = None,
        decision: TextDecision | None = None,
    ) -> LearnedVariables:
        """The variables that a column becomes, and their codes."""
        planned = None if decision is None else decision.form
        use = None if planned is None else planned.use
        if planned is not None and planned.is_decided and not self.is_decided:
            # In a fold, such a column may be empty.
            learner = replace(self, allow_empty=True, is_decided=True)
            return learner.learn(column, as_is=as_is, form=form, decision=decision)
        declared = self.nominal is not None and column.name in self.nominal
        read = learn_reading(
            column, self.rules, nominal=declared, as_is=as_is, decision=decision
        )
        reading = read.reading if form is None else replace(read.reading, form=form)
        if use == "left_out":
            return left_out(reading, "left out, as the plan has it")
        declared |= use is not None
        counts_rows = are_row_numbers(read.columns)
        if counts_rows and _is_unnamed(column.name) and not declared:
            reading = replace(reading, n_distinct=column.n_rows)
            return left_out(reading, "left out: it has no name and counts the rows")
        is_empty = all(map(_is_missing, read.columns))
        if is_empty and not self.allow_empty and self.rules.missing == "marginalize":
            return left_out(reading, "left out: it has no value in any training row")
        found, notes = [], {}
        for plain in read.columns:
            own = self._nominal(plain, read, use)
            is_whole = len(read.columns) == 1
            is_open = use is None and is_whole
            if own is not None and is_open and self._is_identifier(own):
                return left_out(replace(reading, n_distinct=len(used_values(own))))
            variable, codes, n_distinct = self._variable(plain, own, read)
            if is_whole or plain.name == read.numeric:
                reading = replace(reading, n_distinct=n_distinct)
            numbers = isinstance(plain, NumberColumn) and self.nominal is None
            remark = _note(variable, integer_as_nominal=numbers)
            if self.rules.identifiers == "keep" or declared:
                key = ""
            elif counts_rows:
                key = "counts the rows; leave it out if it is their number"
            else:
                key = self._remark_on_keys(plain, own, reading)
            target = self._remark_on_target(variable, codes)
            note = "; ".join(filter(None, (read.note, remark, key, target)))
            if variable.other_state is not None and own is not None:
                grouped = (
                    f"{len(used_values(own))} values, the rarest of which share the "
                    f"state {quoted(variable.other_state)}"
                )
                reading = replace(reading, changes=(*reading.changes, grouped))
                note = grouped
            if note:
                notes[variable.name] = note
            found.append((variable, codes))
        return LearnedVariables(reading, found, notes)

    def _remark_on_keys(
        self, plain: PlainColumn, own: ValueColumn | None, reading: ColumnReading
    ) -> str:
        """A remark on a column that may name rows, as keys of tables do."""
        if own is None:
            if not isinstance(plain, NumberColumn):
                return ""
            if reading.form == "numbers" and (outlier := _missing_number(plain)):
                return outlier
            if not plain.is_integer:
                return ""
            if _are_like_dates(plain):
                return (
                    "eight digits as in dates; a plan with the kind date and the order "
                    "ymd reads them so"
                )
            if _are_like_days_of_excel(plain):
                return (
                    "numbers as Excel stores dates; give the cells a format of dates "
                    "before the table is saved"
                )
            n_present = n_cells(plain, np.ones(plain.n_rows, bool)) - reading.n_missing
            all_differ = LEAST_ROWS <= n_present == reading.n_distinct
            remark = "no integer occurs twice, as in a key; leave it out if it is one"
            return remark if all_differ and reading.form == "numbers" else ""
        weight = float(self.weights[own.indices >= 0].sum())
        n_distinct = len(used_values(own))
        if weight < LEAST_ROWS or n_distinct <= KEY_SHARE * weight:
            return ""
        return (
            f"{n_distinct:,} values in {weight:,.6g} cells, as in a key; leave it "
            "out if it is one"
        )

    def _remark_on_target(self, variable: Variable, codes: Any) -> str:
        """A remark on a column with one class in each of its states."""
        if self.target is None or variable.n_states > MAX_NOMINAL_NUMBERS:
            return ""
        n_classes = self.target.variable.n_states
        if len(codes) < LEAST_ROWS or n_classes < 2:
            return ""
        shape = variable.n_states + 1, n_classes
        # Most columns differ from such ones within a few rows.
        for rows in (slice(1000), slice(None)):
            keys = codes[rows].astype(np.int64) * n_classes + self.target.codes[rows]
            table = np.bincount(keys, minlength=shape[0] * n_classes).reshape(shape) > 0
            if (table.sum(axis=1) > 1).any():
                return ""
        if table.any(axis=1).sum() < 2:
            return ""
        return (
            f"determines {quoted(self.target.variable.name)} in all training rows; "
            "leave it out if it is known only afterwards"
        )

    def _variable(
        self, plain: PlainColumn, own: ValueColumn | None, read: Read
    ) -> tuple[Variable, Any, int]:
        """The variable that a plain column becomes, its codes, and distinct values."""
        if read.reading.form == "ordered":
            assert isinstance(plain, ValueColumn)
            variable, is_missing, n_distinct = self._ordered_variable(plain)
            codes = state_codes(variable, plain)[0]
        elif own is not None:
            variable, is_missing, n_distinct = self._nominal_variable(own)
            codes = state_codes(variable, own)[0]
        else:
            assert isinstance(plain, NumberColumn)
            variable, is_missing, n_distinct = self._numeric_variable(plain)
            codes = interval_codes(variable, plain)[0]
        if self.rules.missing == "error" and is_missing.any():
            raise missing_error(plain.name, is_missing)
        return variable, codes, n_distinct

    def _nominal(
        self, column: PlainColumn, read: Read, use: str | None
    ) -> ValueColumn | None:
        """The column as distinct values if it is nominal, else None."""
        if read.reading.form == "ordered" or column.name == read.numeric:
            return None
        if isinstance(column, ValueColumn):
            return column
        if use is not None:
            return column.distinct() if use == "nominal" else None
        if read.reading.n_distinct == 0 and not self.allow_empty:
            # Whatever it holds later is unknown, as nothing of it was ever seen.
            return column.distinct()
        if self._given_cut_points(column.name) is not None:
            return None
        if self.nominal is not None and read.reading.form == "numbers":
            return column.distinct() if column.name in self.nominal else None
        is_part = read.reading.form != "numbers"
        if not column.is_integer or (
            many_distinct(column)
            if is_part
            else read.reading.n_distinct > MAX_NOMINAL_NUMBERS
        ):
            return None
        distinct = column.distinct()
        return distinct if len(distinct.values) <= MAX_NOMINAL_NUMBERS else None

    def _given_cut_points(self, name: Name) -> Sequence[float] | None:
        """Where the ranges of a column's hierarchy cut its numbers, if they do."""
        tree = self.hierarchies.get(name)
        is_nominal = self.nominal is not None and name in self.nominal
        if tree is None or is_nominal or not has_range_leaves(tree):
            return None
        return range_cut_points(tree)

    def _is_identifier(self, column: ValueColumn) -> bool:
        """Whether nearly every row of a nominal column has a value of its own."""
        # With fewer values there cannot be as many rows as it takes.
        few = len(column.values) < IDENTIFIER_SHARE * LEAST_ROWS
        if few or self.rules.identifiers == "keep":
            return False
        n_present = float(self.weights[column.indices >= 0].sum())
        n_distinct = len(used_values(column))
        if n_present < LEAST_ROWS or n_distinct <= IDENTIFIER_SHARE * n_present:
            return False
        if self.rules.identifiers == "error":
            raise ValueError(
                f"column {quoted(column.name)} looks like an identifier "
                f"({n_distinct} distinct values in {n_present:.6g} rows); leave it "
                "out, or keep it with identifiers='keep'"
            )
        return True

    def _has_missing_state(self, name: Name, is_missing: Mask) -> bool:
        """Whether missing cells become a state; refuses a wholly missing column."""
        as_state = self.rules.missing == "state"
        if is_missing.all() and not (as_state or self.allow_empty):
            raise ValueError(
                f"column {quoted(name)} has no value in any training row; drop it, "
                "or count missing cells as a state with missing='state'"
            )
        return as_state and bool(is_missing.any())

    def _nominal_variable(self, column: ValueColumn) -> tuple[Variable, Mask, int]:
        """A nominal variable over the values that occur."""
        is_missing = column.indices < 0
        states = used_values(column)
        n_distinct = len(states)
        other = None
        limit = min(self.rules.max_states, MOST_STATES)
        if len(states) > limit and self.rules.rare == "group":
            states = most_frequent(column, self.weights, limit - 1)
            other = OTHER_VALUES
            states = [value for value in states if value != other]
        check_max_states(column.name, len(states), self.rules.max_states)
        if not column.ordered:
            states = ordered_values(states)
        if not states and self.is_decided:
            # No classifier learns from a variable without a state.
            other = OTHER_VALUES
        if other is not None:
            states = [*states, other]
        if self._has_missing_state(column.name, is_missing):
            states = [*states, None]
        variable = Variable(column.name, tuple(states), other_state=other)
        return variable, is_missing, n_distinct

    def _ordered_variable(self, column: ValueColumn) -> tuple[Variable, Mask, int]:
        """A variable of ordered categories, cut by their ranks.

        Categories that a table declares, as bins are, stay apart where they occur.
        """
        ranks = column.indices.astype(np.float64)
        missing = column.indices < 0
        numbers = NumberColumn(column.name, ranks, missing if missing.any() else None)
        cut, is_missing, n_distinct = self._numeric_variable(numbers)
        cuts = set(cut.cut_points)
        if self.rules.order_of(column.name) is None:
            used = np.flatnonzero(np.bincount(column.indices[~missing]))
            if len(used) <= self.rules.max_states:
                cuts |= {rank + 0.5 for rank in used[:-1].tolist()}
        variable = ordered_variable(
            column.name,
            column.values,
            sorted(cuts),
            missing_state=cut.has_missing_state,
        )
        return variable, is_missing, n_distinct

    def _numeric_variable(self, column: NumberColumn) -> tuple[Variable, Mask, int]:
        """A numeric variable over the intervals that the discretiser finds."""
        values = column.floats()
        is_missing = np.isnan(values)
        missing_state = self._has_missing_state(column.name, is_missing)
        classes, n_classes = np.zeros(len(values), dtype=np.intp), 1
        if self.target is not None:
            classes, n_classes = self.target.codes, self.target.variable.n_states
        cuts = self._given_cut_points(column.name)
        if cuts is None:
            cuts = self.discretizer.cut_points(values, classes, n_classes, self.weights)
        if len(cuts) >= MOST_STATES:
            raise ValueError(
                f"the discretizer cuts column {quoted(column.name)} at {len(cuts)} "
                f"points; at most {MOST_STATES - 1} are possible, so choose fewer bins"
            )
        variable = numeric_variable(column.name, cuts, missing_state=missing_state)
        present, weights = values, self.weights
        if is_missing.any():
            present, weights = values[~is_missing], weights[~is_missing]
        distinct, totals = weight_by_value(present, weights)
        numbers = IntervalNumbers.of_distinct(distinct, totals, variable.cut_points)
        n_distinct = len(distinct)
        if column.is_integer and np.abs(distinct).max(initial=0.0) >= EXACT:
            # Integers that floats cannot hold, as keys may be.
            n_distinct = len(np.unique(column.values[~is_missing]))
        return replace(variable, numbers=numbers), is_missing, n_distinct


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


class NoCuts:
    """A discretiser that finds no cut points."""

    def cut_points(self, *_: Any) -> tuple[float, ...]:
        """None at all."""
        return ()


def learn_plan(
    parts: Matrix | list[Column], weights: Floats, rules: EncoderRules
) -> ReadingPlan:
    """How the columns of a whole table are read and used, for fits to some of its rows.

    It depends on no labels, and has no cut points. ValueError or TypeError if a column
    cannot be used.
    """
    encoder, _ = learn_encoder(parts, None, weights, NoCuts(), rules, allow_empty=True)
    return encoder.plan


class LearnedVariables(NamedTuple):
    """A column's reading, the variables that came of it, and notes on these."""

    reading: ColumnReading
    variables: list[LearnedColumn]
    notes: dict[Name, str]


def are_row_numbers(columns: Sequence[PlainColumn]) -> bool:
    """Whether the columns are one of integers that count the rows, from 0 or 1."""
    if len(columns) != 1 or not isinstance(columns[0], NumberColumn):
        return False
    numbers = columns[0].values
    n_rows = len(numbers)
    if not columns[0].is_integer or columns[0].missing is not None:
        return False
    if n_rows < FEWEST_NUMBERED or numbers.min() not in (0, 1):
        return False
    if int(numbers.max()) - int(numbers.min()) != n_rows - 1:
        return False
    repeats = columns[0].repeats
    if repeats is not None and (repeats.counts > 1).any():
        return False
    return bool(np.bincount(numbers - numbers.min()).max() == 1)


def _is_unnamed(name: Name) -> bool:
    """Whether a column has no name in its file, or the one that pandas gives it."""
    return isinstance(name, str) and re.fullmatch(r"(Unnamed: \d+)?", name) is not None


def _missing_number(column: NumberColumn) -> str:
    """A remark on a number of nines that is far from all others, as for missing cells.

    Such is 999 where ages end at 90: farther from them than they are from each other.
    """
    values = column.present()
    for nines in map(float, (values.min(), values.max()) if len(values) else ()):
        if abs(nines) >= 99 and re.fullmatch(r"-?9+", f"{nines:.15g}"):
            others = values[values != nines]
            ends = [float(others.min()), float(others.max())] if len(others) else []
            if ends and max(ends[0] - nines, nines - ends[1]) > ends[1] - ends[0]:
                cells = counted(n_cells(column, column.floats() == nines), "cell")
                return (
                    f"{nines:.15g} in {cells} is far from all other numbers; make such "
                    "cells missing if they are"
                )
    return ""


def _are_like_days_of_excel(column: NumberColumn) -> bool:
    """Whether integers of a column called a date may count days from 1900 on."""
    numbers = column.present()
    is_date = _DATE.search(str(column.name)) and len(numbers) > 0
    return bool(is_date and numbers.min() >= 20_000 and numbers.max() <= 60_000)


def _are_like_dates(column: NumberColumn) -> bool:
    """Whether all integers are dates written as year, month and day, as 20201231."""
    numbers = column.present()
    years, months, days = numbers // 10_000, numbers // 100 % 100, numbers % 100
    in_range = [(years, 1800, 2099), (months, 1, 12), (days, 1, 31)]
    return len(numbers) > 0 and all(
        part.min() >= low and part.max() <= high for part, low, high in in_range
    )


def _is_missing(column: PlainColumn) -> bool:
    """Whether all cells of a column are missing."""
    if isinstance(column, ValueColumn):
        return bool((column.indices < 0).all())
    return column.missing is not None and bool(column.missing.all())


def left_out(reading: ColumnReading, why: str = "") -> LearnedVariables:
    """What becomes of an identifier, or an empty column."""
    why = why or (
        f"left out: almost all values are distinct ({distinct_text(reading)}), "
        "as in an identifier"
    )
    reading = replace(reading, form="left_out", changes=(*reading.changes, why))
    return LearnedVariables(reading, [], {reading.name: why})


def encoder_of(
    learned: Sequence[LearnedVariables], rules: EncoderRules, names: Sequence[Name]
) -> TableEncoder:
    """The encoder of learned columns.

    ValueError if no column is left, or two variables share a name.
    """
    if not any(one.variables for one in learned):
        raise ValueError(
            "no column is left to learn from, since almost all values are distinct, "
            f"or none is present, in {name_list(names)}; add features, or pass "
            "identifiers='keep'"
        )
    domain = Domain(tuple(v for one in learned for v, _ in one.variables))
    notes = {name: note for one in learned for name, note in one.notes.items()}
    return TableEncoder(domain, rules, notes, tuple(one.reading for one in learned))
