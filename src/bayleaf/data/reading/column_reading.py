"""How one column of a table is read: what training saw in it, and what it became."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayleaf.data.reading.dates import duration_numbers, part_columns, part_name
from bayleaf.data.reading.texts import read_numbers, spelled_out
from bayleaf.data.tables.cells import infinite
from bayleaf.data.tables.columns import (
    Column,
    Name,
    NumberColumn,
    PlainColumn,
    TimeColumn,
    ValueColumn,
)
from bayleaf.wording import quoted

Form = Literal[
    "as_is", "values", "truths", "numbers", "ordered", "date", "duration", "left_out"
]


@dataclass(frozen=True)
class ColumnReading:
    """How one column of the training table was read, and what it became."""

    name: Name
    form: Form = "as_is"  # "left_out": no variable; "as_is": nothing is known
    n_distinct: int = 0  # present values in the first `COUNTED_ROWS` rows
    n_missing: int = 0
    changes: tuple[str, ...] = ()  # what was changed, and why
    parts: tuple[str, ...] | None = None  # of a date, each a variable
    origin: int | None = None  # day 0 in microseconds since 1970
    unit: str | None = None  # of a duration

    def check_content(self) -> None:
        """Raise ValueError if a date lacks its parts, or a duration its unit."""
        if (self.parts is None or self.origin is None) and self.form == "date":
            raise ValueError(f"the date {quoted(self.name)} lacks its parts or origin")
        if self.unit is None and self.form == "duration":
            raise ValueError(f"the duration {quoted(self.name)} lacks its unit")

    @property
    def changes_nothing(self) -> bool:
        """Whether a column of numbers becomes the one variable of its name."""
        return self.form in ("as_is", "numbers", "values", "truths")

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of the variables that a date becomes."""
        return tuple(part_name(self.name, part) for part in self.parts or ())

    def read(self, column: Column) -> list[PlainColumn]:
        """The columns that encoding takes in the place of a column of this name.

        ValueError if dates were read in training and the column has none, or the other
        way round.
        """
        if self.form == "left_out":
            return []
        if self.form in ("date", "duration"):
            times = self._times(column)
            if self.form == "duration":
                return [duration_numbers(times, str(self.unit))]
            return part_columns(times, self.parts or (), self.origin or 0)
        if isinstance(column, TimeColumn):
            raise self._differs("dates or times")
        if isinstance(column, ValueColumn):
            if self.form == "numbers":
                return [_as_numbers(column)]
            if self.form == "truths":
                found = spelled_out(column)
                return [found if isinstance(found, ValueColumn) else column]
        return [column]

    def _times(self, column: Column) -> TimeColumn:
        """The column as dates or durations, whichever training saw."""
        wants_duration = self.form == "duration"
        found: Column | None = column
        if isinstance(column, ValueColumn):
            if (column.indices < 0).all():
                nothing = np.zeros(len(column.indices), dtype=np.int64)
                return TimeColumn(
                    column.name, nothing, column.indices < 0, wants_duration
                )
            found = spelled_out(column)
        if not isinstance(found, TimeColumn):
            held = "numbers" if isinstance(column, NumberColumn) else "text"
            raise self._differs(held)
        if found.is_duration != wants_duration:
            raise self._differs("durations" if found.is_duration else "dates")
        return found

    def _differs(self, held: str) -> ValueError:
        """The error for a column that holds something else than in training."""
        was = {"date": "dates", "duration": "durations"}.get(self.form, "none")
        if was == "none":
            was = "numbers" if self.form == "numbers" else "text"
        return ValueError(
            f"column {quoted(self.name)} held {was} in training but holds {held} now; "
            f"convert it to {was}"
        )


def _as_numbers(column: ValueColumn) -> PlainColumn:
    """A column whose texts may spell numbers, as such where all do."""
    used = np.unique(column.indices[column.indices >= 0]).tolist()
    texts = {p: column.values[p] for p in used if isinstance(column.values[p], str)}
    found = read_numbers([str(text).strip() for text in texts.values()])
    if not texts or found is None:
        return column
    if not np.isfinite(found).all():
        raise infinite(column.name)
    values = list(column.values)
    for place, number in zip(texts, found, strict=True):
        values[place] = number
    return ValueColumn(column.name, column.indices, values, column.ordered)
