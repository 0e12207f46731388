"""Turn tables into codes as training learned to read them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.class_labels import sorted_positions
from bayleaf.data.codes import NARROW_STATES, Codes
from bayleaf.data.column_reading import CellError, ColumnReading, EncoderRules
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.fitted_hierarchies import with_hierarchies
from bayleaf.data.partial_values import (
    Hierarchies,
    Rows,
    available_codes,
    put_groups_back,
    rows_of,
    sets_in,
    single_states,
    take_groups_out,
)
from bayleaf.data.reading_plan import ReadingPlan
from bayleaf.data.tables.columns import (
    Column,
    Matrix,
    Name,
    NumberColumn,
    PlainColumn,
    ValueColumn,
    cell_of,
    iterate_names,
)
from bayleaf.data.tables.matrix import ColumnCodes, EncodedColumn, encode_matrix
from bayleaf.data.tables.named_rows import columns_as_named
from bayleaf.data.text_forms import (
    TextForm,
    labels_by_text,
    read_numbers,
    spelled_column,
    without_texts,
)
from bayleaf.data.unknown_cells import UnknownCells
from bayleaf.typing import RowNotes
from bayleaf.wording import brief, brief_names, name_list, quoted

# One state is left for missing cells.
MOST_STATES = Codes.MAX_STATES - 1


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table as codes of its features, and what was unknown in it."""

    rows: Rows
    # By column, where any; among these are texts that spell no date.
    unknown_cells: Mapping[Name, UnknownCells]
    notes: RowNotes | None = None  # by row, where asked for
    # By row, where notes are: the cells that were cut into intervals, by variable.
    cells: list[dict[Name, Any]] | None = None

    @property
    def codes(self) -> Codes:
        """The rows, each cell a state or missing.

        ValueError names a cell that is one of several states.
        """
        return single_states(self.rows)

    @property
    def unknown(self) -> dict[Name, int]:
        """Number of cells not seen in training by column, where any."""
        return {name: cells.number for name, cells in self.unknown_cells.items()}


@dataclass(frozen=True)
class TableEncoder:
    """The learned reading of a table: a domain, and the rules for cells outside it.

    `notes` are remarks for a reader on columns taken as nominal or without information;
    `readings` has an entry per column; by default it is the one variable of its name.
    Cells may name groups of `hierarchies`, which are given by column.
    """

    domain: Domain
    rules: EncoderRules = field(default_factory=EncoderRules)
    notes: dict[Name, str] = field(default_factory=dict, compare=False)
    readings: tuple[ColumnReading, ...] = field(default=(), compare=False)
    hierarchies: Hierarchies = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if not self.readings:
            plain = tuple(ColumnReading(name) for name in self.domain.names)
            object.__setattr__(self, "readings", plain)

    @property
    def column_names(self) -> tuple[Name, ...]:
        """Names of the table's columns, of which the variables came."""
        return tuple(reading.name for reading in self.readings)

    @property
    def plan(self) -> ReadingPlan:
        """How texts are read and columns used, with an entry for every column."""
        columns = []
        variables = {variable.name: variable for variable in self.domain}
        for reading in self.readings:
            use = "left_out" if reading.form == "left_out" else None
            if reading.name in variables and reading.form != "as_is":
                variable = variables[reading.name]
                is_numeric = variable.kind == "numeric" and not variable.categories
                use = "numeric" if is_numeric else "nominal"
            form = replace(reading.text_form, use=use, parts=reading.parts)
            columns.append((reading.name, replace(form, zone=reading.zone)))
        return replace(self.rules.plan or ReadingPlan(), columns=tuple(columns))

    def split(self, table: Any) -> tuple[Matrix | list[Column], bool]:
        """The columns of a table, matched by name where it is not a data frame.

        With it whether they were; columns that training left out may be absent.
        """
        left_out = {one.name for one in self.readings if one.form == "left_out"}
        return columns_as_named(table, self.column_names, left_out)

    def transform(self, parts: Matrix | list[Column]) -> EncodedTable:
        """Encode the features of a table.

        ValueError if the columns are not those of training, or cells are missing or
        unknown where the rules refuse them.
        """
        parts, groups = take_groups_out(parts, self.hierarchies, self.domain)
        read, failed = self._read(parts)
        encoded: list[EncodedColumn | None] = [None] * len(self.domain)
        columns, room = ([], None) if isinstance(read, Matrix) else (read, None)
        if isinstance(read, Matrix):
            encoded, room = encode_matrix(read, self.domain)
            if self.rules.unknown == "error":
                # The long way raises, and names the values.
                encoded = [done if done and not done[1] else None for done in encoded]
            if any(done is None for done in encoded):
                columns = read.columns()
        own = [
            self._encode(self.domain[j], columns[j]) if done is None else done
            for j, done in enumerate(encoded)
        ]
        unknown = dict(failed)
        for j, (codes, count) in enumerate(own):
            if count:
                variable = self.domain[j]
                column = (
                    NumberColumn(variable.name, read.values[:, j], None)
                    if isinstance(read, Matrix)
                    else read[j]
                )
                cells = unknown_cells(variable, codes, column)
                if cells is not None and self._take_nearest(variable, codes, column):
                    cells = replace(cells, outcome="taken as the nearest value seen")
                unknown |= {} if cells is None else {variable.name: cells}
        stacked = [codes for codes, _ in own]
        stacked_codes = Codes.from_columns(stacked, self.domain.cards, room=room)
        marked = put_groups_back(stacked_codes, self.domain, self.hierarchies, groups)
        return EncodedTable(rows_of(*marked, self.domain), unknown)

    def row_notes(self, parts: Matrix | list[Column], rows: Rows) -> RowNotes:
        """Notes on the cells of each row that were not read: column, cell and note.

        The note is "missing" or, of a value that training did not contain, "unknown"
        or such as "nearest 8".
        """
        columns: list[Column] = (
            [*parts.columns()] if isinstance(parts, Matrix) else parts
        )
        plain, _ = take_groups_out(columns, self.hierarchies, self.domain)
        assert not isinstance(plain, Matrix)
        codes, partial = available_codes(rows), sets_in(rows)
        notes: RowNotes = [[] for _ in range(codes.n_rows)]
        limits = [variable.n_known_states for variable in self.domain]
        lost = codes.columns(range(len(limits))) == np.array(limits)[:, None]
        lost[partial.variables, partial.rows] = False
        has_lost = lost.any(axis=1).tolist()
        plan, j = self.rules.plan, 0
        everywhere = () if plan is None or plan.missing is None else plan.missing
        for reading, column, read in zip(self.readings, columns, plain, strict=True):
            if reading.form == "left_out":
                continue
            n_parts = len(reading.part_names) or 1
            for row, state in self._nearest(j, reading, read, codes):
                cell = cell_of(column, row)
                note = f"nearest {state}"
                notes[row].append({"column": reading.name, "cell": cell, "note": note})
            parts_of = slice(j, j + n_parts)
            j += n_parts
            if not any(has_lost[parts_of]):
                continue
            markers = {*everywhere, *(reading.text.missing if reading.text else ())}
            for row in np.flatnonzero(lost[parts_of].any(axis=0)).tolist():
                cell = cell_of(column, row)
                is_marker = isinstance(cell, str) and cell.strip() in markers
                note = "missing" if cell is None or is_marker else "unknown"
                notes[row].append({"column": reading.name, "cell": cell, "note": note})
        return notes

    def cells_in_intervals(
        self, parts: Matrix | list[Column], rows: Rows
    ) -> list[dict[Name, Any]]:
        """The cells of each row of which codes contain the interval, by variable."""
        codes = available_codes(rows)
        limits = [variable.n_known_states for variable in self.domain]
        known = codes.columns(range(len(limits))) < np.array(limits)[:, None]
        read, _ = self._read(take_groups_out(parts, self.hierarchies, self.domain)[0])
        columns = read.columns() if isinstance(read, Matrix) else read
        cells: list[dict[Name, Any]] = [{} for _ in range(codes.n_rows)]
        for j, (variable, column) in enumerate(zip(self.domain, columns, strict=True)):
            if variable.kind != "numeric":
                continue
            for row, is_known in enumerate(known[j].tolist()):
                if is_known:
                    cells[row][variable.name] = cell_of(column, row)
        return cells

    def _nearest(
        self, j: int, reading: ColumnReading, column: Column, codes: Codes
    ) -> list[tuple[int, Hashable]]:
        """The rows of a variable whose number was taken as another, and as which."""
        variable = self.domain[j]
        if self.nearest_cuts(variable) is None:
            return []
        (numbers,), _ = reading.read(column)
        if not isinstance(numbers, NumberColumn):
            return []
        states, taken = variable.known_states, codes.column(j)
        is_known = taken < variable.n_known_states
        rows = np.flatnonzero(is_known & ~np.isin(numbers.values, np.array([*states])))
        return [(row, states[taken[row]]) for row in rows.tolist()]

    def nearest_cuts(self, variable: Variable) -> tuple[float, ...] | None:
        """Cut points halfway between the few integers that training took as nominal.

        Other numbers are taken as the nearest of these, the lower of two. None for
        other variables, such as those that were declared nominal.
        """
        rules = self.rules
        if (
            rules.unknown == "error"
            or rules.categorical_features is not None
            or variable.kind != "nominal"
            or variable.other_state is not None
        ):
            return None
        states = variable.known_states
        # Beyond them floats, and so cut points, confuse integers.
        whole = [s for s in states if isinstance(s, int) and abs(s) <= 1 << 53]
        if not whole or len(whole) < len(states):
            return None
        if (variable.name, "numbers") not in ((r.name, r.form) for r in self.readings):
            return None
        return tuple((low + high) / 2 for low, high in pairwise(whole))

    def _take_nearest(
        self, variable: Variable, codes: ColumnCodes, column: PlainColumn
    ) -> bool:
        """Replace the codes of unknown numbers by those of the nearest, if possible."""
        cuts = self.nearest_cuts(variable)
        if cuts is None or not isinstance(column, NumberColumn):
            return False
        is_unknown = codes == variable.n_known_states
        if column.missing is not None:
            is_unknown &= ~column.missing
        numbers = column.values[is_unknown].astype(np.float64)
        codes[is_unknown] = np.searchsorted(cuts, numbers)
        return True

    def _read(
        self, parts: Matrix | list[Column]
    ) -> tuple[Matrix | list[PlainColumn], dict[Name, UnknownCells]]:
        """What the readings make of a table: a column for each variable.

        With it the cells of each column that spell none of its values.
        """
        self._check_names(tuple(iterate_names(parts)))
        plain = all(reading.changes_nothing for reading in self.readings)
        if isinstance(parts, Matrix) and plain:
            return parts, {}
        columns = parts.columns() if isinstance(parts, Matrix) else parts
        columns = [without_texts(c, self.rules.missing_texts) for c in columns]
        found: list[PlainColumn] = []
        failed: dict[Name, UnknownCells] = {}
        for reading, column in zip(self.readings, columns, strict=True):
            read, no_dates = reading.read(column)
            found += read
            if no_dates is not None:
                failed[reading.name] = no_dates
                if self.rules.unknown == "error":
                    text, row = str(no_dates.value), no_dates.row
                    raise CellError(reading.name, text, row, "a date")
        return found, failed

    def _check_names(self, names: tuple[Name, ...]) -> None:
        """Raise unless the columns are those of training, in the same order."""
        expected = self.column_names
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

    def _encode(self, variable: Variable, column: PlainColumn) -> EncodedColumn:
        """Codes of one column, and its number of unknown cells."""
        n_unknown = 0
        if isinstance(column, ValueColumn):
            column = _spelled_states(variable, column)
        if variable.kind == "numeric" and variable.categories is None:
            codes, is_missing = interval_codes(variable, column)
        else:
            values = column.distinct()
            check_same_dtype_kind(variable, values)
            codes, n_unknown, strangers = state_codes(variable, values)
            if n_unknown and self.rules.unknown == "error":
                raise ValueError(
                    f"column {quoted(variable.name)} holds values "
                    f"({name_list(strangers, limit=3)}) that training did not contain; "
                    "correct them or allow them with unknown='missing'"
                )
            is_missing = values.indices < 0
        if self.rules.missing == "error" and is_missing.any():
            raise missing_error(variable.name, is_missing)
        return codes, n_unknown

    def extended(self, parts: Matrix | list[Column]) -> TableEncoder:
        """The same encoder with the states that another table adds.

        Nominal variables gain states, kept in order; numeric ones keep their cut
        points.
        """
        read, _ = self._read(take_groups_out(parts, self.hierarchies, self.domain)[0])
        columns = read.columns() if isinstance(read, Matrix) else read
        variables = tuple(
            self._extended_variable(variable, column)
            for variable, column in zip(self.domain, columns, strict=True)
        )
        if variables == self.domain.variables:
            return self
        domain = with_hierarchies(Domain(variables), self.hierarchies)
        return replace(self, domain=domain)

    def _extended_variable(self, variable: Variable, column: PlainColumn) -> Variable:
        """One variable with the states that a column adds."""
        values = column.distinct()
        states = variable.known_states
        if variable.kind == "nominal":
            check_same_dtype_kind(variable, values)
            known = list(states)
            added = [value for value in used_values(values) if value not in set(known)]
            if variable.other_state is not None:
                added = []
            states = tuple(ordered_values(known + added))
            check_max_states(variable.name, len(states), self.rules.max_states)
        gains_missing = self.rules.missing == "state" and (values.indices < 0).any()
        if variable.has_missing_state or gains_missing:
            states = (*states, None)
        if states == variable.states:
            return variable
        return replace(variable, states=states, hierarchy=None, meanings=None)

    def __repr__(self) -> str:
        n_numeric = sum(variable.kind == "numeric" for variable in self.domain)
        kinds = f"{n_numeric} numeric, {len(self.domain) - n_numeric} nominal"
        return brief(self, kinds, brief_names(self.domain.names))


def _spelled_states(variable: Variable, column: ValueColumn) -> PlainColumn:
    """A column in which texts that spell states or numbers of a variable are these.

    CellError if a text spells none where the variable has no texts.
    """
    states = variable.categories or variable.known_states
    is_numeric = variable.kind == "numeric" and variable.categories is None
    if not is_numeric and all(isinstance(state, str) for state in states):
        return column
    if not any(isinstance(value, str) for value in column.values):
        return column
    kind = "true or false" if any(isinstance(s, bool) for s in states) else "a number"
    if is_numeric:
        spelled, failed = spelled_column(column, TextForm("number"))
        if failed:
            raise _cell_error(column, failed, kind)
        assert isinstance(spelled, NumberColumn)
        return spelled
    by_text = labels_by_text(states)
    states_read, failed = list(column.values), []
    for index, value in enumerate(states_read):
        if not isinstance(value, str):
            continue
        text = value.strip()
        number = None if text in by_text else read_numbers([text])
        if number is not None:
            states_read[index] = by_text.get(str(number[0]), number[0])
        elif text in by_text:
            states_read[index] = by_text[text]
        else:
            failed.append(index)
    if failed and not any(isinstance(state, str) for state in states):
        used = _cell_counts(column)
        failed = [index for index in failed if used[index]]
        if failed and states:
            raise _cell_error(column, failed, kind)
    return replace(column, values=states_read)


def _cell_error(column: ValueColumn, failed: list[int], kind: str) -> CellError:
    """The error for the first cell with one of some values."""
    row = int(np.argmax(np.isin(column.indices, failed)))
    text = str(column.values[column.indices[row]])
    return CellError(column.name, text, row, kind)


def used_values(column: ValueColumn) -> list[Hashable]:
    """The values that occur in at least one row, in the column's order."""
    used = np.flatnonzero(_cell_counts(column))
    # A table may list one value twice; a dict keeps the first.
    return list(dict.fromkeys(column.values[i] for i in used.tolist()))


def _cell_counts(column: ValueColumn) -> NDArray[np.intp]:
    """Number of cells with each value."""
    # The first place counts the missing cells, whose index is -1.
    return np.bincount(column.indices + 1, minlength=len(column.values) + 1)[1:]


def ordered_values(values: list[Hashable]) -> list[Hashable]:
    """Values in the order of states."""
    return [values[i] for i in sorted_positions(values)]


def check_max_states(name: Name, n_states: int, limit: int) -> None:
    """Raise if a nominal column has more states than are allowed or possible."""
    if n_states > limit:
        raise ValueError(
            f"column {quoted(name)} has {n_states} distinct values, more than "
            f"max_states={limit}; drop it, group its values, or let rare='group' do so"
        )
    if n_states > MOST_STATES:
        raise ValueError(
            f"column {quoted(name)} has {n_states} distinct values, but at most "
            f"{MOST_STATES} are possible; drop it or group its values"
        )


def most_frequent(
    column: ValueColumn, weights: NDArray[np.float64], number: int
) -> list[Hashable]:
    """The values that most rows have, in the column's order.

    Of equally frequent ones those that come first among sorted values stay.
    """
    totals: dict[Hashable, float] = dict.fromkeys(
        ordered_values(used_values(column)), 0.0
    )
    counts = np.bincount(column.indices + 1, weights, len(column.values) + 1)[1:]
    for value, count in zip(column.values, counts.tolist(), strict=True):
        if count:
            totals[value] += count
    kept = set(sorted(totals, key=lambda value: -totals[value])[:number])
    return [value for value in totals if value in kept]


def check_same_dtype_kind(variable: Variable, column: ValueColumn) -> None:
    """Raise if a nominal column turned from text into numbers or back."""
    known = variable.categories or variable.known_states
    was = _sort(state for state in known if state != variable.other_state)
    now = _sort(used_values(column))
    if was and now and was != now:
        raise ValueError(
            f"column {quoted(variable.name)} held {was} in training but holds {now} "
            f"now; convert it to {was}"
        )


def with_notes(
    encoder: TableEncoder, encoded: EncodedTable, parts: Matrix | list[Column]
) -> EncodedTable:
    """An encoded table with notes on its rows, and their cells in intervals."""
    return replace(
        encoded,
        notes=encoder.row_notes(parts, encoded.rows),
        cells=encoder.cells_in_intervals(parts, encoded.rows),
    )


def _sort(values: Iterable[Hashable]) -> str:
    """Whether values are text or numbers; empty if they are both or none."""
    sorts = {"text" if isinstance(value, str) else "numbers" for value in values}
    return sorts.pop() if len(sorts) == 1 else ""


def state_codes(
    variable: Variable, column: ValueColumn
) -> tuple[ColumnCodes, int, list[Hashable]]:
    """Codes of a nominal column, number of unknown cells, and the unknown values."""
    index, missing = variable.state_index, variable.n_known_states
    if variable.categories is not None:
        places = range(len(variable.categories))
        codes_of = np.searchsorted(variable.cut_points, places).tolist()
        index = dict(zip(variable.categories, codes_of, strict=True))
    other = -1 if variable.other_state is None else index[variable.other_state]
    found = [
        -1 if value is None else index.get(value, other) for value in column.values
    ]
    # One entry more for the index -1 of a missing cell.
    table = np.array([*found, missing], dtype=np.int64)
    strange = np.flatnonzero(table < 0)
    unknown, strangers = 0, []
    if len(strange):
        counts = _cell_counts(column)
        strangers = [column.values[i] for i in strange.tolist() if counts[i]]
        unknown = int(counts[strange].sum())
        table[strange] = missing
    codes = table.astype(_code_type(variable)).take(column.indices)
    return codes, unknown, strangers


def unknown_cells(
    variable: Variable, codes: ColumnCodes, column: PlainColumn
) -> UnknownCells | None:
    """The cells of a column that are present, but coded as missing, if any."""
    is_missing = (
        column.missing if isinstance(column, NumberColumn) else column.indices < 0
    )
    is_unknown = codes == variable.n_known_states
    if is_missing is not None:
        is_unknown &= ~is_missing
    rows = np.flatnonzero(is_unknown)
    if not len(rows):
        return None
    row = int(rows[0])
    value: Any = (
        column.values[row].item()
        if isinstance(column, NumberColumn)
        else column.values[column.indices[row]]
    )
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    has_numbers = variable.kind == "nominal" and all(
        isinstance(state, int) and not isinstance(state, bool)
        for state in (*variable.known_states, value)
    )
    return UnknownCells(variable.name, len(rows), value, row, has_numbers, rows=rows)


def _code_type(variable: Variable) -> np.dtype[np.unsignedinteger[Any]]:
    """The type that holds all codes of a variable."""
    return np.dtype(np.uint8 if variable.n_states <= NARROW_STATES else np.uint16)


def interval_codes(
    variable: Variable, column: PlainColumn
) -> tuple[ColumnCodes, NDArray[np.bool_]]:
    """Codes of a numeric column, and which cells are missing."""
    cuts, code_type = variable.cut_array, _code_type(variable)
    places = None
    if isinstance(column, ValueColumn):
        text = [value for value in used_values(column) if isinstance(value, str)]
        if text:
            raise ValueError(
                f"column {quoted(variable.name)} held numbers in training but holds "
                f"text now, such as {quoted(text[0])}; convert it to numbers"
            )
        numbers = [v if isinstance(v, int | float) else np.nan for v in column.values]
        values = np.array([*numbers, np.nan], dtype=np.float64)[column.indices]
    else:
        values, places = column.floats(), column.places_in_range()
    is_missing = np.isnan(values)
    if places is not None:
        every, offsets = places
        intervals = np.searchsorted(cuts, every.astype(np.float64))
        codes = intervals.astype(code_type).take(offsets)
    else:
        codes = np.searchsorted(cuts, values).astype(code_type)
    codes[is_missing] = variable.n_known_states
    return codes, is_missing


def missing_error(name: Name, is_missing: NDArray[np.bool_]) -> ValueError:
    """The error for missing cells where the rules refuse them."""
    first = int(np.argmax(is_missing))
    return missing_cells_error(name, int(np.count_nonzero(is_missing)), first)


def missing_cells_error(name: Name, number: int, first: int) -> ValueError:
    """The error for so many missing cells, the first of them in some row."""
    return ValueError(
        f"column {quoted(name)} has {number} missing cells (the first in row {first}), "
        "such as NaN; fill them or allow them with missing='marginalize'"
    )
