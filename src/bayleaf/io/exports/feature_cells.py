"""How the value of a cell becomes the code of a variable, for programs that score."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from bayleaf.data.column_reading import ColumnReading
from bayleaf.data.dates import MONTHS, WEEKDAYS
from bayleaf.data.domain import Variable
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import Name

Kind = Literal["values", "intervals"]
# Parts of dates that are categories, and the words for them.
_WORDS = {"month": MONTHS, "weekday": WEEKDAYS}


@dataclass(frozen=True)
class FeatureCells:
    """How cells of one column become codes of one variable."""

    column: Name
    variable: Variable  # What the column becomes; a date becomes several variables.
    reading: ColumnReading  # Of text, booleans, a date or a duration.
    # The part of a date that this variable is: "year", "month" and "weekday" (whole
    # numbers from 0), "hour", or "days" since the reading's origin.
    part: str | None
    kind: Kind  # Whether values have codes of their own, or numbers are cut.
    # Code of each of the "values": text, numbers or booleans; for months and
    # weekdays their numbers.
    codes: Mapping[Hashable, int] = field(default_factory=dict)
    # Of "intervals": the code of a number is how many of them are below it.
    cut_points: tuple[float, ...] = ()
    # Code of missing cells, and of values without one of their own; None where the
    # model refuses them.
    missing: int | None = None
    unknown: int | None = None

    @property
    def n_codes(self) -> int:
        """Number of codes, that of cells that are summed out included."""
        return self.variable.n_states + 1

    @property
    def may_be_unknown(self) -> bool:
        """Whether some cells are accepted that have no state."""
        return self.variable.n_states in (self.missing, self.unknown)

    def known_only(self) -> FeatureCells:
        """The same, but cells without a state are refused."""
        n_states = self.variable.n_states
        missing = None if self.missing == n_states else self.missing
        unknown = None if self.unknown == n_states else self.unknown
        return replace(self, missing=missing, unknown=unknown)


def feature_cells(encoder: TableEncoder) -> tuple[FeatureCells, ...]:
    """How the columns of a table become codes, one entry a variable, in their order."""
    variables = iter(encoder.domain)
    return tuple(
        _cells(next(variables), reading, part, encoder)
        for reading in encoder.readings
        if reading.form != "left_out"
        for part in (reading.parts if reading.form == "date" else None) or (None,)
    )


def _cells(
    variable: Variable, reading: ColumnReading, part: str | None, encoder: TableEncoder
) -> FeatureCells:
    """How cells become codes of one variable."""
    rules = encoder.rules
    # The state of missing cells, if they are one, has this code too.
    missing = variable.n_known_states
    unknown = missing
    if variable.other_state is not None:
        unknown = variable.state_index[variable.other_state]
    is_cut = variable.kind == "numeric" and variable.categories is None
    cut_points = variable.cut_points if is_cut else ()
    nearest = None if part is not None else encoder.nearest_cuts(variable)
    if nearest is not None:
        is_cut, cut_points = True, nearest
    # Values without a state may name groups, over whose states programs do not sum.
    refuses_unknown = rules.unknown == "error" or reading.name in encoder.hierarchies
    return FeatureCells(
        reading.name,
        variable,
        reading,
        part,
        "intervals" if is_cut else "values",
        {} if is_cut else _codes(variable, part),
        cut_points,
        None if rules.missing == "error" else missing,
        None if refuses_unknown else unknown,
    )


def _codes(variable: Variable, part: str | None) -> dict[Hashable, int]:
    """Code of each value of a variable that is not cut."""
    if variable.categories is None:
        codes = {state: code for code, state in enumerate(variable.known_states)}
    else:
        codes = {
            value: bisect_left(variable.cut_points, rank)
            for rank, value in enumerate(variable.categories)
        }
    if part not in _WORDS:
        return codes
    words = _WORDS[part]
    return {words.index(str(w)): code for w, code in codes.items() if w in words}
