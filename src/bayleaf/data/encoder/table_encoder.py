"""Turn tables into codes as training learned to read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.encoder.cells import (
    check_max_states,
    check_same_sort,
    interval_codes,
    missing_error,
    ordered_values,
    state_codes,
    used_values,
)
from bayleaf.data.reading.column_reading import ColumnReading
from bayleaf.data.reading.rules import EncoderRules
from bayleaf.data.tables.columns import (
    Column,
    Matrix,
    Name,
    PlainColumn,
    iterate_names,
)
from bayleaf.data.tables.matrix import EncodedColumn, encode_matrix
from bayleaf.wording import brief, brief_names, name_list, quoted


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table as codes of its features, and what was unknown in it."""

    codes: Codes
    unknown: Mapping[Name, int]  # columns' cells not seen in training, where any


@dataclass(frozen=True)
class TableEncoder:
    """The learned reading of a table: a domain, and the rules for cells outside it.

    `notes` are remarks for a reader on columns taken as nominal or without information;
    `readings` has an entry per column; by default it is the one variable of its name.
    """

    domain: Domain
    rules: EncoderRules = field(default_factory=EncoderRules)
    notes: dict[Name, str] = field(default_factory=dict, compare=False)
    readings: tuple[ColumnReading, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.readings:
            plain = tuple(ColumnReading(name) for name in self.domain.names)
            object.__setattr__(self, "readings", plain)

    @property
    def column_names(self) -> tuple[Name, ...]:
        """Names of the table's columns, of which the variables came."""
        return tuple(reading.name for reading in self.readings)

    def transform(self, parts: Matrix | list[Column]) -> EncodedTable:
        """Encode the features of a table.

        ValueError if the columns are not those of training, or cells are missing or
        unknown where the rules refuse them.
        """
        read = self._read(parts)
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
        counts = zip(self.domain.names, (n for _, n in own), strict=True)
        unknown = {name: count for name, count in counts if count}
        stacked = [codes for codes, _ in own]
        codes = Codes.from_columns(stacked, self.domain.cards, room=room)
        return EncodedTable(codes, unknown)

    def _read(self, parts: Matrix | list[Column]) -> Matrix | list[PlainColumn]:
        """What the readings make of a table: a column for each variable."""
        self._check_names(tuple(iterate_names(parts)))
        plain = all(reading.changes_nothing for reading in self.readings)
        if isinstance(parts, Matrix) and plain:
            return parts
        columns = parts.columns() if isinstance(parts, Matrix) else parts
        return [
            own
            for reading, column in zip(self.readings, columns, strict=True)
            for own in reading.read(column)
        ]

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
        if variable.kind == "numeric" and variable.categories is None:
            codes, is_missing = interval_codes(variable, column)
        else:
            values = column.distinct()
            check_same_sort(variable, values)
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
        read = self._read(parts)
        columns = read.columns() if isinstance(read, Matrix) else read
        variables = tuple(
            self._extended_variable(variable, column)
            for variable, column in zip(self.domain, columns, strict=True)
        )
        if variables == self.domain.variables:
            return self
        return replace(self, domain=Domain(variables))

    def _extended_variable(self, variable: Variable, column: PlainColumn) -> Variable:
        """One variable with the states that a column adds."""
        values = column.distinct()
        may_gain_missing = (
            self.rules.missing == "state" and not variable.has_missing_state
        )
        gains_missing = may_gain_missing and bool((values.indices < 0).any())
        states = variable.states
        if variable.kind == "nominal":
            check_same_sort(variable, values)
            known = list(variable.known_states)
            added = [value for value in used_values(values) if value not in set(known)]
            if variable.other_state is not None:
                added = []
            states = tuple(ordered_values(known + added))
            check_max_states(variable.name, len(states), self.rules.max_states)
            if variable.has_missing_state:
                states = (*states, None)
        if gains_missing:
            states = (*states, None)
        return replace(variable, states=states)

    def __repr__(self) -> str:
        n_numeric = sum(variable.kind == "numeric" for variable in self.domain)
        kinds = f"{n_numeric} numeric, {len(self.domain) - n_numeric} nominal"
        return brief(self, kinds, brief_names(self.domain.names))
