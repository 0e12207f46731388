"""Tables that commands read, whole or in batches, and their rows as codes of a model.

Files are Parquet where a file's name says so, and CSV otherwise.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.cli.options import USUAL_FORMAT, FormatOptions
from bayleaf.data.column_reading import CellError, ColumnReading
from bayleaf.data.domain import Variable
from bayleaf.data.files.csv_reading import (
    called,
    csv_format,
    declares_columns,
    form_of,
    no_rows,
    read_csv,
)
from bayleaf.data.files.csv_rows import CsvRows
from bayleaf.data.files.file_facts import FileFacts
from bayleaf.data.files.json_rows import is_json, read_json
from bayleaf.data.files.table_files import (
    check_columns,
    is_parquet,
    log_rows,
    open_parquet,
    present_cells,
    with_missing_cells,
)
from bayleaf.data.table_encoder import EncodedTable, TableEncoder, with_notes
from bayleaf.data.tables.columns import Column, Name, NumberColumn, ValueColumn
from bayleaf.data.tables.frames import single_column, to_columns
from bayleaf.data.tables.named_rows import names_as_in
from bayleaf.data.text_forms import (
    TextEvidence,
    TextForm,
    decide,
    read_texts,
    without_texts,
)
from bayleaf.data.unknown_cells import UnknownCells
from bayleaf.wording import name_list, near_names, quoted, shown_name, visible

if TYPE_CHECKING:
    from bayleaf.data.reading_plan import ReadingPlan
    from bayleaf.streams.batch_sources import ArrowSource

_LOGGER = logging.getLogger("bayleaf")


def read_table(
    source: str, form: FormatOptions = USUAL_FORMAT, texts: Collection[str] = ()
) -> pa.Table:
    """Read a whole table (``-`` for CSV on standard input), and the types of columns.

    Of a CSV file, columns named in `texts` stay the text that they are, and dates and
    numbers with leading zeros too, as encoding reads them like those of data frames.
    OSError, or ValueError with the line of a ragged row.
    """
    if is_parquet(source):
        table = open_parquet(source).read()
    elif is_json(source):
        cells = read_json(source)
        table = _plainly_typed(cells, form, texts)
        table = FileFacts.of_schema(cells.schema).added_to(table)
    else:
        table = read_csv(source, form, texts)
    check_columns(table.schema, source)
    if table.num_rows == 0:
        raise no_rows(source)
    log_rows(source, table.num_rows, table.num_columns)
    return table


def rows_of(
    source: str, form: FormatOptions, usual_decimal: str = "."
) -> CsvRows | None:
    """What writes the rows of a CSV file back as they are; None for other files."""
    decimal = form.decimal
    return None if is_parquet(source) else CsvRows(decimal, usual_decimal)


def known_table(
    source: str,
    form: FormatOptions,
    known: Iterable[Variable],
    encoder: TableEncoder | None,
    target: str | None = None,
) -> pa.Table:
    """Read a table whose columns a model knows, its features as training read them.

    Of the other `known` variables, those of text states are text; another `target` is
    what all its cells spell. Values not seen in training, and rows left out since their
    `target` is empty, as fit does, are reported on standard error. ValueError if
    a cell spells no value of its column's kind.
    """
    readings = {} if encoder is None else {str(r.name): r for r in encoder.readings}
    texts = {
        str(variable.name)
        for variable in known
        if any(isinstance(state, str) for state in variable.known_states)
    }
    if encoder is not None:
        form = form.of_plan(encoder.rules.plan)
    table = with_plain_texts(read_table(source, form, texts.union(readings)))
    if encoder is not None and encoder.rules.missing_texts:
        # Files other than CSV have texts that are missing, too.
        table = with_missing_cells(table, form)
    table = table.rename_columns(list(names_as_in(table.column_names, [*readings])))
    for index, name in enumerate(table.column_names):
        if name in readings and readings[name].form in ("numbers", "truths"):
            column = _column_as_read(table.column(index), readings[name])
            table = table.set_column(index, name, column)
    used = {n for n, one in readings.items() if one.form != "left_out"}
    if encoder is not None and used <= {*table.column_names}:
        report, batch = UnknownReport(source), table.combine_chunks().to_batches()[0]
        encode_batch(encoder, batch, source, form=form, report=report)
        report.show()
    if target is not None and target in table.column_names:
        empty = EmptyTargets(target)
        table = empty.left_out(table)
        empty.check()
        empty.report()
        if target not in texts | readings.keys():
            column = decided_column(target, table.column(target))
            table = table.set_column(table.column_names.index(target), target, column)
    return table


def _column_as_read(cells: Any, reading: ColumnReading) -> Any:
    """A column of texts as the numbers or booleans that training reads in them."""
    if not pa.types.is_string(cells.type):
        return cells
    try:
        (read,), _ = reading.read(single_column(cells, reading.name))
    except CellError as error:
        raise with_line(error, error.row + 1) from error
    if isinstance(read, NumberColumn):
        return pa.chunked_array([pa.array(read.values, mask=read.missing)])
    values = [None if i < 0 else read.values[i] for i in read.indices.tolist()]
    return pa.chunked_array([pa.array(values, pa.bool_())])


def with_plain_texts(table: pa.Table) -> pa.Table:
    """A table whose categories of text are these texts."""

    def is_text(kind: pa.DataType) -> bool:
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

    fields = [
        field.with_type(pa.string())
        if is_text(getattr(field.type, "value_type", field.type))
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields, table.schema.metadata))


class UnknownReport:
    """Values of tables that training did not contain, in a sentence per column."""

    def __init__(self, data: str = "") -> None:
        self._data = data  # file, folder or glob that the command names
        self._first: dict[Name, tuple[UnknownCells, str]] = {}
        self._number: Counter[Name] = Counter()

    def add(
        self, cells: Iterable[UnknownCells], lines: Sequence[int], source: str = ""
    ) -> None:
        """Add cells of a batch, whose rows are `lines` below the header of a file.

        The `source` is one of several files, or what the command names.
        """
        source = source or self._data
        for unknown in cells:
            where = f"line {lines[unknown.row]} below the header"
            if is_many_files(source):
                where = f"row {lines[unknown.row]} of {source}"
            elif source != self._data:
                where += f" of {source}"
            self._first.setdefault(unknown.name, (unknown, where))
            self._number[unknown.name] += unknown.number

    def show(self) -> None:
        """Print the sentences on standard error."""
        for name, (cells, where) in self._first.items():
            sentence = replace(cells, number=self._number[name]).sentence(where)
            print(f"bayleaf: {sentence}", file=sys.stderr)


def with_line(error: CellError, line: int) -> ValueError:
    """The error of a cell with its line and what may help in a file."""
    where = f"line {line} below the header"
    return ValueError(error.sentence(where, "name it with --na if it means empty"))


def batches_of(
    data: str,
    form: FormatOptions = USUAL_FORMAT,
    drop: Sequence[str] = (),
    *,
    as_texts: bool = False,
    plan: ReadingPlan | None = None,
    empty: EmptyTargets | None = None,
) -> ArrowSource:
    """A table of Parquet or CSV files (path, glob or folder) in batches, less `drop`.

    Cells of CSV files stay text on request, but for those that are empty; `plan` is
    that of training. Rows whose target is `empty` are left out.

    OSError or ValueError if it cannot be read, has no rows, or lacks a column to leave
    out.
    """
    from bayleaf.streams.batch_sources import open_source

    if data == "-":
        raise ValueError("standard input cannot be read in batches; name a file")
    form = form.of_plan(plan)
    read = partial(present_cells, form=form)
    source = open_source(data, read, as_texts=as_texts, plan=plan)
    if not (source.n_rows or any(batch.num_rows for batch in source.read(0))):
        raise no_rows(data)
    if drop:
        select_columns(source.schema.empty_table(), drop, data)
        source = source.without(drop)
    if empty is not None and empty.target in source.schema.names:
        source = replace(source, read=partial(empty.from_batches, source))
    return source


def file_format(schema: pa.Schema) -> tuple[str, str]:
    """What is unusual of a table's file, and doubts of its header; empty texts if not.

    They are those of the CSV file that the table was read from.
    """
    metadata = schema.metadata or {}
    return metadata.get(b"format", b"").decode(), metadata.get(b"note", b"").decode()


def batches_format(data: str, form: FormatOptions) -> tuple[str, str]:
    """The same of the first of a table's files."""
    from bayleaf.streams.batch_sources import files_of

    first = files_of(data)[0]
    return ("", "") if is_parquet(first) else csv_format(first, form)


def is_many_files(data: str) -> bool:
    """Whether a name is a folder or a glob, and so a table in several files."""
    if os.path.isdir(data):
        return True
    return any(sign in data for sign in "*?[") and not os.path.exists(data)


def has_csv(data: str) -> bool:
    """Whether a file, or the files of a folder or glob, are CSV or workbooks."""
    if is_many_files(data):
        from bayleaf.streams.batch_sources import files_of

        data = files_of(data)[0]
    return not is_parquet(data) and not declares_columns(data)


def select_columns(
    table: pa.Table | pa.RecordBatch, names: Sequence[str], source: str
) -> Any:
    """The named columns of a table, in that order; ValueError if one is missing."""
    present = table.schema.names
    absent = [name for name in names if name not in present]
    if absent:
        hint = near_names(absent[0], present)
        raise ValueError(f"{called(source)} has no column {name_list(absent)}; {hint}")
    return table.select(list(names))


@dataclass
class EmptyTargets:
    """Rows whose target is empty: left out of tables, counted, and reported."""

    target: str | None
    n_rows: int = 0  # of the table, those left out included
    n_empty: int = 0
    first: int | None = None  # line below the header

    def left_out(self, rows: Any) -> Any:
        """The next rows of a table, or batch, whose target is known."""
        import pyarrow.compute as pc

        absent = pc.is_null(rows.column(self.target), nan_is_null=True)
        indices = np.flatnonzero(absent.to_numpy(zero_copy_only=False))
        if len(indices) and self.first is None:
            self.first = self.n_rows + int(indices[0]) + 1
        self.n_rows += rows.num_rows
        self.n_empty += len(indices)
        return rows.filter(pc.invert(absent)) if len(indices) else rows

    def from_batches(self, source: ArrowSource, first: int) -> Iterator[pa.RecordBatch]:
        """Batches of a source without the rows left out, after the `first` that stay.

        ValueError after the last batch if all targets are empty.
        """
        from bayleaf.streams.parquet_files import after

        self.n_rows = self.n_empty = 0
        yield from after(map(self.left_out, source.read(0)), first)
        self.check()
        source.facts.update(n_rows=self.n_rows, n_empty=self.n_empty)
        if self.first is not None:
            source.facts["first_empty"] = self.first

    def adopt(self, facts: Mapping[str, int]) -> None:
        """Take over what an earlier reading of the table noted."""
        self.n_rows, self.n_empty = facts.get("n_rows", 0), facts.get("n_empty", 0)
        self.first = facts.get("first_empty")

    def check(self) -> None:
        """Raise ValueError if all targets are empty."""
        if self.n_rows and self.n_empty == self.n_rows:
            raise ValueError(
                f"the target column {quoted(self.target)} is empty in all "
                f"{self.n_rows:,} rows; name another target, or fill in its values"
            )

    def report(self) -> None:
        """Print how many rows were left out, if any, on standard error."""
        if self.n_empty:
            print(
                f"left out {self.n_empty:,} of {self.n_rows:,} rows, whose target "
                f"{visible(str(self.target))} is empty (the first is line "
                f"{self.first} below the header)",
                file=sys.stderr,
            )

    def to_dict(self) -> dict[str, int]:
        """The number of rows left out, as plain values."""
        return {} if self.target is None else {"n_rows_without_target": self.n_empty}


class TrainingColumns(NamedTuple):
    """Features, and labels named after their column, row weights and a column aside."""

    features: pa.Table
    target: Any
    weights: NDArray[np.float64] | None
    aside: Any
    empty: EmptyTargets


def training_table(
    source: str,
    target: str | None,
    *,
    drop: Sequence[str] = (),
    weight: str | None = None,
    form: FormatOptions = USUAL_FORMAT,
    aside: str | None = None,
    plan: ReadingPlan | None = None,
) -> TrainingColumns:
    """Read a table and split off weights, a column set aside and, if any, the target.

    Rows with an empty target are left out. OSError or ValueError if the file cannot be
    read, a named column is missing, the target is dropped or empty in all rows, or no
    feature is left.
    """
    if target in drop:
        raise ValueError(
            f"--drop leaves out the target column {quoted(target)}; drop another "
            "column or name another target"
        )
    texts = () if plan is None else [str(name) for name, _ in plan.columns]
    table = read_table(source, form, texts)
    special = [name for name in (target, *drop, weight, aside) if name is not None]
    select_columns(table, special, source)
    empty = EmptyTargets(target)
    if target is not None:
        table = empty.left_out(table)
        empty.check()
    labels = None if target is None else _labels(table, target)
    features = table.drop_columns(list(dict.fromkeys(special)))
    if not features.num_columns and target is None:
        raise ValueError(f"{source} has no column left; drop fewer columns")
    if not features.num_columns:
        raise ValueError(f"{source} has no column beside the target; add features")
    kept = None if aside is None else table.column(aside).combine_chunks()
    weights = _row_weights(table, weight)
    return TrainingColumns(features, labels, weights, kept, empty)


def _labels(table: pa.Table, target: str) -> Any:
    """The target as a narwhals series, whose name the model then shows."""
    labels = decided_column(target, table.column(target))
    if pa.types.is_temporal(labels.type):
        # Text that looks like dates is read as dates; as classes it is text.
        labels = labels.cast(pa.string())
    named = nw.from_native(pa.table({target: labels}), eager_only=True)
    return named.get_column(target)


def decided_column(
    name: str, cells: pa.ChunkedArray, *, only_plain: bool = False
) -> Any:
    """A column of text as the numbers or booleans that all its cells spell, if any.

    With `only_plain`, text in which more is to be read than digits and a point, such as
    units, stays as it is, for the encoder to store how it is read.
    """
    if not pa.types.is_string(cells.type):
        return cells
    form = decide(TextEvidence.of(cells)).form
    if form.kind not in ("number", "boolean"):
        return cells
    if only_plain and form != TextForm(form.kind):
        return cells
    read = read_texts(form, cells.combine_chunks())
    return pa.chunked_array([pa.array(read.values, mask=read.missing)])


def table_as_read(
    table: pa.Table, form: FormatOptions, encoder: TableEncoder | None
) -> pa.Table:
    """A table of a file's texts as values: those that training reads in them.

    Columns of no encoder are what all their own cells spell.
    """
    readings = {} if encoder is None else {str(r.name): r for r in encoder.readings}
    if encoder is not None:
        form = form.of_plan(encoder.rules.plan)
    cells = with_missing_cells(with_plain_texts(table), form)
    columns = [
        _column_as_read(column, readings[name])
        if name in readings and readings[name].form in ("numbers", "truths", "duration")
        else decided_column(name, column)
        for name, column in zip(cells.column_names, cells.columns, strict=True)
    ]
    return pa.table(columns, names=cells.column_names)


def _plainly_typed(
    table: pa.Table, form: FormatOptions, texts: Collection[str]
) -> pa.Table:
    """A table of texts whose plain numbers and booleans have types but in `texts`."""
    cells = with_missing_cells(table, form)
    columns = [
        column if name in texts else decided_column(name, column, only_plain=True)
        for name, column in zip(cells.column_names, cells.columns, strict=True)
    ]
    return pa.table(columns, names=cells.column_names)


def _row_weights(table: pa.Table, column: str | None) -> NDArray[np.float64] | None:
    """Row weights from their column."""
    if column is None:
        return None
    try:
        cells = decided_column(column, table.column(column)).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(
            f"the weight column {quoted(column)} must hold numbers"
        ) from error
    if cells.null_count:
        raise ValueError(
            f"the weight column {quoted(column)} has {cells.null_count} empty cells; "
            "give every row a weight"
        )
    return np.asarray(cells.to_numpy())


def encode_batch(
    encoder: TableEncoder,
    batch: pa.RecordBatch,
    source: str,
    *,
    form: FormatOptions = USUAL_FORMAT,
    n_before: int = 0,
    lines: Sequence[int] | None = None,
    report: UnknownReport | None = None,
    return_notes: bool = False,
) -> EncodedTable:
    """Encode the features of a batch, whatever else it holds and in whatever order.

    Messages name `lines` below the header, by default those after the `n_before` rows
    of earlier batches; unknown values are added to the `report`. Text of a CSV file is
    read as training learned to; columns that were left out in training may be absent.
    ValueError if a feature's column is missing, or text occurs where a number belongs.
    """
    if _LOGGER.isEnabledFor(logging.INFO):
        forms = [(r.name, r.text.described()) for r in encoder.readings if r.text]
        unusual = [f"{shown_name(name)} has {text}" for name, text in forms if text]
        described = ", ".join(unusual) or "numbers and dates in their plain form"
        _LOGGER.info("cells are read by the model's plan: %s", described)
    if lines is None:
        lines = range(n_before + 1, n_before + 1 + batch.num_rows)
    used = [one for one in encoder.readings if one.form != "left_out"]
    named = names_as_in(batch.schema.names, [str(n) for n in encoder.column_names])
    batch = pa.RecordBatch.from_arrays(batch.columns, names=list(named))
    features = select_columns(batch, [str(one.name) for one in used], source)
    parsed = to_columns(pa.Table.from_batches([features])) if used else []
    assert isinstance(parsed, list)
    if not is_parquet(source):
        # Those of the plan are missing in any table.
        file_form = form_of(source, form.of_plan(encoder.rules.plan))
        missing = {*file_form.missing_texts} - {*encoder.rules.missing_texts}
        parsed = [without_texts(column, missing) for column in parsed]
    # The names may be integers.
    columns: dict[Name, Column] = {
        reading.name: replace(column, name=reading.name)
        for reading, column in zip(used, parsed, strict=True)
    }
    absent = np.full(batch.num_rows, -1, dtype=np.int32)
    parts: list[Column] = [
        columns.get(name, ValueColumn(name, absent, []))
        for name in encoder.column_names
    ]
    try:
        encoded = encoder.transform(parts)
    except CellError as error:
        raise with_line(error, lines[error.row]) from error
    if report is not None:
        report.add(encoded.unknown_cells.values(), lines, source)
    if return_notes:
        encoded = with_notes(encoder, encoded, parts)
    return encoded


def as_number(text: str) -> float | None:
    """The number that a text spells, or None."""
    try:
        # Python takes 1_000 for a number; in a table it is none.
        return None if "_" in text else float(text)
    except ValueError:
        return None
