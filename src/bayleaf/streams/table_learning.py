"""Learn what the columns of a written-down table mean, and write its codes."""

from __future__ import annotations

import decimal
import shutil
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.counts.threads import run_tasks
from bayleaf.data.class_labels import encode_labels
from bayleaf.data.code_store import CodeStore, StoreWriter
from bayleaf.data.codes import NARROW_STATES
from bayleaf.data.column_reading import ColumnReading, EncoderRules
from bayleaf.data.dates import DAYS, part_name
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.encoder_learning import (
    IDENTIFIER_SHARE,
    ColumnLearner,
    Discretizer,
    LearnedVariables,
    Target,
    decided_texts,
    encoder_of,
    left_out,
    with_value_hierarchies,
)
from bayleaf.data.partial_values import Hierarchies, available_codes
from bayleaf.data.table_encoder import TableEncoder, missing_cells_error
from bayleaf.data.tables.columns import Name
from bayleaf.data.text_forms import TextDecision
from bayleaf.data.weight_scale import COUNTS, weight_factor
from bayleaf.native.data import look_up
from bayleaf.progress import Work
from bayleaf.streams.spilling import SpilledTable
from bayleaf.streams.spool import (
    MOST_VALUES,
    NumberSpool,
    Spill,
    ValueSpool,
    blocks,
    first_missing,
    values_of,
)
from bayleaf.streams.stand_ins import (
    RowClasses,
    StandIn,
    count_values,
    stand_in_of_numbers,
    stand_in_of_values,
)
from bayleaf.wording import quoted

_BLOCK_ROWS = 1 << 19

# The codes of a variable, part by part, and the spool that only they are made of.
_CodedColumn = tuple[Iterator[NDArray[Any]], Spill | None]


@dataclass(frozen=True)
class StandInLearner:
    """Class and rules for learning a column from its short form."""

    variable: Variable | None  # the class
    discretizer: Discretizer
    rules: EncoderRules
    nominal: frozenset[Name] | None  # None where nothing is declared
    n_rows: int
    hierarchies: Hierarchies  # of columns whose values stay what they are

    def learn(
        self,
        stand_in: StandIn,
        n_missing: int,
        n_values: int,
        decision: TextDecision | None = None,
    ) -> LearnedVariables:
        """The variables that a column becomes; `n_values` are listed of its values."""
        name, target = stand_in.column.name, None
        if self.variable is not None:
            target = Target(self.variable, stand_in.classes)
        learner = ColumnLearner(
            target,
            stand_in.weights,
            self.discretizer,
            self.rules,
            self.nominal,
            allow_empty=False,
            hierarchies=self.hierarchies,
        )
        if n_values >= MOST_VALUES and self.rules.identifiers == "drop":
            # Values beyond the listed ones are not distinguished.
            repeats = stand_in.column.repeats
            assert repeats is not None
            listed = int(repeats.counts[stand_in.numbers > 0].sum())
            if n_values > IDENTIFIER_SHARE * listed:
                reading = ColumnReading(name, "values", MOST_VALUES, n_missing)
                return left_out(replace(reading, distinct_word="at least"))
        learned = learner.learn(
            stand_in.column, as_is=name in self.hierarchies, decision=decision
        )
        reading = learned.reading
        if n_values >= MOST_VALUES:
            reading = replace(reading, n_distinct=n_values, distinct_word="at least")
        elif stand_in.n_distinct is not None:
            about = stand_in.n_distinct
            reading = replace(reading, n_distinct=about, distinct_word="about")
        learned = learned._replace(reading=reading)
        if stand_in.rank_error:
            share = 100 * stand_in.rank_error / self.n_rows
            error = (
                "cut by a summary of its numbers, in which the share of rows below a "
                f"cut point is wrong by at most {_rounded_up(share)} %; where cut "
                "points are about equally good, those of the whole table may differ"
            )
            days = part_name(name, DAYS) if reading.form == "date" else name
            for variable, _ in learned.variables:
                if variable.kind == "numeric" and variable.name == days:
                    notes = filter(None, (learned.notes.get(variable.name), error))
                    learned.notes[variable.name] = "; ".join(notes)
        return learned


def _rounded_up(number: float) -> str:
    """A positive number with two digits that is not less."""
    with decimal.localcontext(decimal.Context(2, decimal.ROUND_UP)):
        return f"{+decimal.Decimal(number):f}"


class _Column(NamedTuple):
    """What a column became, and for each variable the code of each numbered value."""

    learned: LearnedVariables
    lookups: list[NDArray[np.uint32]]
    hierarchies: Hierarchies  # of which its cells may name groups

    def pieces(
        self, spool: Spill, rules: EncoderRules, limits: list[tuple[int, int]]
    ) -> list[Iterator[NDArray[Any]]]:
        """The codes of each variable, stretch by stretch."""
        if isinstance(spool, ValueSpool) and self.lookups:
            return [_looked_up(spool, lookup, limits) for lookup in self.lookups]
        if not self.learned.variables:
            return []
        domain = Domain(tuple(variable for variable, _ in self.learned.variables))
        readings, trees = (self.learned.reading,), self.hierarchies
        encoder = TableEncoder(domain, rules, readings=readings, hierarchies=trees)
        return [_encoded(spool, encoder, place, limits) for place in range(len(domain))]

    def encoded_anew(self, encoder: TableEncoder) -> _Column:
        """The column with the variables of another encoder, if it has a hierarchy.

        Their codes are found by the encoder, which may cut elsewhere.
        """
        if self.learned.reading.name not in encoder.hierarchies:
            return self
        index = {variable.name: variable for variable in encoder.domain}
        changed = [(index[own.name], codes) for own, codes in self.learned.variables]
        learned = self.learned._replace(variables=changed)
        return _Column(learned, [], encoder.hierarchies)


def named_groups(
    columns: Iterable[tuple[Name, Iterable[Hashable]]], hierarchies: Hierarchies
) -> dict[str, str]:
    """The first group of its hierarchy that a cell names, by column, where any."""
    found = {}
    for name, values in columns:
        if name in hierarchies:
            present = set(values)
            groups = [g for g in hierarchies[name].inner_nodes if g in present]
            if groups:
                found[str(name)] = str(groups[0])
    return found


def _looked_up(
    spool: ValueSpool, lookup: NDArray[np.uint32], limits: list[tuple[int, int]]
) -> Iterator[NDArray[Any]]:
    """Codes of a column of numbered values."""
    kind = "u1" if lookup.max(initial=0) <= NARROW_STATES else "u2"
    for first, last in limits:
        places = spool.codes(first, last)
        codes = np.empty(len(places), kind)
        look_up(places, 0, lookup, codes)
        yield codes


def _encoded(
    spool: Spill, encoder: TableEncoder, place: int, limits: list[tuple[int, int]]
) -> Iterator[NDArray[Any]]:
    """Codes of one variable of a column that is encoded again."""
    for first, last in limits:
        rows = encoder.transform([spool.cells(first, last)]).rows
        yield available_codes(rows).column(place)


@dataclass(frozen=True)
class LearnedTable:
    """What was learned of a table, but for its codes."""

    encoder: TableEncoder
    target: Variable | None  # the class
    classes: NDArray[Any] | None  # its labels
    groups: dict[str, str]  # a group that cells name, by column

    @property
    def domain(self) -> Domain:
        """The variables, a class last."""
        last = () if self.target is None else (self.target,)
        return Domain((*self.encoder.domain.variables, *last))


def learn_spooled(
    table: SpilledTable,
    discretizer: Discretizer,
    rules: EncoderRules,
    *,
    weight_scale: str = COUNTS,
    n_jobs: int = 1,
    schema: pa.Schema,
    hierarchies: Hierarchies | None = None,
) -> tuple[LearnedTable, Callable[..., CodeStore]]:
    """Learn the domain of a table, as `learn_encoder` does of one in memory.

    The discretiser gets distinct numbers with weights; `weight_scale` scales these. The
    callable writes the codes to a path, with what else is to be noted in the file, and
    whether it is ``lasting``; cells that name groups are missing in them. ValueError or
    TypeError if a column cannot be used.
    """
    hierarchies = hierarchies or {}
    texts = [
        (name, spool.values)
        for name, spool in table.features.items()
        if isinstance(spool, ValueSpool) and not spool.numbers
    ]
    groups = named_groups(texts, hierarchies)
    scale = weight_factor(_total_weight(table), table.n_rows, weight_scale)
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
    learned = _learn_columns(
        table, rows, variable, discretizer, rules, n_jobs, hierarchies
    )
    encoder = encoder_of([own.learned for own in learned], rules, [*table.features])
    if hierarchies:
        encoder = with_value_hierarchies(encoder, hierarchies)
        learned = [own.encoded_anew(encoder) for own in learned]
    found = LearnedTable(encoder, variable, classes, groups)
    return found, partial(_written, table, found, learned, rows, n_jobs)


def _total_weight(table: SpilledTable) -> float:
    """Sum of the weights of all rows."""
    if table.weights is None:
        return float(table.n_rows)
    total = 0.0
    for first, last in blocks(table.n_rows, _BLOCK_ROWS):
        total += float(values_of(table.weights.cells(first, last))[0].sum())
    return total


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
    table: SpilledTable,
    rows: RowClasses,
    variable: Variable | None,
    discretizer: Discretizer,
    rules: EncoderRules,
    n_jobs: int,
    as_is: Hierarchies,
) -> list[_Column]:
    """What every column becomes."""
    nominal = rules.nominal_names(tuple(table.features))
    learner = StandInLearner(variable, discretizer, rules, nominal, table.n_rows, as_is)
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
    values = {
        spool.name: stand_in_of_values(spool, *counted.pop(spool.name)).without_groups(
            as_is
        )
        for spool in valued
    }
    texts = [stand_in.column for stand_in in values.values()]
    decisions = {
        **decided_texts(texts, as_is, rules, table.features),
        **table.decisions,
    }
    found: list[_Column] = []
    for name, spool in table.features.items():
        work.say(f"learning column {name}")
        if rules.missing == "error" and spool.n_missing:
            raise missing_cells_error(name, spool.n_missing, _first_missing(spool))
        n_values = 0
        if isinstance(spool, ValueSpool):
            stand_in = values[name]
            n_values = len(spool.values)
        else:
            stand_in = stand_in_of_numbers(spool, rows)
        decision = decisions.get(name)
        own = learner.learn(stand_in, spool.n_missing, n_values, decision)
        lookups = _lookups(spool, stand_in, own) if own.variables else []
        found.append(_Column(own, lookups, {}))
    return found


def _first_missing(spool: Spill) -> int:
    """The first row in which a column is missing."""
    for first, last in blocks(spool.n_rows, _BLOCK_ROWS):
        row = first_missing(spool.cells(first, last))
        if row is not None:
            return first + row
    return 0


def _lookups(
    spool: Spill, stand_in: StandIn, learned: LearnedVariables
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
    table: SpilledTable,
    learned: LearnedTable,
    columns: list[_Column],
    rows: RowClasses,
    n_jobs: int,
    path: Path,
    about: dict[str, Any],
    *,
    lasting: bool = True,
) -> CodeStore:
    """Write the codes of a table; its folder goes when they are in a lasting file."""
    cards = list(learned.encoder.domain.cards)
    limits = list(blocks(table.n_rows, _BLOCK_ROWS))
    every: list[_CodedColumn] = []
    for spool, column in zip(table.features.values(), columns, strict=True):
        own = column.pieces(spool, learned.encoder.rules, limits)
        every += [(one, spool if len(own) == 1 else None) for one in own]
    if learned.target is not None:
        cards.append(learned.target.n_states)
        classes = (rows.classes(first, last) for first, last in limits)
        every.append((classes, None))
    if table.weights is not None:
        weights: Any = (rows.weights(first, last) for first, last in limits)
        every.append((weights, None))
    Work().say("writing codes")
    if not lasting:
        return _column_files(table.folder, cards, table.n_rows, every, n_jobs)
    writer = StoreWriter(
        table.folder / "codes.part",
        cards,
        table.n_rows,
        has_weights=table.weights is not None,
    )
    run_tasks(
        [
            partial(writer.write, place, pieces)
            for place, (pieces, _) in enumerate(every)
        ],
        n_jobs,
    )
    store = writer.finish(path, about)
    shutil.rmtree(table.folder, ignore_errors=True)
    return store


@dataclass(frozen=True, eq=False)
class ColumnFiles(CodeStore):
    """A file of codes per column, as long as this process needs them."""

    files: tuple[Path, ...] = ()  # by variable, then the weights', if any

    def _place(self, column: int) -> tuple[Path, int]:
        """The file of a column, and where it begins there."""
        return self.files[column], 0

    def _check_columns(self) -> None:
        """Nothing: this process wrote them a moment ago."""


def _column_files(
    folder: Path,
    cards: Sequence[int],
    n_rows: int,
    columns: Sequence[_CodedColumn],
    n_jobs: int,
) -> ColumnFiles:
    """Write codes over the cells that they are made of, or into files next to them.

    `columns` are those of the variables, then of the weights where there are any.
    """
    n_weights = len(columns) - len(cards)
    names = ["u1" if card <= NARROW_STATES else "u2" for card in cards]
    kinds: list[np.dtype[Any]] = [np.dtype(n) for n in [*names, *["f8"] * n_weights]]
    most = [*cards, *[0] * n_weights]
    found = run_tasks(
        [
            partial(_write_column, folder / f"{p}.codes", columns[p], kinds[p], most[p])
            for p in range(len(columns))
        ],
        n_jobs,
    )
    return ColumnFiles(
        folder,
        tuple(cards),
        n_rows,
        (0,) * len(columns),
        tuple(has_missing for _, has_missing in found[: len(cards)]),
        not n_weights,
        files=tuple(path for path, _ in found),
    )


def _write_column(
    path: Path, column: _CodedColumn, kind: np.dtype[Any], card: int
) -> tuple[Path, bool]:
    """Write a column; its file, and whether one of its cells is missing."""
    pieces, spool = column
    if isinstance(spool, ValueSpool) and spool.width == kind.itemsize:
        spool.close()
        path, is_new = spool.cell_file, False
    else:
        path.touch()
        is_new = True
    has_missing = False
    with path.open("r+b") as file:
        for piece in pieces:
            own: Any = np.ascontiguousarray(piece, kind)
            has_missing = has_missing or bool(own.size and own.max() == card)
            file.write(memoryview(own).cast("B"))
    if is_new and spool is not None:
        spool.discard()
    return path, has_missing
