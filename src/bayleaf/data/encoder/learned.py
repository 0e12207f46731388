"""What became of the columns of a training table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from bayleaf.data.domain import Domain
from bayleaf.data.encoder.table_encoder import TableEncoder
from bayleaf.data.reading.column_reading import ColumnReading
from bayleaf.data.reading.rules import EncoderRules
from bayleaf.data.tables.columns import Name
from bayleaf.data.tables.matrix import LearnedColumn
from bayleaf.wording import name_list


class LearnedVariables(NamedTuple):
    """A column's reading, the variables that came of it, and notes on these."""

    reading: ColumnReading
    variables: list[LearnedColumn]
    notes: dict[Name, str]


def left_out(reading: ColumnReading) -> LearnedVariables:
    """What becomes of an identifier."""
    why = (
        f"left out: nearly every value is another one ({reading.n_distinct} distinct), "
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
            f"no column is left to learn from, since nearly every value is another one "
            f"in {name_list(names)}; add features, or pass identifiers='keep'"
        )
    domain = Domain(tuple(v for one in learned for v, _ in one.variables))
    notes = {name: note for one in learned for name, note in one.notes.items()}
    return TableEncoder(domain, rules, notes, tuple(one.reading for one in learned))
