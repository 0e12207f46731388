"""Tables whose missing cells a network fills in."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.random_state import random_generator
from bayleaf.data.tables.columns import PlainColumn
from bayleaf.data.tables.filling import Filled, with_cells
from bayleaf.data.tables.frames import column_names
from bayleaf.inference.completion.states import (
    drawn_states,
    likeliest,
    most_probable_states,
    posteriors,
)
from bayleaf.inference.completion.values import CellWriter, missing_cells
from bayleaf.inference.parts import NetworkTrees
from bayleaf.inference.rows import (
    Unknown,
    encoded_columns,
    impossible_row,
    log_likelihood_rows,
    matched_columns,
    observed,
)
from bayleaf.wording import quoted

How = Literal["most_probable", "marginal", "mean", "sample"]
Impossible = Literal["error", "missing"]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Filling:
    """How missing cells are filled, see `Imputation.impute`; ValueError if invalid."""

    how: How = "most_probable"
    n_imputations: int | None = None
    random_state: Any = None
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
        is_whole = isinstance(number, numbers.Integral) and not isinstance(number, bool)
        if not is_whole or number < 1:
            raise ValueError(
                f"n_imputations must be an integer of at least 1, got {quoted(number)}"
            )


@dataclass(frozen=True)
class ReadTable:
    """A table as a network reads it; keys are positions of variables."""

    codes: Codes  # all variables of the network
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
    codes = encoded_columns(domain, columns, unknown)
    added = [v for v in range(len(domain)) if v not in columns] if add_columns else []
    return ReadTable(codes, columns, places, tuple(added))


def filled_tables(
    trees: NetworkTrees, table: Any, read: ReadTable, filling: Filling
) -> list[Any]:
    """Copies of a table with its missing cells filled, `n_imputations` of them.

    ValueError names a column whose cells have no value, or reports too large a table of
    inference; ImpossibleEvidenceError names the first row of probability zero;
    TypeError means that a column's type cannot take a value.
    """
    wanted = _possible(trees, read.codes, _wanted(trees, read), filling)
    cells = _cells(trees, read, wanted, filling)
    return [_written(trees, table, read, wanted, own) for own in cells]


def _wanted(trees: NetworkTrees, read: ReadTable) -> dict[int, Rows]:
    """Rows by variable whose cells are to be filled, those without any left out."""
    found = {v: np.flatnonzero(missing_cells(c)) for v, c in read.columns.items()}
    found |= {v: np.arange(read.codes.n_rows) for v in read.added}
    found = {v: rows for v, rows in sorted(found.items()) if len(rows)}
    for variable in (trees.domain[v] for v in found):
        if variable.has_missing_state:
            raise ValueError(
                f"missing cells of {quoted(variable.name)} are a state of their own in "
                "this network, so there is nothing to fill in; fit it with "
                "missing='marginalize'"
            )
    return found


def _possible(
    trees: NetworkTrees, codes: Codes, wanted: dict[int, Rows], filling: Filling
) -> dict[int, Rows]:
    """What is wanted in rows that are possible, or the error for one that is not."""
    if not wanted:
        return wanted
    rows = np.unique(np.concatenate([*wanted.values()]))
    logs = log_likelihood_rows(trees, codes.rows(rows), filling.n_jobs)
    impossible = rows[np.isneginf(logs)]
    if len(impossible) and filling.impossible == "error":
        error = impossible_row(trees, codes, int(impossible[0]), observed(codes))
        error.args = (f"{error} (impossible='missing' leaves such rows as they are)",)
        raise error
    kept = {v: own[~np.isin(own, impossible)] for v, own in wanted.items()}
    return {v: own for v, own in kept.items() if len(own)}


def _cells(
    trees: NetworkTrees, read: ReadTable, wanted: dict[int, Rows], filling: Filling
) -> Iterable[dict[int, list[Any]]]:
    """Values for what is wanted, by variable; once for each table."""
    codes, n_jobs = read.codes, filling.n_jobs
    n_tables = filling.n_imputations or 1
    writers = {
        v: CellWriter(trees.domain[v], read.columns.get(v), codes.column(v))
        for v in wanted
    }
    if not wanted:
        return [{} for _ in range(n_tables)]
    if filling.how == "sample":
        rng = random_generator(filling.random_state)
        draws = drawn_states(trees, codes, wanted, n_tables, rng, n_jobs)
        return (
            {v: writers[v].values(own.states, own.shares) for v, own in draw.items()}
            for draw in draws
        )
    if filling.how == "most_probable":
        states = most_probable_states(trees, codes, wanted)
        return [{v: writers[v].values(own) for v, own in states.items()}]
    values = {}
    for v, chances in posteriors(trees, codes, wanted, n_jobs):
        by_mean = filling.how == "mean" and writers[v].gives_numbers
        writer = writers[v]
        values[v] = (
            writer.means(chances) if by_mean else writer.values(likeliest(chances))
        )
    return [values]


def _written(
    trees: NetworkTrees,
    table: Any,
    read: ReadTable,
    wanted: dict[int, Rows],
    values: Mapping[int, list[Any]],
) -> Any:
    """One table with values in its cells."""
    cells = {
        read.places[v]: Filled(wanted[v], own)
        for v, own in values.items()
        if v in read.places
    }
    added = {}
    for v in read.added:
        column: list[Any] = [None] * read.codes.n_rows
        if v in values:
            for row, value in zip(wanted[v].tolist(), values[v], strict=True):
                column[row] = value
        added[trees.domain[v].name] = column
    return with_cells(table, cells, added)
