"""Very many tables looked up at once, in queries that are planned as fast as others.

Each row becomes a row for every table, with the number of its joint state; all tables
are one, which is joined and added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from bayleaf.io.exports.sql.look_ups import (
    MAX_NUMBERS,
    SPLIT,
    Addend,
    Joined,
    Table,
    add_up,
    batches,
    keyed,
)
from bayleaf.io.exports.sql.stages import Columns, Rows, kept
from bayleaf.io.exports.sql.words import (
    case,
    cast,
)

# Tables that one stage looks up: each is a condition on the table's number.
_MAX_TABLES = 250
# Columns of codes that one stage may make for them.
_MAX_CODED = 500
# Joint states that integers of eight bytes count.
_MAX_KEYS = 1 << 62
# Numbers that a query may contain where they are written as texts.
_MAX_IN_TEXTS = 10_000_000

Slotted = tuple[str, Table]


def add_long(
    rows: Rows,
    tables: Sequence[Slotted],
    cards: Sequence[int],
    coded: Columns,
    n_classes: int,
) -> None:
    """Add tables to the columns slot_class; `coded` are columns made of codes.

    ValueError if there are more numbers than databases take.
    """
    _check(tables, rows.dialect)
    # Rows with the same codes are scored once, and joined again by their codes.
    numbers = _row_numbers(cards)
    rows.extend(numbers)
    distinct = rows.branch()
    distinct.group([*numbers, *(f"c{v}" for v in range(len(cards)))], {})
    sums: list[Addend] = []
    for batch in batches(tables, _fits):
        own = [table for _, table in batch]
        sums.append((batch[0][0], _sums(distinct.branch(), [*numbers], own, coded)))
    add_up(rows, sums, n_classes)
    rows.extend({}, without=numbers)


def _row_numbers(cards: Sequence[int]) -> Columns:
    """Columns of numbers that rows share if and only if they have the same codes."""
    numbers = []
    for part in batches(
        range(len(cards)), lambda own: prod(cards[v] + 1 for v in own) <= _MAX_KEYS
    ):
        number = "0"
        for v in part:
            number = f"(({number}) * {cards[v] + 1} + {cast(f'c{v}', 'BIGINT')})"
        numbers.append(number)
    return {f"r{n}": number for n, number in enumerate(numbers)}


def _fits(batch: Sequence[Slotted]) -> bool:
    """Whether one stage may look up some tables, all of them for one slot."""
    columns = {column for _, table in batch for column in table.columns}
    return (
        batch[-1][0] == batch[0][0]
        and len(batch) <= _MAX_TABLES
        and len(columns) <= _MAX_CODED
        and sum(prod(table.radices) for _, table in batch) <= _MAX_KEYS
    )


def _sums(
    rows: Rows, numbers: list[str], tables: Sequence[Table], coded: Columns
) -> Joined:
    """Sums of some tables for each row."""
    used = sorted({key for table in tables for key in table.columns})
    wide = {key: cast(coded.get(key, key), "BIGINT") for key in used}
    rows.select({**kept(numbers), **wide})
    starts = np.cumsum([0, *(prod(table.radices) for table in tables)]).tolist()
    keys = np.concatenate([t.keys + start for t, start in zip(tables, starts)])
    values = np.concatenate([table.values for table in tables])
    offset_keys = [f"({t.key} + {start})" for t, start in zip(tables, starts)]
    _add_rows(rows, numbers, offset_keys)
    outputs = np.flatnonzero((values != 0).any(axis=0)).tolist()
    stage = keyed(rows, keys, {f"v{c}": values[:, c] for c in outputs})
    totals = {f"v{c}": f"SUM({stage}.v{c})" for c in outputs}
    keys_of = {f"k{r}": r for r in numbers}
    condition = f" JOIN {stage} ON {stage}.k = {rows.stage}.k"
    rows.select({**keys_of, **totals}, f"{condition} GROUP BY {', '.join(numbers)}")
    return Joined(rows.stage, keys_of, outputs)


def _add_rows(rows: Rows, numbers: list[str], values: Sequence[str]) -> None:
    """A row for each of some values of every row, called k."""
    if rows.dialect in SPLIT:
        rows.select({**kept(numbers), "k": f"UNNEST(ARRAY[{', '.join(values)}])"})
        return
    indices = rows.constants({"t": list(range(len(values)))})
    rows.select({**kept(numbers), "k": _by_index(values, 0)}, f" CROSS JOIN {indices}")


def _by_index(values: Sequence[str], first: int) -> str:
    """The value of the index t, found by halves."""
    half = len(values) // 2
    if not half:
        return values[0]
    lower, upper = (
        _by_index(values[:half], first),
        _by_index(values[half:], first + half),
    )
    return case([(f"t < {first + half}", lower)], upper)


def _check(tables: Sequence[Slotted], dialect: str) -> None:
    """Raise ValueError if databases would not take the numbers of all tables."""
    total = sum(len(table.values) * len(table.outputs) for _, table in tables)
    limit = _MAX_IN_TEXTS if dialect in (*SPLIT, "sqlite") else MAX_NUMBERS
    if total > limit:
        raise ValueError(
            f"the query would hold {total:,} numbers, more than {limit:,}; fit with "
            "fewer networks (n_networks=) or parents (max_parents=), or write the "
            "model to .onnx"
        )
