"""How each column of a training table was taken, for a person to look over."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from bayleaf.data.column_reading import ColumnReading, distinct_text
from bayleaf.data.domain import Variable
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import Name
from bayleaf.wording import (
    brief,
    brief_names,
    counted,
    cut,
    format_number,
    plain,
    visible,
)

_WIDTH = 80
# Room for names, and for what a column was read as, in a line of text.
_NAME, _KIND = 24, 11
# Width of the table's head with that much room for names, and the least room.
_HEAD, _MIN_NAME = 62, 6
_MOST_STATES = 12
# Of more cut points than this their number and range are told.
_CUTS_SHOWN = 24


@dataclass(frozen=True)
class ColumnFacts:
    """How one column was taken.

    `read_as` is "numeric", "ordered", "nominal", "date", "duration", "date part",
    "identifier", "constant" or "empty".
    """

    name: Name  # of the column, or of one of its variables
    read_as: str
    n_distinct: int  # present values; 0 for a part of a date
    n_missing: int  # cells; 0 for a part of a date
    states: tuple[str, ...]  # its values or intervals
    changes: tuple[str, ...] = ()  # what was changed, and why
    note: str = ""  # what a person should check, if anything
    distinct_word: str | None = None  # "about" or "at least", where not all were kept

    @property
    def told_states(self) -> str:
        """The states in words."""
        shown = list(self.states[:_MOST_STATES])
        hidden = len(self.states) - len(shown)
        return ", ".join(shown) + (f" and {hidden} more" if hidden else "")

    @property
    def remark(self) -> str:
        """What the note says in addition to the changes."""
        parts = [part for part in self.note.split("; ") if part not in self.changes]
        return "; ".join(parts)

    def lines(self, width: int = _WIDTH, name_width: int = _NAME) -> list[str]:
        """The facts as lines of a table of text."""
        # Above the line where it is too long for the column of names.
        above = textwrap.wrap(visible(str(self.name)), width)
        name = above.pop() if len(above) == 1 and len(above[0]) <= name_width else ""
        numbers = f"{distinct_text(self):>9}  {self.n_missing:>7,}"
        if self.read_as == "date part":
            numbers = " " * len(numbers)
        line = f"{name:<{name_width}} {self.read_as:<{_KIND}}{numbers}  "
        states = visible(self.told_states)
        below = [*self.changes]
        if self.remark:
            below.append(self.remark)
        if len(line) + len(states) > width:
            below.insert(0, states)
            states = ""
        found = [*above, (line + states).rstrip()]
        for text in below:
            # Long words, as names of values may be, are cut.
            words = " ".join(cut(word, width - 6) for word in visible(text).split())
            found += textwrap.wrap(
                words,
                width,
                initial_indent="    ",
                subsequent_indent="      ",
                break_on_hyphens=False,
            )
        return found


class ColumnTable(Sequence[ColumnFacts]):
    """How each column of a training table was taken; shown as a table.

    A sequence of `ColumnFacts` in the table's order; the parts of a date follow it.
    """

    def __init__(self, encoder: TableEncoder) -> None:
        self._facts = tuple(_facts(encoder))

    def __len__(self) -> int:
        return len(self._facts)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, str):
            return next(facts for facts in self if facts.name == place)
        return self._facts[place]

    def __iter__(self) -> Iterator[ColumnFacts]:
        return iter(self._facts)

    def to_dict(self) -> list[dict[str, Any]]:
        """The facts as plain values, ready for JSON."""
        return [
            {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in asdict(facts).items()
            }
            for facts in self
        ]

    def lines(self, most: int | None = None, width: int = _WIDTH) -> list[str]:
        """The table as lines of some signs at most, of the first columns."""
        room = self.name_width(width)
        head = f"{'column':<{room}} {'read as':<{_KIND}} distinct  missing  states"
        shown = self._facts[:most]
        hidden = len(self) - len(shown)
        more = [f"and {counted(hidden, 'more column')}"] if hidden else []
        lines = (line for facts in shown for line in facts.lines(width, room))
        return [head, *lines, *more]

    def name_width(self, width: int) -> int:
        """The room for names in lines of some signs: what lines have beyond 80.

        Less where the head of the table would be wider than the lines.
        """
        longest = max((len(visible(str(facts.name))) for facts in self), default=0)
        least = max(_MIN_NAME, _NAME - max(0, _HEAD - width))
        return max(least, min(longest, _NAME + width - _WIDTH))

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        kinds = [facts.read_as for facts in self]
        told = [f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)]
        return brief(self, ", ".join(told), brief_names([facts.name for facts in self]))

    def _repr_html_(self) -> str:
        heads = ("column", "read as", "distinct", "missing", "states", "changes, notes")
        head = "".join(f'<th scope="col">{title}</th>' for title in heads)
        rows = "".join(f"<tr>{_cells(facts)}</tr>" for facts in self)
        return (
            f'<table class="bayleaf-columns"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table>"
        )


def _cells(facts: ColumnFacts) -> str:
    """One row of the table in HTML."""
    notes = filter(None, (*facts.changes, facts.remark))
    values = (
        facts.name,
        facts.read_as,
        distinct_text(facts),
        facts.n_missing,
        facts.told_states,
        "; ".join(notes),
    )
    return "".join(f"<td><bdi>{escape(plain(value))}</bdi></td>" for value in values)


def _facts(encoder: TableEncoder) -> Iterator[ColumnFacts]:
    """The facts on all columns, and on what they became."""
    variables = {variable.name: variable for variable in encoder.domain}
    for reading in encoder.readings:
        own = variables.get(reading.name)
        note = encoder.notes.get(reading.name, "")
        yield ColumnFacts(
            reading.name,
            _kind(reading, own),
            reading.n_distinct,
            reading.n_missing,
            () if own is None else state_texts(own),
            reading.changes,
            note,
            reading.distinct_word,
        )
        for part in reading.part_names:
            variable = variables[part]
            note = encoder.notes.get(part, "")
            yield ColumnFacts(part, "date part", 0, 0, state_texts(variable), note=note)


def _kind(reading: ColumnReading, variable: Variable | None) -> str:
    """What a column was read as, in a word or two."""
    if not reading.n_distinct:
        return "empty"
    if reading.form == "left_out":
        return "identifier"
    if reading.form == "date" or variable is None:
        return "date"
    if variable.n_known_states == 1 and reading.n_distinct <= 1:
        return "constant"
    if reading.form == "duration":
        return "duration"
    if variable.categories is not None:
        return "ordered"
    return variable.kind


def state_texts(variable: Variable) -> tuple[str, ...]:
    """A variable's values, or its cut points."""
    if variable.kind == "numeric" and variable.cut_points and not variable.categories:
        cuts = [format_number(cut) for cut in variable.cut_points]
        if len(cuts) > _CUTS_SHOWN:
            return (f"cut at {len(cuts)} points from {cuts[0]} to {cuts[-1]}",)
        return (f"cut at {', '.join(cuts)}",)
    return tuple(variable.label(code) for code in range(variable.n_known_states))
