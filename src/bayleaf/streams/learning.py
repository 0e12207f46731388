"""Learn what the columns of a written-down table mean, and write its codes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.counts.threads import run_tasks
from bayleaf.data.code_store import CodeStore, StoreWriter
from bayleaf.data.codes import NARROW_STATES
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.encoder.cells import missing_cells_error
from bayleaf.data.encoder.learned import LearnedVariables, encoder_of, left_out
from bayleaf.data.encoder.learning import (
    IDENTIFIER_SHARE,
    ColumnLearner,
    Discretizer,
    Target,
)
from bayleaf.data.encoder.table_encoder import TableEncoder
from bayleaf.data.labels import encode_labels
from bayleaf.data.reading.column_reading import ColumnReading
from bayleaf.data.reading.rules import EncoderRules
from bayleaf.data.tables.columns import Name
from bayleaf.progress import Work
from bayleaf.streams.number_spool import NumberSpool
from bayleaf.streams.spool import (
    MOST_VALUES,
    Spool,
    ValueSpool,
    blocks,
    looked_up,
)
from bayleaf.streams.spooling import SpooledTable
from bayleaf.streams.stand_ins import (
    RowClasses,
    StandIn,
    count_values,
    stand_in_of_numbers,
    stand_in_of_values,
)
from bayleaf.wording import quoted

_BLOCK_ROWS = 1 << 19


class _Column(NamedTuple):
    """What a column became, and for each variable the code of each numbered value."""

    learned: LearnedVariables
    lookups: list[NDArray[np.uint32]]

    def pieces(
        self, spool: Spool, rules: EncoderRules, limits: list[tuple[int, int]]
    ) -> list[Iterator[NDArray[Any]]]:
        """The codes of each variable, stretch by stretch."""
        if isinstance(spool, ValueSpool):
            return [_looked_up(spool, lookup, limits) for lookup in self.lookups]
        domain = Domain(tuple(variable for variable, _ in self.learned.variables))
        encoder = TableEncoder(domain, rules, readings=(self.learned.reading,))
        return [_encoded(spool, encoder, place, limits) for place in range(len(domain))]


def _looked_up(
    spool: ValueSpool, lookup: NDArray[np.uint32], limits: list[tuple[int, int]]
) -> Iterator[NDArray[Any]]:
    """Codes of a column of numbered values."""
    kind = "u1" if lookup.max(initial=0) <= NARROW_STATES else "u2"
    for first, last in limits:
        yield looked_up(lookup, spool.codes(first, last), kind)


def _encoded(
    spool: NumberSpool,
    encoder: TableEncoder,
    place: int,
    limits: list[tuple[int, int]],
) -> Iterator[NDArray[Any]]:
    """Codes of one variable of a column of numbers or times."""
    for first, last in limits:
        yield encoder.transform([spool.cells(first, last)]).codes.column(place)


@dataclass(frozen=True)
class LearnedTable:
    """What was learned of a table, but for its codes.

    Parameters
    ----------
    encoder : TableEncoder
        How columns are read.
    target : Variable or None
        The class.
    classes : ndarray or None
        Its labels.
    """

    encoder: TableEncoder
    target: Variable | None
    classes: NDArray[Any] | None


def learn_spooled(
    table: SpooledTable,
    discretizer: Discretizer,
    rules: EncoderRules,
    *,
    mean_one: bool = False,
    n_jobs: int = 1,
    schema: pa.Schema,
) -> tuple[LearnedTable, Callable[[Path, dict[str, Any]], CodeStore]]:
    """Learn the domain of a table, as `learn_encoder` does of one in memory.

    Parameters
    ----------
    table : SpooledTable
        The table.
    discretizer : Discretizer
        Finds the cut points of numeric columns, of distinct numbers with weights.
    rules : EncoderRules
        How columns are read.
    mean_one : bool, default=False
        Whether weights are brought to a mean of one.
    n_jobs : int, default=1
        Number of threads.
    schema : Schema
        Of the table.

    Returns
    -------
    learned : LearnedTable
        What was learned.
    write : callable
        Writes the codes to a path, with what else is to be noted in the file.
    """
    scale = _mean_one(table) if mean_one else 1.0
    classes, class_table = None, np.zeros(1, dtype=np.intp)
    if table.target is not None:
        kind = schema.field(str(table.roles.target)).type
        classes, codes = classes_of(table.target.name, table.target.values, kind)
        class_table = np.concatenate([[0], codes])
    n_classes = 1 if classes is None else len(classes)
    rows = RowClasses(table.target, class_table, n_classes, table.weights, scale)
    variable = None
    if classes is not None:
        variable = Variable(str(table.roles.target), tuple(classes.tolist()))
    learned = _learn_columns(table, rows, variable, discretizer, rules, n_jobs)
    encoder = encoder_of([own.learned for own in learned], rules, [*table.features])
    found = LearnedTable(encoder, variable, classes)
    return found, partial(_written, table, found, learned, rows, n_jobs)


def _mean_one(table: SpooledTable) -> float:
    """What brings weights to a mean of one."""
    if table.weights is None:
        return 1.0
    total = 0.0
    for first, last in blocks(table.n_rows, _BLOCK_ROWS):
        column: Any = table.weights.cells(first, last)
        total += float(column.values.sum())
    return table.n_rows / total


def classes_of(
    name: Name, values: list[Hashable], kind: pa.DataType
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Class labels in order, and the class of each value of the target."""
    if len(values) >= MOST_VALUES:
        raise ValueError(
            f"the target {quoted(name)} has more than {MOST_VALUES:,} values; "
            "cut it into classes first"
        )
    labels: Any = values
    if pa.types.is_integer(kind):
        labels = np.array(labels, dtype=kind.to_pandas_dtype())
    elif all(isinstance(label, str) for label in labels):
        labels = nw.from_native(pa.chunked_array([labels]), series_only=True)
    return encode_labels(labels)


def _learn_columns(
    table: SpooledTable,
    rows: RowClasses,
    variable: Variable | None,
    discretizer: Discretizer,
    rules: EncoderRules,
    n_jobs: int,
) -> list[_Column]:
    """What every column becomes."""
    nominal = rules.nominal_names(tuple(table.features))
    learner = StandInLearner(variable, discretizer, rules, nominal, table.n_rows)
    valued = [s for s in table.features.values() if isinstance(s, ValueSpool)]
    work = Work()
    work.say("counting values")
    counted = dict(
        zip(
            (spool.name for spool in valued),
            count_values(valued, rows, table.n_rows, n_jobs),
            strict=True,
        )
    )
    found: list[_Column] = []
    for name, spool in table.features.items():
        work.say(f"learning column {name}")
        if rules.missing == "error" and spool.n_missing:
            learner.check_missing(name, spool.n_missing, _first_missing(spool))
        n_values = 0
        if isinstance(spool, ValueSpool):
            stand_in = stand_in_of_values(spool, *counted.pop(name))
            n_values = len(spool.values)
        else:
            stand_in = stand_in_of_numbers(spool, rows)
        own = learner.learn(stand_in, spool.n_missing, n_values)
        lookups = _lookups(spool, stand_in, own) if own.variables else []
        found.append(_Column(own, lookups))
    return found


@dataclass(frozen=True)
class StandInLearner:
    """What learning a column from its short form needs to know of the table.

    Parameters
    ----------
    variable : Variable or None
        The class.
    discretizer : Discretizer
        Finds the cut points of numeric columns.
    rules : EncoderRules
        How columns are read.
    nominal : frozenset of names, or None
        The columns declared nominal; None where nothing is declared.
    n_rows : int
        Number of rows.
    """

    variable: Variable | None
    discretizer: Discretizer
    rules: EncoderRules
    nominal: frozenset[Name] | None
    n_rows: int

    def check_missing(self, name: str, n_missing: int, first: int) -> None:
        """Raise ValueError if cells are missing and the rules refuse that."""
        if self.rules.missing == "error" and n_missing:
            raise missing_cells_error(name, n_missing, first)

    def learn(
        self, stand_in: StandIn, n_missing: int, n_values: int
    ) -> LearnedVariables:
        """The variables that a column becomes; `n_values` are listed of its values."""
        target = None
        if self.variable is not None:
            target = Target(self.variable, stand_in.classes)
        learner = ColumnLearner(
            target,
            stand_in.weights,
            self.discretizer,
            self.rules,
            self.nominal,
            allow_empty=False,
        )
        if _names_rows(stand_in, n_values) and self.rules.identifiers == "drop":
            name = stand_in.column.name
            return left_out(ColumnReading(name, "values", MOST_VALUES, n_missing))
        own = learner.learn(stand_in.column)
        if stand_in.rank_error:
            own = _with_error(own, stand_in.rank_error, self.n_rows)
        return own


def _first_missing(spool: Spool) -> int:
    """The first row in which a column is missing."""
    for first, last in blocks(spool.n_rows, _BLOCK_ROWS):
        column: Any = spool.cells(first, last)
        missing = column.indices < 0 if hasattr(column, "indices") else column.missing
        if missing is not None and missing.any():
            return first + int(np.argmax(missing))
    return 0


def _names_rows(stand_in: StandIn, n_values: int) -> bool:
    """Whether a column has so many values that they are not all told apart."""
    if n_values < MOST_VALUES:
        return False
    repeats = stand_in.column.repeats
    assert repeats is not None
    listed = int(repeats.counts[stand_in.numbers > 0].sum())
    return n_values > IDENTIFIER_SHARE * listed


def _with_error(
    learned: LearnedVariables, rank_error: int, n_rows: int
) -> LearnedVariables:
    """The same with a note on how exact cut points are."""
    said = (
        f"cut by a summary of its numbers, in which ranks are wrong by at most "
        f"{100 * rank_error / n_rows:.2g} %"
    )
    notes = dict(learned.notes)
    for variable, _ in learned.variables:
        if variable.kind == "numeric":
            before = notes.get(variable.name)
            notes[variable.name] = f"{before}; {said}" if before else said
    return learned._replace(notes=notes)


def _lookups(
    spool: Spool, stand_in: StandIn, learned: LearnedVariables
) -> list[NDArray[np.uint32]]:
    """For each variable, the code of each number of a value."""
    if isinstance(spool, NumberSpool):
        return []
    found = []
    for variable, codes in learned.variables:
        missing = variable.n_known_states
        table = np.full(spool.n_codes, missing, np.uint32)
        if spool.overflows and variable.other_state is not None:
            table[-1] = variable.state_index[variable.other_state]
        table[stand_in.numbers] = codes
        found.append(table)
    return found


def _written(
    table: SpooledTable,
    learned: LearnedTable,
    columns: list[_Column],
    rows: RowClasses,
    n_jobs: int,
    path: Path,
    about: dict[str, Any],
) -> CodeStore:
    """Write the codes of a table; its folder goes when they are there."""
    cards = list(learned.encoder.domain.cards)
    if learned.target is not None:
        cards.append(learned.target.n_states)
    writer = StoreWriter(
        table.folder / "codes.part",
        cards,
        table.n_rows,
        has_weights=table.weights is not None,
    )
    limits = list(blocks(table.n_rows, _BLOCK_ROWS))
    every: list[Iterator[NDArray[Any]]] = []
    for spool, column in zip(table.features.values(), columns, strict=True):
        every += column.pieces(spool, learned.encoder.rules, limits)
    if learned.target is not None:
        every.append(rows.classes(first, last) for first, last in limits)
    if table.weights is not None:
        weights: Any = (rows.weights(first, last) for first, last in limits)
        every.append(weights)
    Work().say("writing codes")
    run_tasks(
        [partial(writer.write, place, own) for place, own in enumerate(every)], n_jobs
    )
    store = writer.finish(path, about)
    shutil.rmtree(table.folder, ignore_errors=True)
    return store
