"""Missing cells of tables filled in by a network, given what each row contains."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.threads import thread_count
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.data.partial_values import Rows as TableRows
from bayleaf.data.partial_values import cells_naming_groups
from bayleaf.data.random_state import RandomState, random_generator
from bayleaf.data.state_numbers import expected_cells, numbers_of_states
from bayleaf.data.tables.columns import NumberColumn, PlainColumn, ValueColumn
from bayleaf.data.tables.filling import Filled, with_cells
from bayleaf.data.tables.frames import column_names
from bayleaf.data.text_forms import TRUTHS
from bayleaf.inference.encoded_rows import Unknown, encoded_columns, matched_columns
from bayleaf.inference.network_trees import NetworkTrees, Part
from bayleaf.inference.row_propagation import (
    impossible_row,
    log_likelihood_rows,
    observed,
    posterior_rows,
)
from bayleaf.inference.set_evidence import with_set_evidence
from bayleaf.inference.states import check_integer
from bayleaf.wording import quoted

Floats = NDArray[np.float64]
Kind = Literal["integer", "float", "truth", "text", "any"]
Whole = NDArray[np.int64]

# Uniforms drawn at a time; how rows fall into blocks changes no draw.
_BLOCK_UNIFORMS = 1 << 20
# Rows whose distinct ones are found at a time.
_BLOCK_ROWS = 1 << 16
# Probabilities that are closer than this are taken as equal.
_ROUNDING = 1e-12
How = Literal["most_probable", "marginal", "mean", "sample"]
Impossible = Literal["error", "missing"]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class CellWriter:
    """Turns states of a variable into cell values of its column."""

    variable: Variable
    column: PlainColumn | None  # None for a new column
    codes: NDArray[Any]  # (n_rows,), of the column's cells

    @cached_property
    def kind(self) -> Kind:
        """What the cells that are not missing hold."""
        if isinstance(self.column, NumberColumn):
            return "integer" if self.column.is_integer else "float"
        held = {type(value) for value in self._used}
        if held and all(issubclass(kind, str) for kind in held):
            return "text"
        if held == {bool}:
            return "truth"
        return "integer" if held == {int} else "any"

    @cached_property
    def gives_numbers(self) -> bool:
        """Whether intervals become numbers; else they are called by their labels."""
        variable = self.variable
        if variable.kind != "numeric" or variable.categories is not None:
            return False
        return self.kind != "text" or not any(u in variable.states for u in self._used)

    def values(self, states: NDArray[Any], shares: Floats | None = None) -> list[Any]:
        """Cells for states (n,); ValueError if the column cannot contain a value.

        `shares` (n,), from 0 to 1, is where in an interval the number lies. By default
        it is the mean, and the middle one of several categories.
        """
        if self.gives_numbers:
            return self._numbers(numbers_of_states(self.variable, states, shares))
        if self.variable.categories is not None:
            return self._categories(states, shares)
        used = np.unique(states)
        cells = np.empty(len(used), dtype=object)
        cells[:] = [self._cell(self.variable.states[s], int(s)) for s in used]
        return list(cells[np.searchsorted(used, states)])

    def means(self, probabilities: Floats) -> list[Any]:
        """Expected numbers of rows with some probabilities of intervals."""
        return self._numbers(expected_cells(self.variable, probabilities))

    @cached_property
    def _used(self) -> list[Hashable]:
        """The values that the column's cells hold."""
        if self.column is None or isinstance(self.column, NumberColumn):
            return []
        used = np.unique(self.column.indices[self.column.indices >= 0])
        return [self.column.values[place] for place in used.tolist()]

    @cached_property
    def _spelled(self) -> dict[int, Any]:
        """How the column writes a state, by the first cell that holds it."""
        if self.column is None:
            return {}
        codes, firsts = np.unique(self.codes, return_index=True)
        found = {}
        for code, row in zip(codes.tolist(), firsts.tolist(), strict=True):
            if code >= self.variable.n_known_states:
                continue
            if isinstance(self.column, NumberColumn):
                found[code] = self.column.values[row].item()
            else:
                found[code] = self.column.values[self.column.indices[row]]
        return found

    def _numbers(self, numbers: Floats) -> list[Any]:
        """Numbers as the column holds them."""
        own = self.variable.numbers
        whole = self.kind == "integer" or (
            own is not None and own.are_whole and self.kind != "float"
        )
        if not whole:
            found = numbers.tolist()
            return list(map(repr, found)) if self.kind == "text" else found
        found = np.rint(numbers).astype(np.int64).tolist()
        return list(map(str, found)) if self.kind == "text" else found

    def _categories(self, states: NDArray[Any], shares: Floats | None) -> list[Any]:
        """Categories for intervals of them, each as probable as the others of its."""
        categories = self.variable.categories or ()
        cuts = np.array(self.variable.cut_points)
        owners = np.searchsorted(cuts, np.arange(len(categories)))
        firsts = np.searchsorted(owners, states)
        sizes = np.searchsorted(owners, states, side="right") - firsts
        inside = (sizes - 1) // 2 if shares is None else (shares * sizes).astype(int)
        return [self._cell(categories[place], -1) for place in firsts + inside]

    def _cell(self, state: Any, code: int) -> Any:
        """One state as the column holds it."""
        if _fits(state, self.kind):
            return state
        if code in self._spelled:
            return self._spelled[code]
        if self.kind == "text":
            return str(state)
        try:
            if self.kind == "truth":
                return TRUTHS[str(state)]
            return int(str(state)) if self.kind == "integer" else float(str(state))
        except (KeyError, ValueError):
            raise ValueError(
                f"column {quoted(self.variable.name)} holds values of another kind "
                f"({self.kind}) than state {quoted(state)} of the network; convert the "
                "column"
            ) from None


def missing_cells(column: PlainColumn) -> NDArray[np.bool_]:
    """Which cells of a column are missing, shape (n_rows,)."""
    if not isinstance(column, NumberColumn):
        return np.asarray(column.indices < 0)
    if column.missing is None:
        return np.zeros(column.n_rows, dtype=np.bool_)
    return column.missing


def _fits(state: Any, kind: Kind) -> bool:
    """Whether a column of a kind may hold a state as it is."""
    if kind == "any":
        return True
    if kind == "text":
        return isinstance(state, str)
    if kind == "truth":
        return isinstance(state, bool)
    is_number = isinstance(state, int if kind == "integer" else int | float)
    return is_number and not isinstance(state, bool)


class Drawn(NamedTuple):
    """States drawn for the wanted cells of one variable."""

    states: Whole  # (n_cells,)
    shares: Floats  # (n_cells,), a uniform each, for draws within the state


@dataclass(frozen=True)
class Filling:
    """How missing cells are filled, see `Inference.impute`; ValueError if invalid."""

    how: How = "most_probable"
    n_imputations: int | None = None
    random_state: RandomState = None
    impossible: Impossible = "error"  # refuse such rows or leave cells missing
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        for what, given, known in (
            ("how", self.how, get_args(How)),
            ("impossible", self.impossible, get_args(Impossible)),
        ):
            if given not in known:
                raise ValueError(
                    f"{what} must be one of {', '.join(map(repr, known))}, got "
                    f"{quoted(given)}"
                )
        number = self.n_imputations
        if number is None:
            return
        if self.how != "sample":
            raise ValueError(
                f"n_imputations asks for several draws, but how={self.how!r} draws "
                "nothing; use how='sample'"
            )
        check_integer("n_imputations", number)


@dataclass(frozen=True)
class ReadTable:
    """A table as a network reads it; keys are positions of variables."""

    rows: TableRows  # all variables of the network
    columns: Mapping[int, PlainColumn]  # to be filled, as the table has them
    places: Mapping[int, int]  # columns' places in the table
    added: tuple[int, ...] = ()  # variables that become new columns


def read_table(
    trees: NetworkTrees, table: Any, unknown: Unknown, *, add_columns: bool
) -> ReadTable:
    """Find a network's variables among the columns of a table.

    ValueError if no column is a variable, or a value is not a state.
    """
    domain = trees.domain
    names = list(table) if isinstance(table, Mapping) else column_names(table)
    known = {str(name) for name in domain.names}
    others = {str(name) for name in names or ()} - known
    is_foreign = names is not None and not known & {str(name) for name in names}
    columns = {} if is_foreign else dict(matched_columns(domain, table, others))
    if names is None:
        places = {position: position for position in columns}
    else:
        place = {str(name): j for j, name in enumerate(names)}
        places = {p: place[str(column.name)] for p, column in columns.items()}
    rows = encoded_columns(domain, columns, unknown)
    added = [v for v in range(len(domain)) if v not in columns] if add_columns else []
    return ReadTable(rows, columns, places, tuple(added))


@dataclass(frozen=True, eq=False)
class Imputation:
    """The missing cells of a table, and how a network fills them."""

    trees: NetworkTrees
    read: ReadTable
    filling: Filling

    def tables(self, table: Any) -> list[Any]:
        """Copies of a table with its missing cells filled, `n_imputations` of them.

        ValueError names a column whose cells have no value, or reports too large a
        table of inference; ImpossibleEvidenceError names the first row of probability
        zero; TypeError means that a column's type cannot take a value.
        """
        return [self._written(table, values) for values in self._values()]

    @cached_property
    def _evidence(self) -> tuple[NetworkTrees, Codes]:
        """Trees and codes in which cells that name groups are evidence."""
        return with_set_evidence(self.trees, self.read.rows)

    @cached_property
    def wanted(self) -> dict[int, Rows]:
        """Increasing rows by variable whose cells are to be filled, if it has any.

        Rows of probability zero are left out, or are the error for one of them.
        """
        codes = self._evidence[1]
        wanted = {v: missing_cells(own) for v, own in self.read.columns.items()}
        is_missing = {v for v, missing in wanted.items() if missing.any()}
        for v, column in self.read.columns.items():
            tree = self.trees.domain[v].hierarchy
            if tree is not None and isinstance(column, ValueColumn):
                wanted[v] = wanted[v] | (cells_naming_groups(column, tree).places >= 0)
        rows = {v: np.flatnonzero(cells) for v, cells in wanted.items()}
        rows |= {v: np.arange(codes.n_rows) for v in self.read.added}
        rows = {v: own for v, own in sorted(rows.items()) if len(own)}
        for v in rows:
            variable = self.trees.domain[v]
            if variable.has_missing_state and v in {*is_missing, *self.read.added}:
                raise ValueError(
                    f"missing cells of {quoted(variable.name)} are a state of their "
                    "own in this network, so there is nothing to fill in; fit it with "
                    "missing='marginalize'"
                )
        if not rows:
            return rows
        open_rows = np.unique(np.concatenate([*rows.values()]))
        logs = log_likelihood_rows(
            self._evidence[0], codes.rows(open_rows), self.filling.n_jobs
        )
        impossible = open_rows[np.isneginf(logs)]
        if len(impossible) and self.filling.impossible == "error":
            first, given = int(impossible[0]), observed(codes)
            error = impossible_row(self._evidence[0], codes, first, given)
            hint = "impossible='missing' leaves such rows as they are"
            error.args = (f"{error} ({hint})",)
            raise error
        kept = {v: own[~np.isin(own, impossible)] for v, own in rows.items()}
        return {v: own for v, own in kept.items() if len(own)}

    def _values(self) -> Iterable[dict[int, list[Any]]]:
        """Values for what is wanted, by variable; once for each table."""
        n_tables = self.filling.n_imputations or 1
        if not self.wanted:
            return [{} for _ in range(n_tables)]
        writers = {
            v: CellWriter(
                self.trees.domain[v],
                self.read.columns.get(v),
                self._evidence[1].column(v),
            )
            for v in self.wanted
        }
        how = self.filling.how
        if how == "sample":
            rng = random_generator(self.filling.random_state)
            return (
                {
                    v: writers[v].values(own.states, own.shares)
                    for v, own in draw.items()
                }
                for draw in self._drawn_states(n_tables, rng)
            )
        if how == "most_probable":
            states = self._most_probable_states()
            return [{v: writers[v].values(own) for v, own in states.items()}]
        values = {}
        for v, chances in self._posteriors():
            by_mean = how == "mean" and writers[v].gives_numbers
            writer = writers[v]
            values[v] = (
                writer.means(chances) if by_mean else writer.values(likeliest(chances))
            )
        return [values]

    @property
    def _involved(self) -> set[int]:
        """Variables that rows are about, and those that are wanted."""
        return {*self.wanted, *observed(self._evidence[1])}

    def _most_probable_states(self) -> dict[int, Whole]:
        """The most probable completion of each row, all its open cells together.

        States (n_cells,) by variable. Unobserved variables on which nothing depends are
        summed out; others that the rows leave open, in addition to those wanted, take
        their most probable states. Ties go to the lowest state of the variable that the
        junction tree meets first.
        """
        part = self._evidence[0].upper_part(self._involved)
        open_rows = np.unique(np.concatenate([*self.wanted.values()]))
        found = np.empty((len(open_rows), len(part.members)), dtype=np.uint16)
        for first in range(0, len(open_rows), _BLOCK_ROWS):
            block = slice(first, first + _BLOCK_ROWS)
            rows = self._evidence[1].rows(open_rows[block])
            found[block] = _most_probable_rows(part, rows)
        return {
            variable: found[
                np.searchsorted(open_rows, where), part.positions[variable]
            ].astype(np.int64)
            for variable, where in self.wanted.items()
        }

    def _posteriors(self) -> Iterator[tuple[int, Floats]]:
        """Each wanted variable with its posteriors, shape (n_cells, card)."""
        part = self._evidence[0].part_of(self._involved)
        n_threads = thread_count(self.filling.n_jobs)
        for variable, where in self.wanted.items():
            known = part.codes(self._evidence[1].rows(where))
            place = part.positions[variable]
            yield variable, posterior_rows(part.tree, known, place, n_threads)[0]

    def _drawn_states(
        self, n_draws: int, rng: np.random.Generator
    ) -> list[dict[int, Drawn]]:
        """States by draw and variable, from the joint posterior of each row's cells.

        One variable after another is drawn given the row's cells and what was drawn
        before it, which is exact by the chain rule. Each row takes as many uniforms, so
        that a table drawn in parts gets the same states; none depends on `n_jobs`.
        """
        rows = self._evidence[1]
        part = self._evidence[0].part_of(self._involved)
        draws: list[dict[int, list[Drawn]]] = [
            {v: [] for v in self.wanted} for _ in range(n_draws)
        ]
        shape = (n_draws, 2, len(self.trees.domain))
        step = max(1, _BLOCK_UNIFORMS // math.prod(shape))
        for first in range(0, rows.n_rows, step):
            last = min(first + step, rows.n_rows)
            uniforms = rng.random((last - first, *shape))
            # The wanted cells of the block, numbered from its first row on.
            own = {
                v: where[slice(*np.searchsorted(where, (first, last)))] - first
                for v, where in self.wanted.items()
            }
            own = {v: where for v, where in own.items() if len(where)}
            block = rows.rows(slice(first, last))
            for number, into in enumerate(draws):
                drawn = _drawn_block(
                    part, block, own, uniforms[:, number], self.filling.n_jobs
                )
                for variable, states in drawn.items():
                    into[variable].append(states)
        # Blocks without a wanted cell of a variable have none of its draws.
        none = Drawn(np.empty(0, dtype=np.int64), np.empty(0))
        return [
            {v: Drawn(*map(np.concatenate, zip(none, *own))) for v, own in draw.items()}
            for draw in draws
        ]

    def _written(self, table: Any, values: Mapping[int, list[Any]]) -> Any:
        """One table with values in its cells."""
        read, wanted = self.read, self.wanted
        cells = {
            read.places[v]: Filled(wanted[v], own)
            for v, own in values.items()
            if v in read.places
        }
        added = {}
        for v in read.added:
            column: list[Any] = [None] * read.rows.n_rows
            if v in values:
                for row, value in zip(wanted[v].tolist(), values[v], strict=True):
                    column[row] = value
            added[self.trees.domain[v].name] = column
        return with_cells(table, cells, added)


def likeliest(probabilities: Floats) -> Whole:
    """The most probable state of each row, the lowest among equal ones."""
    highest = probabilities.max(axis=1, keepdims=True)
    among = probabilities >= highest * (1.0 - _ROUNDING)
    return np.asarray(np.argmax(among, axis=1))


def _most_probable_rows(part: Part, rows: Codes) -> NDArray[np.uint16]:
    """Most probable states of a part, searched for once for rows that are alike."""
    codes = part.codes(rows)
    cells = np.ascontiguousarray(codes.columns(range(codes.n_variables)).T)
    texts = cells.view(np.dtype((np.void, cells.shape[1] * cells.itemsize))).ravel()
    _, firsts, same = np.unique(texts, return_index=True, return_inverse=True)
    distinct = cells[firsts]
    known = distinct < np.array(codes.cards)
    found = np.empty_like(distinct)
    for place, (row, is_known) in enumerate(zip(distinct, known, strict=True)):
        given = np.flatnonzero(is_known)
        findings = dict(zip(given.tolist(), row[given].tolist(), strict=True))
        found[place], _ = part.tree.most_probable(findings)
    return np.asarray(found[same])


def _drawn_block(
    part: Part,
    rows: Codes,
    wanted: Mapping[int, Rows],
    uniforms: Floats,
    n_jobs: int | None,
) -> dict[int, Drawn]:
    """States drawn for a block of rows from uniforms (n_rows, 2, n_variables)."""
    codes = part.codes(rows)
    columns: list[NDArray[np.integer[Any]]] = [
        np.array(codes.column(v)) for v in range(codes.n_variables)
    ]
    drawn = {}
    for variable, where in wanted.items():
        place = part.positions[variable]
        known = Codes.from_columns([own[where] for own in columns], codes.cards)
        chances, _ = posterior_rows(part.tree, known, place, thread_count(n_jobs))
        cumulative = np.cumsum(chances, axis=1)
        # So that the last state that is possible exceeds any uniform below 1.
        cumulative /= cumulative[:, -1:]
        below = cumulative <= uniforms[where, 0, variable][:, None]
        states: Whole = below.sum(axis=1)
        columns[place][where] = states
        drawn[variable] = Drawn(states, uniforms[where, 1, variable])
    return drawn
