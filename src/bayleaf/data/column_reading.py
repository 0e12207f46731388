"""Find out what a training table's column holds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from bayleaf.data.date_texts import PERIODS
from bayleaf.data.dates import (
    DAYS,
    by_clock,
    duration_numbers,
    duration_unit,
    first_day,
    part_columns,
    part_name,
    plain_zone,
    varying_parts,
    zone_name,
)
from bayleaf.data.reading_plan import ReadingPlan
from bayleaf.data.tables.array_columns import infinite
from bayleaf.data.tables.columns import (
    Column,
    Name,
    NumberColumn,
    PlainColumn,
    TextValues,
    TimeColumn,
    ValueColumn,
    n_cells,
)
from bayleaf.data.text_forms import (
    SUSPECT_TEXTS,
    WRITTEN,
    Kind,
    TextDecision,
    TextForm,
    decide,
    evidence_of,
    is_infinite,
    is_marker,
    spelled_column,
)
from bayleaf.data.unknown_cells import UnknownCells
from bayleaf.wording import counted, name_list, quoted

Form = Literal[
    "as_is", "values", "truths", "numbers", "ordered", "date", "duration", "left_out"
]

# A column of integers with at most this many distinct values is nominal.
MAX_NOMINAL_NUMBERS = 10
# Integers below it are floats without loss.
EXACT = 1 << 53
MISSING_RULES = ("marginalize", "state", "error")
UNKNOWN_RULES = ("missing", "error")
IDENTIFIER_RULES = ("drop", "keep", "error")
RARE_RULES = ("group", "error")
DATE_RULES = ("expand", "error")


@dataclass(frozen=True)
class EncoderRules:
    """How columns are read.

    `categorical_features` are names, positions or a mask of nominal columns of numbers;
    by default integer columns of at most ten distinct values are nominal. "marginalize"
    leaves missing cells open. An identifier is a nominal column of which more than 90 %
    of at least 30 present values are distinct. An empty order is that which a table
    declares, or else that of the values; one of a single text has ``<`` between
    categories, which may contain it.
    """

    categorical_features: tuple[Name | bool, ...] | None = None
    missing: Literal["marginalize", "state", "error"] = "marginalize"
    unknown: Literal["missing", "error"] = "missing"  # of values that training lacks
    max_states: int = 1000  # of a nominal column
    identifiers: Literal["drop", "keep", "error"] = "drop"
    rare: Literal["group", "error"] = "group"  # values beyond max_states share a state
    dates: Literal["expand", "error"] = "expand"  # to parts; durations to numbers
    ordered_features: tuple[tuple[Name, tuple[Hashable, ...]], ...] = ()
    plan: ReadingPlan | None = None  # of texts; what it leaves open they decide

    def __post_init__(self) -> None:
        if self.max_states < 1:
            raise ValueError(f"max_states must be at least 1, got {self.max_states}")

    @property
    def missing_texts(self) -> tuple[str, ...]:
        """Texts that are missing cells of any column, whatever the table's make."""
        return () if self.plan is None else self.plan.missing or ()

    def order_of(self, name: Name) -> tuple[Hashable, ...] | None:
        """The order declared for a column's categories; None where there is none."""
        return dict(self.ordered_features).get(name)

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
        f"categorical_features names {quoted(item)}, but the columns are "
        f"{name_list(names)}"
    )


@dataclass(frozen=True)
class ColumnReading:
    """How one column of the training table was read, and what it became."""

    name: Name
    form: Form = "as_is"  # "left_out": no variable; "as_is": nothing is known
    n_distinct: int = 0  # present values
    n_missing: int = 0
    changes: tuple[str, ...] = ()  # what was changed, and why
    parts: tuple[str, ...] | None = None  # of a date, each a variable
    origin: int | None = None  # day 0 in microseconds since 1970
    unit: str | None = None  # of a duration
    text: TextForm | None = None  # how its texts are read; None where it had none
    # Where not all of a table's values were kept, what `n_distinct` is.
    distinct_word: Literal["about", "at least"] | None = None
    zone: int | str | None = None  # of dates that are instants; see `TextForm`

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

    def read(self, column: Column) -> tuple[list[PlainColumn], UnknownCells | None]:
        """The columns that encoding takes in the place of a column of this name.

        With it the cells that spell no date, or are markers of missing cells that
        training lacks, if any. ValueError if dates were read in training and the column
        has values of another kind; CellError if a cell spells no number or boolean
        where these belong.
        """
        if self.form == "left_out":
            return [], None
        failed = None
        if isinstance(column, TimeColumn) and self.form == "date":
            column = self._by_clock(column)
        if isinstance(column, ValueColumn) and self._spells:
            column, failed = self._spelled(column)
        if self.form in ("date", "duration"):
            times = self._times(column)
            if self.form == "duration":
                return [duration_numbers(times, str(self.unit))], failed
            return part_columns(times, self.parts or (), self.origin or 0), failed
        if isinstance(column, TimeColumn):
            raise self._differs("dates or times")
        if self.text is not None and self.text.kind == "text":
            column = as_text(column)
        return [column], failed

    @property
    def text_form(self) -> TextForm:
        """How texts are read, in the plainest way where training had none."""
        if self.text is not None:
            return self.text
        kind = KINDS.get(self.form, "text")
        order = "y-m-d" if kind == "date" else ""
        return TextForm(kind, order=order, zone=self.zone)

    @property
    def _spells(self) -> bool:
        """Whether texts stand for values of another kind."""
        return self.form in ("numbers", "truths", "date", "duration")

    def _spelled(self, column: ValueColumn) -> tuple[Column, UnknownCells | None]:
        """A column of texts as training read them, and the cells that spell no date."""
        form = self.text_form
        is_used = np.bincount(column.indices + 1, minlength=len(column.values) + 1)[1:]
        if not self.n_distinct and self.form == "numbers" and self.text is None:
            # Whatever it holds is unknown, as training saw nothing of it.
            return column, None
        if not any(
            isinstance(value, str) and n
            for value, n in zip(column.values, is_used, strict=True)
        ):
            return column, None
        spelled, failed = spelled_column(column, form)
        if not failed:
            return spelled, None
        if self.form in ("numbers", "truths"):
            # What cannot be a marker of missing cells is an error of the file.
            wrong = [i for i in failed if not is_marker(str(column.values[i]))]
            if wrong:
                row = int(np.argmax(np.isin(column.indices, wrong)))
                text = str(column.values[column.indices[row]])
                if is_infinite(text):
                    raise infinite(column.name)
                raise CellError(self.name, text, row, _WANTED[self.form])
        is_failed = np.isin(column.indices, failed)
        row = int(np.argmax(is_failed))
        text = str(column.values[column.indices[row]])
        return spelled, UnknownCells(self.name, n_cells(column, is_failed), text, row)

    def _by_clock(self, column: TimeColumn) -> TimeColumn:
        """Dates by the clock of training; ValueError if only one has a time zone."""
        if self.zone == WRITTEN or column.is_duration or column.missing.all():
            return by_clock(column, None)
        if (self.zone is None) == (column.zone is None):
            return by_clock(column, self.zone)
        was = "without a time zone" if self.zone is None else f"of {_zone(self.zone)}"
        held = "has none" if column.zone is None else f"has {_zone(column.zone)}"
        raise ValueError(
            f"column {quoted(self.name)} held times {was} in training but {held} now; "
            "convert it, such as by tz_localize of pandas"
        )

    def _times(self, column: Column) -> TimeColumn:
        """The column as dates or durations, whichever training saw."""
        wants_duration = self.form == "duration"
        if isinstance(column, ValueColumn) and (column.indices < 0).all():
            nothing = np.zeros(len(column.indices), dtype=np.int64)
            return TimeColumn(column.name, nothing, column.indices < 0, wants_duration)
        if not isinstance(column, TimeColumn):
            held = "numbers" if isinstance(column, NumberColumn) else "text"
            raise self._differs(held)
        if column.is_duration != wants_duration:
            raise self._differs("durations" if column.is_duration else "dates")
        return column

    def _differs(self, held: str) -> ValueError:
        """The error for a column that holds something else than in training."""
        was = {"date": "dates", "duration": "durations"}.get(self.form, "none")
        if was == "none":
            was = "numbers" if self.form == "numbers" else "text"
        return ValueError(
            f"column {quoted(self.name)} held {was} in training but holds {held} now; "
            f"convert it to {was}"
        )


def distinct_text(counted: ColumnReading | Any) -> str:
    """The number of distinct values of a column, in words where not all were kept."""
    number = f"{counted.n_distinct:,}"
    return f"{counted.distinct_word} {number}" if counted.distinct_word else number


# The kind of texts that stand for the values of a form, and what such a cell contains.
KINDS: dict[str, Kind] = {
    "numbers": "number",
    "truths": "boolean",
    "date": "date",
    "duration": "duration",
}
_WANTED = {
    "numbers": "a number",
    "truths": "true or false",
    "date": "a date",
    "duration": "a time",
}


def _zone(zone: int | str) -> str:
    """A time zone in words."""
    called = zone if isinstance(zone, str) else f"UTC{zone_name(zone)}"
    return f"the time zone {called}"


# Ways to take apart an order, in a text, of categories that contain its separator.
_MAX_WAYS = 1000


class CellError(ValueError):
    """A cell that spells no value of its column's kind."""

    def __init__(self, name: Name, text: str, row: int, kind: str) -> None:
        self.name, self.text, self.row, self.kind = name, text, row, kind
        super().__init__(self.sentence(f"row {row}", "leave it empty"))

    def sentence(self, where: str, remedy: str) -> str:
        """What is wrong with the cell, which is at a place, and what may help."""
        return (
            f"column {quoted(self.name)} holds {quoted(self.text)} where {self.kind} "
            f"belongs ({where}); correct the cell, or {remedy}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.text, self.row, self.kind)


class Read(NamedTuple):
    """A column as training reads it."""

    reading: ColumnReading  # how other tables' columns are read
    columns: list[PlainColumn]  # what encoding takes in its place
    numeric: Name | None = None  # the one that is not nominal, few as its values are
    note: str = ""  # what a person should check


def learn_reading(
    column: Column,
    rules: EncoderRules,
    *,
    nominal: bool,
    as_is: bool,
    decision: TextDecision | None = None,
) -> Read:
    """Find out what a column contains; TypeError if it is dates that the rules refuse.

    `as_is` texts have another meaning, as nodes of a value hierarchy. A column of texts
    is read by the `decision`, by default the one that its own cells suggest.
    """
    order = rules.order_of(column.name)
    if order is not None and not nominal:
        column = with_order(column, order)
    is_ordered = isinstance(column, ValueColumn) and column.ordered and not nominal
    changes: tuple[str, ...] = ()
    note = ""
    text = None
    if decision is not None and (
        not isinstance(column, ValueColumn) or _has_truths(column)
    ):
        # The texts of a file were read by the decision already.
        text, changes = decision
        _check_finite(column.name, text)
        note = "; ".join(changes)
        if text.kind == "text" and isinstance(column, NumberColumn):
            column = as_text(column)
    elif isinstance(column, ValueColumn) and column.is_text and not as_is:
        form, notes = decision or decide(evidence_of(column))
        note = "; ".join(notes)
        if form.kind != "text":
            text = form
            _check_finite(column.name, text)
            column = spelled_column(column, text).column
        if isinstance(column, NumberColumn):
            changes = ("text that spells numbers, taken as numbers", *notes)
            is_numeric = many_distinct(column) or (
                len(column.distinct().values) > MAX_NOMINAL_NUMBERS
            )
            note = "; ".join(changes) if is_numeric else note
        else:
            changes = notes
    if isinstance(column, TimeColumn):
        return _read_times(column, rules, text, changes)
    if isinstance(column, NumberColumn):
        column, n_distinct, n_missing = _numbers(column)
        reading = ColumnReading(
            column.name, "numbers", n_distinct, n_missing, changes, text=text
        )
        return Read(reading, [column], note=note)
    form_read: Form = "values"
    if is_ordered:
        form_read = "ordered"
    elif _has_truths(column):
        form_read = "truths"
    else:
        remarks = note, _missing_texts(column), _blanks_around(column)
        note = "; ".join(filter(None, remarks))
    reading = ColumnReading(
        column.name, form_read, *_counts(column), changes, text=text
    )
    return Read(reading, [column], note=note)


def _has_truths(column: ValueColumn) -> bool:
    """Whether values are booleans."""
    texts = isinstance(column.values, TextValues)
    return not texts and any(isinstance(value, bool) for value in column.values)


def as_text(column: PlainColumn) -> ValueColumn:
    """A column whose numbers are the texts that write them."""
    values = column.distinct()
    texts = [
        str(int(value))
        if isinstance(value, float) and value.is_integer()
        else str(value)
        for value in values.values
        if value is not None
    ]
    return values if len(texts) < len(values.values) else replace(values, values=texts)


def _check_finite(name: Name, form: TextForm) -> None:
    """Raise ValueError if a text that would be missing spells infinity."""
    if any(map(is_infinite, form.missing)):
        raise infinite(name)


def _read_times(
    column: TimeColumn,
    rules: EncoderRules,
    text: TextForm | None,
    changes: tuple[str, ...],
) -> Read:
    """Dates as their parts, durations as numbers."""
    called = "durations" if column.is_duration else "dates"
    if rules.dates == "error":
        raise TypeError(
            f"column {quoted(column.name)} holds {called}, which dates='error' "
            "refuses; convert it to text or numbers, or allow dates='expand'"
        )
    n_missing = n_cells(column, column.missing)
    # Distinct dates are counted where their days are cut.
    n_distinct = int(not column.missing.all())
    reading = ColumnReading(column.name, "date", n_distinct, n_missing, text=text)
    if column.is_duration:
        unit = duration_unit(column)
        change = f"durations, taken as numbers of {unit}"
        reading = replace(
            reading, form="duration", changes=(change, *changes), unit=unit
        )
        return Read(reading, reading.read(column)[0])
    planned, zone = (None, None) if text is None else (text.parts, text.zone)
    zone = plain_zone(column.zone) if zone in (None, WRITTEN) else zone
    column = by_clock(column, zone)
    zone = WRITTEN if text is not None and text.zone == WRITTEN else zone
    parts, origin = planned or varying_parts(column), first_day(column)
    if planned is None and text is not None and text.order in PERIODS:
        # The weekday of a period's first day means nothing.
        parts = tuple(part for part in parts if part != "weekday")
    change = f"dates, taken apart: {', '.join(parts)}"
    if DAYS in parts:
        start = np.datetime64(origin, "us").astype("datetime64[D]")
        change += f" (days since {start})"
    if zone not in (None, WRITTEN):
        change += f", by the clock of {_zone(zone)}"
    reading = replace(
        reading, changes=(change, *changes), parts=parts, origin=origin, zone=zone
    )
    numeric = part_name(column.name, DAYS)
    return Read(reading, part_columns(column, parts, origin), numeric)


def with_order(column: Column, order: Sequence[Hashable]) -> ValueColumn:
    """A column as categories in a given order.

    An empty one is that which the table declares, or else that of the values.

    ValueError if it has a value that the order lacks, or if a text can be several
    orders; TypeError if it has dates.
    """
    if isinstance(column, TimeColumn):
        raise TypeError(
            f"ordered_features names column {quoted(column.name)}, which holds dates; "
            "leave it out there"
        )
    values = column.distinct()
    if not order and values.ordered:
        return values
    used = {values.values[i] for i in np.unique(values.indices) if i >= 0}
    if len(order) == 1 and isinstance(order[0], str) and "<" in order[0]:
        order = _order_in_text(column.name, order[0], used)
    wanted = list(order) or sorted(used, key=lambda v: (isinstance(v, str), v))
    place = {value: i for i, value in enumerate(wanted)}
    absent = [value for value in used if value not in place]
    if absent:
        raise ValueError(
            f"column {quoted(column.name)} holds {quoted(absent[0])}, which its order "
            "in ordered_features lacks; add it"
        )
    table = np.array([*(place.get(v, -1) for v in values.values), -1], dtype=np.int32)
    return replace(values, indices=table[values.indices], values=wanted, ordered=True)


def _order_in_text(name: Name, text: str, used: set[Hashable]) -> list[Hashable]:
    """The order that a text with ``<`` between categories contains.

    Where a used value contains ``<`` itself, the text is taken apart so that it has
    every used value once. ValueError if there are several ways.
    """
    pieces = [piece.strip() for piece in text.split("<")]
    by_text = {"<".join(p.strip() for p in str(v).split("<")): v for v in used}
    joined = [written for written in by_text if "<" in written]
    longest = max((written.count("<") + 1 for written in joined), default=1)
    # Ways to take apart the pieces up to a place, all of them without a repetition.
    ways: list[set[tuple[str, ...]]] = [{()}]
    for end in range(1, len(pieces) + 1):
        ways.append(set())
        for start in range(max(0, end - longest), end):
            level = "<".join(pieces[start:end])
            if level and (end - start == 1 or level in by_text):
                ways[-1] |= {(*w, level) for w in ways[start] if level not in w}
        if len(ways[-1]) > _MAX_WAYS:
            ways = [set()]
            break
    matches = [way for way in ways[-1] if by_text.keys() <= set(way)]
    if joined and len(matches) != 1:
        raise ValueError(
            f"the order {quoted(text)} of column {quoted(name)} in ordered_features "
            f"does not contain {quoted(joined[0])} and its other categories in exactly "
            'one way; list them, on the command line in quotes as in "<1"<"1<2"<"2"'
        )
    if not joined and (not all(pieces) or len(set(pieces)) < len(pieces)):
        raise ValueError(
            f"the order {quoted(text)} of column {quoted(name)} in ordered_features "
            "has an empty category, or one twice"
        )
    levels = matches[0] if matches else pieces
    return [by_text.get(level, level) for level in levels]


def _numbers(column: NumberColumn) -> tuple[NumberColumn, int, int]:
    """A column of numbers, floats that are few integers as integers.

    With it the number of distinct values, at least one too many for a nominal column
    where there are more, and that of missing cells.
    """
    present, n_missing = column.values, 0
    if column.missing is not None:
        present = present[~column.missing]
        n_missing = n_cells(column, column.missing)
    if many_distinct(column):
        return column, MAX_NOMINAL_NUMBERS + 1, n_missing
    distinct = np.unique(present)
    if column.is_integer or not 0 < len(distinct) <= MAX_NOMINAL_NUMBERS:
        return column, len(distinct), n_missing
    whole = (distinct == np.floor(distinct)) & (np.abs(distinct) < EXACT)
    if whole.all():
        values = column.values
        if column.missing is not None:
            values = np.where(column.missing, 0.0, values)
        column = replace(column, values=values.astype(np.int64))
    return column, len(distinct), n_missing


def many_distinct(column: NumberColumn) -> bool:
    """Whether a few rows show already that a column is no nominal one."""
    head = column.values[:1000]
    if column.missing is not None:
        head = head[~column.missing[:1000]]
    return len(np.unique(head)) > MAX_NOMINAL_NUMBERS


def _counts(column: ValueColumn) -> tuple[int, int]:
    """Distinct values that occur, and missing cells."""
    used = np.bincount(column.indices + 1, minlength=1)
    return int(np.count_nonzero(used[1:])), n_cells(column, column.indices < 0)


def _blanks_around(column: ValueColumn) -> str:
    """A note on texts that differ in blanks around them alone."""
    trimmed: dict[str, str] = {}
    for value in column.values:
        if isinstance(value, str):
            other = trimmed.setdefault(value.strip(), value)
            if other != value:
                return (
                    f"{quoted(other)} and {quoted(value)} differ in blanks around them "
                    "alone; trim the cells if they are the same"
                )
    return ""


def _missing_texts(column: ValueColumn) -> str:
    """A note on texts that elsewhere mean a missing cell."""
    suspects = [
        place
        for place, value in enumerate(column.values)
        if isinstance(value, str) and value.strip() in ("", *SUSPECT_TEXTS)
    ]
    cells = n_cells(column, np.isin(column.indices, suspects)) if suspects else 0
    if not cells:
        return ""
    texts = " and ".join(quoted(column.values[place]) for place in suspects)
    return (
        f"holds the text {texts} in {counted(cells, 'cell')}, kept as a value; "
        "make such cells missing if they are"
    )
