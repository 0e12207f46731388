"""Learn a table in partitions where these are, and count its codes there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.planes import MOST_COUNTED
from bayleaf.counts.store_counts import BlockCounts, joined_rows
from bayleaf.counts.table_counts import Layout, RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.domain import Variable
from bayleaf.data.encoder_learning import (
    Discretizer,
    decided_texts,
    encoder_of,
    with_value_hierarchies,
)
from bayleaf.data.partial_values import Hierarchies, available_codes
from bayleaf.data.random_cuts import RandomCuts
from bayleaf.data.table_encoder import missing_cells_error
from bayleaf.data.weight_scale import weight_factor
from bayleaf.streams.dask_partitions import Partitions, Tasks
from bayleaf.streams.partition_summaries import (
    PartitionRows,
    TableSummary,
    ValueSummary,
    summarised,
)
from bayleaf.streams.spilling import TableRoles
from bayleaf.streams.table_learning import (
    LearnedTable,
    StandInLearner,
    classes_of,
    named_groups,
)

# Small partitions that stand beside each other become one piece up to so many rows.
PIECE_ROWS = 1 << 18

T = TypeVar("T")
Arrays = tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.float64] | None]


@dataclass(frozen=True)
class HowToLearn:
    """What learning needs in addition to the table."""

    discretizer: Discretizer
    rules: EncoderRules
    weight_scale: str
    rng: np.random.Generator  # for discretisers that draw
    hierarchies: Hierarchies = field(default_factory=dict)


@dataclass(frozen=True)
class LearnedPartitions:
    """What was learned of a table in partitions."""

    table: LearnedTable  # how it is read
    labels: tuple[Any, ...]  # as in the partitions
    classes: NDArray[np.intp]  # the class of each label
    scale: float  # factor of the weights
    layout: Layout  # of the counts of its pieces
    generator_state: Any  # after learning
    drawn: list[Any]  # cut points, where the discretiser draws


class CodePieces(NamedTuple):
    """The codes of a table in pieces."""

    tasks: Tasks
    pieces: list[Any]  # tasks: narrow and wide blocks, weights or None
    sizes: tuple[int, ...]  # rows of each
    cards: tuple[int, ...]  # numbers of states, the class last
    layout: Layout  # of the counts of all pieces


def learn_partitions(
    table: Partitions, roles: TableRoles, how: HowToLearn, tasks: Tasks
) -> tuple[LearnedPartitions, CodePieces]:
    """Learn the domain of a table, as `learn_encoder` does of one in memory.

    Codes stay where tasks are run; what comes back are domains and cut points. The
    generator is left as if it had drawn here. ValueError or TypeError if a column
    cannot be used, or there are no rows.
    """
    roles = replace(roles, missing=how.rules.missing_texts)
    summaries = [
        tasks.call(partial(summarised, roles, place), part)
        for place, part in enumerate(table.parts)
    ]
    (whole,) = tasks.kept([tasks.added(summaries, TableSummary.plus)])
    facts = attrgetter("n_rows", "weight", "overflowing")
    ((n_rows, weight, overflowing),) = tasks.results([tasks.call(facts, whole)])
    if not sum(n_rows):
        raise ValueError(
            "the table has no rows" + (" of weight above zero" if roles.weight else "")
        )
    if overflowing:
        whole = _counted_again(table, roles, whole, overflowing, tasks)
    # Here, because the warnings of workers are lost.
    scale = weight_factor(weight, sum(n_rows), how.weight_scale)
    learning = tasks.call(partial(_learned, roles, how, scale), whole)
    (learned,) = tasks.results([learning])
    how.rng.bit_generator.state = learned.generator_state
    if isinstance(how.discretizer, RandomCuts):
        how.discretizer.drawn = learned.drawn
    return learned, _pieces(table, roles, learned, n_rows, tasks)


def _counted_again(
    table: Partitions,
    roles: TableRoles,
    whole: Any,
    overflowing: list[Any],
    tasks: Tasks,
) -> Any:
    """The summary in which the listed values of long columns are fully counted.

    Each half of the table lists values of its own, and leaves out others.
    """
    listed = tasks.call(partial(_listed, overflowing), whole)
    parts = [
        tasks.call(partial(summarised, roles, place), part, listed)
        for place, part in enumerate(table.parts)
    ]
    again = tasks.added(parts, TableSummary.plus)
    return tasks.call(TableSummary.with_columns, whole, again)


def _listed(names: list[Any], whole: TableSummary) -> dict[Any, frozenset[Any]]:
    """The values that are told apart, of some columns."""
    columns = {own.name: own for own in whole.columns}
    found = {}
    for name in names:
        column = columns[name]
        assert isinstance(column, ValueSummary)
        found[name] = frozenset(column.values)
    return found


def _learned(
    roles: TableRoles, how: HowToLearn, scale: float, whole: TableSummary
) -> LearnedPartitions:
    """What becomes of the columns."""
    # Whoever runs this twice must draw the same.
    how = copy.deepcopy(how)
    n_rows = sum(whole.n_rows)
    variable, labels, places = None, None, np.zeros(len(whole.labels), np.intp)
    if roles.target is not None:
        labels, places = classes_of(roles.target, list(whole.labels), whole.label_type)
        variable = Variable(roles.target, tuple(labels.tolist()))
    n_classes = max(len(whole.labels), 1)
    names = tuple(column.name for column in whole.columns)
    learner = StandInLearner(
        variable,
        how.discretizer,
        how.rules,
        how.rules.nominal_names(names),
        n_rows,
        how.hierarchies,
    )
    stand_ins = [
        column.stand_in(places, n_classes).without_groups(how.hierarchies)
        for column in whole.columns
    ]
    columns = [stand_in.column for stand_in in stand_ins]
    decisions = decided_texts(columns, how.hierarchies, how.rules)
    found, has_missing = [], []
    texts = [(c.name, c.values) for c in whole.columns if isinstance(c, ValueSummary)]
    groups = named_groups(texts, how.hierarchies)
    for column, stand_in in zip(whole.columns, stand_ins, strict=True):
        if how.rules.missing == "error" and column.n_missing:
            first = whole.first_missing.get(column.name, 0)
            raise missing_cells_error(str(column.name), column.n_missing, first)
        stand_in = stand_in._replace(weights=stand_in.weights * scale)
        values = column.values if isinstance(column, ValueSummary) else []
        has_groups = str(column.name) in groups
        decision = decisions.get(column.name)
        own = learner.learn(stand_in, column.n_missing, len(values), decision)
        found.append(own)
        has_missing += [
            has_groups or bool((codes == v.n_states).any())
            for v, codes in own.variables
        ]
    encoder = encoder_of(found, how.rules, names)
    if how.hierarchies:
        encoder = with_value_hierarchies(encoder, how.hierarchies)
    counts_fit = whole.whole_weights and scale == 1.0 and whole.weight < MOST_COUNTED
    if variable is not None:
        has_missing.append(False)
    return LearnedPartitions(
        LearnedTable(encoder, variable, labels, groups),
        whole.labels,
        places,
        scale,
        Layout(tuple(has_missing), counts_fit),
        how.rng.bit_generator.state,
        how.discretizer.drawn if isinstance(how.discretizer, RandomCuts) else [],
    )


def _pieces(
    table: Partitions,
    roles: TableRoles,
    learned: LearnedPartitions,
    n_rows: tuple[int, ...],
    tasks: Tasks,
) -> CodePieces:
    """The codes of all partitions, small ones in one piece with their neighbours."""
    shared = tasks.value(learned)
    parts = [
        tasks.call(partial(_encoded, roles, place), part, shared)
        for place, part in enumerate(table.parts)
    ]
    pieces, sizes = [], []
    first, n_held = 0, 0
    for place, n_own in enumerate(n_rows):
        n_held += n_own
        if n_held >= PIECE_ROWS or place + 1 == len(n_rows):
            held = parts[first : place + 1]
            pieces.append(held[0] if len(held) == 1 else tasks.call(_joined, *held))
            sizes.append(n_held)
            first, n_held = place + 1, 0
    return CodePieces(
        tasks,
        tasks.kept(pieces),
        tuple(sizes),
        learned.table.domain.cards,
        learned.layout,
    )


def _encoded(
    roles: TableRoles, place: int, partition: Any, learned: LearnedPartitions
) -> Arrays:
    """The codes of a partition."""
    rows = PartitionRows.of(partition, roles, place)
    index = dict(zip(learned.labels, learned.classes.tolist(), strict=True))
    table = np.array([index.get(label, 0) for label in rows.labels.values], np.intp)
    weights = None if rows.weights is None else rows.weights * learned.scale
    encoder = learned.table.encoder
    codes = available_codes(encoder.transform(list(rows.features())).rows)
    if roles.target is not None:
        codes = codes.with_column(
            table[rows.labels.indices], learned.table.domain.cards[-1]
        )
    return codes.narrow, codes.wide, weights


def _joined(*parts: Arrays) -> Arrays:
    """The codes of several partitions."""
    narrow, wide, weights = zip(*parts, strict=True)
    return (
        np.concatenate(narrow, axis=1),
        np.concatenate(wide, axis=1),
        None if weights[0] is None else np.concatenate(weights),
    )


class PartitionCounts(BlockCounts):
    """Count source over pieces of codes; only sums travel.

    Integer weights give the same counts, bit for bit, as `RowCounts` over all rows;
    others to 1e-12 of them, and the same for the same partitions. `n_jobs` threads are
    those of the learner, here.
    """

    def __init__(
        self, table: CodePieces, n_jobs: int | None = None, **options: Any
    ) -> None:
        super().__init__(n_jobs, **options)
        self._table = table

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, a class last."""
        return self._table.cards

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self._table.sizes)

    def _added(self, ask: Callable[[RowCounts], T], add: Callable[[T, T], T]) -> T:
        """The sum of what pieces answer, added up where they lie."""
        tasks = self._table.tasks
        options = {
            "has_class": self.has_class,
            "max_table_cells": self.max_table_cells,
            "layout": self._table.layout,
        }
        answer = partial(_answered, ask, self.cards, options)
        parts = [tasks.call(answer, piece) for piece in self._table.pieces]
        (found,) = tasks.results([tasks.added(parts, add)])
        total: T = found
        return total

    def _taken(self, rows: NDArray[np.intp] | None) -> Codes:
        """The rows at increasing places; None means all."""
        tasks, parts, first = self._table.tasks, [], 0
        for piece, size in zip(self._table.pieces, self._table.sizes, strict=True):
            own = None
            if rows is not None:
                own = rows[slice(*np.searchsorted(rows, [first, first + size]))] - first
            first += size
            if size and (own is None or len(own)):
                parts.append(tasks.call(partial(_chosen, own), piece))
        found = tasks.results(parts)
        return joined_rows([codes_of(self.cards, arrays) for arrays in found])


def codes_of(cards: tuple[int, ...], arrays: Any) -> Codes:
    """Codes of a piece."""
    narrow, wide, weights = arrays
    slots = Codes.empty(cards, 0).slots
    return Codes.from_blocks(narrow, wide, slots, cards, weights)


def _answered(
    ask: Callable[[RowCounts], T],
    cards: tuple[int, ...],
    options: dict[str, Any],
    arrays: Any,
) -> T:
    """What one piece answers."""
    return ask(RowCounts(codes_of(cards, arrays), 1, **options))


def _chosen(rows: NDArray[np.intp] | None, arrays: Any) -> Any:
    """Some rows of a piece."""
    if rows is None:
        return arrays
    narrow, wide, weights = arrays
    return (
        np.ascontiguousarray(narrow[:, rows]),
        np.ascontiguousarray(wide[:, rows]),
        None if weights is None else weights[rows],
    )
