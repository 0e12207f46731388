"""Scores that are sums of tables, densities and trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.sql.averages.long_tables import LongTables
from bayleaf.io.exports.sql.looking_up import Addend, Look, Rows, check_size
from bayleaf.io.exports.sql.networks import add_terms, slot_of
from bayleaf.io.exports.sql.numbers import add_densities, tree_terms
from bayleaf.io.exports.sql.pipeline import Columns
from bayleaf.io.exports.sql.words import Expression, at_most, case, col, num
from bayleaf.scoring import terms as scoring
from bayleaf.scoring.fusing import fused, tables_of

# Entries of all tables up to which each table is conditions or joined by itself.
_FEW_ENTRIES = 5_000

_NO_COMPILER = (
    "execute SET jit = off first, since the server would spend minutes on compiling "
    "this query"
)


def add_tables(
    rows: Rows,
    terms: Sequence[scoring.Term],
    cards: Sequence[int],
    n_classes: int,
    base: Sequence[float] = (),
    *,
    told: bool,
) -> str:
    """Score rows by tables, densities and trees; columns as for `add_terms`.

    Returns a remark for the reader of the query, empty if there is nothing to say.
    """
    slot, coded = partial(slot_of, is_reported=told), _Coded()
    tables = fused(map(_relative, tables_of(terms)), by_owner=told)
    looks = [(slot(table.owner), coded.look(table)) for table in tables]
    remark = ""
    n_entries = sum(look.n_entries for _, look in looks)
    if rows.form == "case" or (rows.form == "auto" and n_entries <= _FEW_ENTRIES):
        check_size([look for _, look in looks])
        if coded.new:
            rows.extend(coded.new)
        rows.add_up(looks, n_classes)
        if coded.new:
            rows.extend({}, without=list(coded.new))
    elif looks:
        if rows.pipeline.dialect == "postgres":
            remark = _NO_COMPILER
        LongTables(cards, coded.new, n_classes).add(rows, looks)
    densities = [term for term in terms if isinstance(term, scoring.Density)]
    if densities:
        add_densities(rows, densities, n_classes, slot)
    trees: list[Addend] = []
    for term in terms:
        if isinstance(term, scoring.Tree):
            trees += tree_terms(term, n_classes, slot)
    add_terms(rows, trees, len(cards), n_classes, base, told=told)
    return remark


def _relative(look: scoring.Look) -> scoring.Look:
    """The same relative to the first class, which takes one column less."""
    first = look.rows[:, :1]
    if not first.any() or not np.isfinite(first).all():
        return look
    return replace(look, rows=look.rows - first)


class _Coded:
    """Columns of the states of codings; `new` has those to be added."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], str] = {}
        self.new: Columns = {}

    def look(self, table: scoring.Look) -> Look:
        """A table by columns; with a gate, a 1 is looked up in addition."""
        columns = [
            self._column(states, feature)
            for states, feature in zip(table.maps, table.features, strict=True)
        ]
        radices, states = list(table.radices), table.states
        if table.gate is not None:
            columns.append(self._column(table.gate.astype(np.int64), table.owner))
            radices.append(2)
            states = np.pad(states, ((0, 0), (0, 1)), constant_values=1)
        return Look(tuple(columns), tuple(radices), states, table.rows)

    def _column(self, states: NDArray[np.int64], variable: int) -> str:
        """The column of one variable; its codes where these are the states."""
        if np.array_equal(states, np.arange(len(states))):
            return f"c{variable}"
        key = variable, states.tobytes()
        if key not in self._known:
            self._known[key] = f"q{len(self._known)}"
            self.new[self._known[key]] = _mapped(f"c{variable}", states)
        return self._known[key]


def _mapped(column: str, states: NDArray[np.int64]) -> Expression:
    """The state of a code: runs of codes with one state are one condition."""
    ends = np.flatnonzero(np.diff(states, append=-1))
    cases = [
        (at_most(col(column), num(int(end))), num(int(states[end]))) for end in ends
    ]
    return case(cases[:-1], cases[-1][1])
