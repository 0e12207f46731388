"""Tables of a model looked up by codes, as conditions or as tables that are joined.

Very many tables are one, in queries that are planned as fast as others: each row
becomes a row for every table, with the number of its joint state, and is added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.sql.stages import Columns, Rows, kept
from bayleaf.io.exports.sql.words import (
    ZERO,
    both,
    case,
    cast,
    chosen,
    nats,
    plain,
    plus,
    text,
    times,
)
from bayleaf.scoring.terms import Floats, Whole, distinct_rows

# Entries of a table beyond which it is joined, and not written as conditions.
_MAX_CASES = 200
# Tables that one stage may join; SQLite allows 64.
_MAX_JOINS = 40
# Tables written as conditions in one stage.
_CASES_PER_STAGE = 200
# Numbers that a query may contain, and where they are written as texts.
_MAX_NUMBERS, _MAX_IN_TEXTS = 2_000_000, 10_000_000
# Databases that make rows of arrays, and their functions that make arrays of texts.
_SPLIT = {"duckdb": "STRING_SPLIT", "postgres": "STRING_TO_ARRAY"}
# Keys of a value in SQLite, which reads the whole pair for each of them.
_MAX_PAIRED = 32
# Tables that one stage looks up where all are one: each is a condition on its number.
_MAX_TABLES = 250
# Columns of codes that one stage may make for them.
_MAX_CODED = 500
# Joint states that integers of eight bytes count.
_MAX_KEYS = 1 << 62

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Table:
    """Nats of each class by the states of some columns; zero for what is not listed.

    Radices are numbers of states, those of missing cells included; states have shape
    (n_entries, n_columns), values (n_entries, n_classes).
    """

    columns: tuple[str, ...]
    radices: tuple[int, ...]
    states: Whole
    values: Floats
    factor: str = ""  # The column by which nats are multiplied, if any.

    @classmethod
    def dense(cls, columns: Sequence[str], values: Floats) -> Table:
        """Look up an array of shape (*numbers of states, n_classes)."""
        shape = values.shape[:-1]
        used = (values != 0).any(axis=-1)
        # One more for cells without a state in the array.
        radices = tuple(size + 1 for size in shape)
        return cls(tuple(columns), radices, np.argwhere(used), values[used])

    @cached_property
    def outputs(self) -> list[int]:
        """Classes whose nats are not all zero."""
        return np.flatnonzero((self.values != 0).any(axis=0)).tolist()

    @property
    def key(self) -> str:
        """One integer for the states of a row."""
        return _joint(self.columns, self.radices)

    @property
    def keys(self) -> Whole:
        """The integer of each entry."""
        if prod(self.radices) >= 1 << 63:
            raise ValueError(
                "a table of this model has more joint states than databases can "
                "number; fit with fewer parents"
            )
        return np.asarray(np.ravel_multi_index(tuple(self.states.T), self.radices))

    def cases(self, label: int) -> str:
        """The nats of one class as nested conditions."""
        if label not in self.outputs:
            return ZERO
        return self._nested(np.arange(len(self.values)), 0, label)

    def _nested(self, entries: NDArray[np.intp], depth: int, label: int) -> str:
        """Conditions on the columns from one on, for some entries."""
        if depth == len(self.columns):
            return nats(self.values[entries[0], label])
        states = self.states[entries, depth]
        branches = {
            state: self._nested(entries[states == state], depth + 1, label)
            for state in np.unique(states).tolist()
        }
        return chosen(self.columns[depth], branches, ZERO)


def _joint(columns: Sequence[str], radices: Sequence[int]) -> str:
    """One integer for the states of some columns, the last varying fastest."""
    key, *rest = columns
    for column, radix in zip(rest, radices[1:], strict=True):
        key = f"({key} * {radix} + {column})"
    return key


# A slot, and what is added to it: by look-up, or an expression for each class.
Addend = tuple[str, Table | Sequence[str]]


def add_up(
    rows: Rows, terms: Sequence[Addend], n_classes: int, slots: Iterable[str] = ()
) -> None:
    """Add terms to the columns slot_class, which need not exist yet.

    Those of further slots are zero where nothing is added.
    """

    def is_joined(term: Table | Sequence[str]) -> bool:
        return isinstance(term, Table) and len(term.values) > _MAX_CASES

    def fits(batch: Sequence[Addend]) -> bool:
        n_joins = sum(is_joined(term) for _, term in batch)
        return n_joins <= _MAX_JOINS and len(batch) - n_joins <= _CASES_PER_STAGE

    filled = [
        own for own in terms if not isinstance(own[1], Table) or len(own[1].values)
    ]
    for batch in batches(filled, fits):
        parts: dict[str, list[str]] = {}
        joins: list[str] = []
        for slot, term in batch:
            factor = term.factor if isinstance(term, Table) else ""
            if isinstance(term, Table) and is_joined(term):
                term = _joined(rows, term, joins, n_classes)
            elif isinstance(term, Table):
                term = list(map(term.cases, range(n_classes)))
            for c, value in enumerate(term):
                key = f"{slot}_{c}"
                old = [key] if key in rows.columns else []
                parts.setdefault(key, old).append(times(factor, value))
        new = {key: plus(*own) for key, own in parts.items()}
        rows.extend(new, rows.factors + "".join(joins))
    keys = [f"{slot}_{c}" for slot in slots for c in range(n_classes)]
    zeros = {key: ZERO for key in keys if key not in rows.columns}
    if zeros:
        rows.extend(zeros)


def _joined(rows: Rows, table: Table, joins: list[str], n_classes: int) -> list[str]:
    """Join a table, and return its nats by class."""
    # Elsewhere rows must be listed: databases plan joins by their number.
    write = _keyed if rows.dialect == "duckdb" else _listed
    outputs, alias = table.outputs, f"j{len(joins)}"
    stage = write(rows, table.keys, {f"v{c}": table.values[:, c] for c in outputs})
    joins.append(f" LEFT JOIN {stage} AS {alias} ON {alias}.k = {table.key}")
    return [
        f"COALESCE({alias}.v{c}, {ZERO})" if c in outputs else ZERO
        for c in range(n_classes)
    ]


def _keyed(rows: Rows, keys: Whole, values: Mapping[str, Floats]) -> str:
    """A stage with the column k of keys, each once, and columns of their values.

    Most values of large tables occur many times: where databases split texts, a value
    is written once, with all its keys.
    """
    if rows.dialect not in (*_SPLIT, "sqlite"):
        return _listed(rows, keys, values)
    max_keys = _MAX_PAIRED if rows.dialect == "sqlite" else len(keys)
    lists, distinct = _by_value(keys, np.stack([*values.values()], axis=1), max_keys)
    cells = [[plain(nats(value)) for value in row] for row in distinct.tolist()]
    if rows.dialect == "sqlite":
        pairs = ",".join(
            f"[[{','.join(row)}],[{own}]]" for row, own in zip(cells, lists)
        )
        parts = [
            f"JSON_EXTRACT(d.value, '$[0][{n}]') AS {key}"
            for n, key in enumerate(values)
        ]
        source = f"JSON_EACH({text(f'[{pairs}]')}) AS d"
        return rows.add(
            f"SELECT e.value AS k, {', '.join(parts)} FROM {source} "
            "CROSS JOIN JSON_EACH(d.value, '$[1]') AS e"
        )

    def unnested(value: str, sign: str) -> str:
        return f"UNNEST({_SPLIT[rows.dialect]}({value}, '{sign}'))"

    inner = [f"{unnested(text(';'.join(lists)), ';')} AS k"]
    for name, numbers in zip(values, zip(*cells)):
        column = cast(unnested(text(",".join(numbers)), ","), "DOUBLE")
        inner.append(f"{column} AS {name}")
    outer = [f"{cast(unnested('d.k', ','), 'BIGINT')} AS k", *values]
    source = f"(SELECT {', '.join(inner)}) AS d"
    return rows.add(f"SELECT {', '.join(outer)} FROM {source}")


def _listed(rows: Rows, keys: Whole, values: Mapping[str, Floats]) -> str:
    """A stage with the same columns, whose rows are listed one by one."""
    columns = {key: own.tolist() for key, own in values.items()}
    return rows.constants({"k": keys.tolist(), **columns})


def _by_value(keys: Whole, values: Floats, max_keys: int) -> tuple[list[str], Floats]:
    """Rows of values, each with some of the keys that have it, in order and as text."""
    distinct, indices = distinct_rows(values)
    order = np.lexsort((keys, indices))
    words = list(map(str, keys[order].tolist()))
    lists, rows, first = [], [], 0
    for row, n_keys in enumerate(np.bincount(indices).tolist()):
        group, first = words[first : first + n_keys], first + n_keys
        for start in range(0, n_keys, max_keys):
            lists.append(",".join(group[start : start + max_keys]))
            rows.append(row)
    return lists, distinct[rows]


def batches(
    items: Iterable[Item], fits: Callable[[list[Item]], bool]
) -> Iterator[list[Item]]:
    """Items in order, as many at a time as fit together."""
    batch: list[Item] = []
    for item in items:
        if batch and not fits([*batch, item]):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def add_terms(
    rows: Rows,
    terms: Sequence[Addend],
    n_features: int,
    n_classes: int,
    base: Sequence[str] = (),
) -> None:
    """Score rows by a sum: s_class and, if reported, b_class and f{feature}_class.

    Without a base, terms are added to a score that rows have already.
    """
    if base:
        terms = [("b" if rows.is_reported else "s", base), *terms]
    if not rows.is_reported:
        add_up(rows, terms, n_classes)
        return
    slots = ["b", *(f"f{feature}" for feature in range(n_features))]
    add_up(rows, terms, n_classes, slots)
    classes = range(n_classes)
    rows.extend({f"s_{c}": plus(*(f"{slot}_{c}" for slot in slots)) for c in classes})


def check_size(tables: Iterable[Table], limit: int = _MAX_NUMBERS) -> None:
    """Raise ValueError if a query would contain too many numbers."""
    total = sum(len(table.values) * len(table.outputs) for table in tables)
    if total > limit:
        raise ValueError(
            f"the query would hold {total:,} numbers, more than {limit:,}; fit with "
            "fewer networks (n_networks=) or parents (max_parents=), or coarser "
            "intervals, or write the model to .onnx"
        )


# ---- very many tables


def add_long(
    rows: Rows,
    tables: Sequence[tuple[str, Table]],
    cards: Sequence[int],
    coded: Columns,
    n_classes: int,
) -> None:
    """Add tables to the columns slot_class; `coded` are columns made of codes.

    ValueError if there are more numbers than databases take.
    """
    has_texts = rows.dialect in (*_SPLIT, "sqlite")
    check_size(
        (table for _, table in tables), _MAX_IN_TEXTS if has_texts else _MAX_NUMBERS
    )
    # Rows with the same codes are scored once, and joined again by their codes.
    numbers: Columns = {}
    for part in batches(
        range(len(cards)), lambda own: prod(cards[v] + 1 for v in own) <= _MAX_KEYS
    ):
        codes = [cast(f"c{v}", "BIGINT") for v in part]
        numbers[f"r{len(numbers)}"] = _joint(codes, [cards[v] + 1 for v in part])
    rows.extend(numbers)
    distinct = rows.branch()
    same = [*numbers, *rows.factor_keys]
    distinct.group([*same, *(f"c{v}" for v in range(len(cards)))], {})
    distinct.keep_results()
    # What one slot adds by one factor is a group.
    groups = [*dict.fromkeys((slot, table.factor) for slot, table in tables)]
    grouped = [(groups.index((slot, table.factor)), table) for slot, table in tables]
    outputs = sorted({c for _, table in tables for c in table.outputs})
    stages = [
        _sums(distinct.branch(), same, own, coded, outputs)
        for own in batches(grouped, _fits)
    ]
    parts = [f"SELECT {', '.join([*same, 'g', *(f'v{c}' for c in outputs)])} FROM "]
    distinct.stage = distinct.add(
        " UNION ALL ".join(parts[0] + stage for stage in stages), is_inlined=True
    )
    slots = [*dict.fromkeys(slot for slot, _ in groups)]
    totals = {
        f"{slot}v{c}": f"SUM({_weighted(groups, slot, f'v{c}')})"
        for slot in slots
        for c in outputs
    }
    keys_of = {f"k{r}": r for r in numbers}
    tail = f"{rows.factors} GROUP BY {', '.join(numbers)}"
    distinct.select({**keys_of, **totals}, tail)
    on = both(*(f"j.{key} = {r}" for key, r in keys_of.items()))
    new = {}
    for slot in slots:
        for c in range(n_classes):
            key = f"{slot}_{c}"
            value = f"COALESCE(j.{slot}v{c}, {ZERO})" if c in outputs else ZERO
            new[key] = plus(*([key] if key in rows.columns else []), value)
    rows.extend(new, f" LEFT JOIN {distinct.stage} AS j ON {on}", without=numbers)


def _weighted(groups: Sequence[tuple[str, str]], slot: str, value: str) -> str:
    """What a group adds to a slot, under its factor."""
    products = {
        g: times(factor, value) for g, (own, factor) in enumerate(groups) if own == slot
    }
    return chosen("g", products, ZERO) if len(groups) > 1 else products[0]


def _fits(batch: Sequence[tuple[int, Table]]) -> bool:
    """Whether one stage may look up some tables."""
    columns = {column for _, table in batch for column in table.columns}
    return (
        len(batch) <= _MAX_TABLES
        and len(columns) <= _MAX_CODED
        and sum(prod(table.radices) for _, table in batch) <= _MAX_KEYS
    )


def _sums(
    rows: Rows,
    same: Sequence[str],
    grouped: Sequence[tuple[int, Table]],
    coded: Columns,
    outputs: Sequence[int],
) -> str:
    """A stage of the sums of tables by row and by group g."""
    tables = [table for _, table in grouped]
    used = sorted({key for table in tables for key in table.columns})
    wide = {key: cast(coded.get(key, key), "BIGINT") for key in used}
    rows.select({**kept(same), **wide})
    starts = np.cumsum([0, *(prod(table.radices) for table in tables)]).tolist()
    keys = np.concatenate([t.keys + start for t, start in zip(tables, starts)])
    values = np.concatenate([table.values for table in tables])
    # A row for the key in each table.
    offset_keys = [f"({t.key} + {start})" for t, start in zip(tables, starts)]
    indices = [g for g, _ in grouped]
    if rows.dialect in _SPLIT:
        lists = {"k": offset_keys, "g": list(map(str, indices))}
        columns = {
            key: f"UNNEST(ARRAY[{', '.join(own)}])" for key, own in lists.items()
        }
        rows.select({**kept(same), **columns})
    else:
        constants = rows.constants({"t": [*range(len(tables))], "g": indices})
        columns = {"k": _by_index(offset_keys, 0), "g": "g"}
        rows.select({**kept(same), **columns}, f" CROSS JOIN {constants}")
    own = np.flatnonzero((values != 0).any(axis=0)).tolist()
    stage = _keyed(rows, keys, {f"v{c}": values[:, c] for c in own})
    totals = {f"v{c}": f"SUM({stage}.v{c})" if c in own else ZERO for c in outputs}
    groups = [*same, "g"]
    tail = f" JOIN {stage} ON {stage}.k = {rows.stage}.k GROUP BY {', '.join(groups)}"
    rows.select({**kept(groups), **totals}, tail)
    return rows.stage


def _by_index(values: Sequence[str], first: int) -> str:
    """The value of the index t, found by halves."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    upper = _by_index(values[half:], first + half)
    return case([(f"t < {first + half}", _by_index(values[:half], first))], upper)
