"""``bayleaf impute``: a table with its missing cells filled in by a network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayleaf.cli.display import progress
from bayleaf.cli.options import (
    USUAL_FORMAT,
    Flag,
    FormatOptions,
    Table,
    TableOutput,
    WholeNumber,
)
from bayleaf.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa


def impute(
    model: Path,
    data: Table,
    *,
    how: Literal["most_probable", "marginal", "mean", "sample"] = "most_probable",
    seed: WholeNumber = 0,
    unknown: Literal["error", "missing"] | None = None,
    impossible: Literal["error", "missing"] = "error",
    add_columns: Flag = False,
    output: TableOutput = "-",
    form: FormatOptions = USUAL_FORMAT,
    safe_csv: bool = True,
) -> int:
    """Fill in the missing cells of a table, given what each row holds.

    Cells that hold something, and columns that the network does not know, are written
    as the file has them, byte for byte; CSV keeps separator, quotes, decimal sign,
    encoding and line ends; titles, comments, units, blank lines and notes stay where
    they are, and columns of fixed width aligned; lines that repeat the header are left
    out. The whole table is held in memory.

    Example: `bayleaf impute model.json data.csv -o full.csv --how sample --seed 0`

    Parameters
    ----------
    model
        Network file (json, bif, net, xdsl, xml) or model file of a classifier or
        density model.
    how
        The most probable completion of each row as a whole; each cell's own most
        probable state (marginal); the same, but for numbers their expected value
        (mean); or a draw from what is possible (sample).
    seed
        Seed of the draws.
    unknown
        Whether a value that the network does not know is refused, or says nothing
        about its row (missing); by default the rule of a model's training, and error
        for network files.
    impossible
        Whether a row of probability zero is refused, or left as it is.
    add_columns
        Add variables that the table lacks as columns.
    output
        CSV or Parquet file to write; - for CSV on standard output.
    safe_csv
        Whether CSV has an apostrophe before a state that was filled in and that a
        spreadsheet would take for a formula, such as =1+1.
    """
    import pyarrow as pa

    from bayleaf.cli.table_reading import (
        UnknownReport,
        rows_of,
        table_as_read,
        with_plain_texts,
    )
    from bayleaf.cli.table_writing import is_csv, writing
    from bayleaf.data.files.csv_reading import called
    from bayleaf.data.files.table_files import read_batches
    from bayleaf.inference.encoded_rows import unknown_in_table
    from bayleaf.io import read_network
    from bayleaf.loading import read_model_or_network

    network = read_network(model)
    encoder = getattr(read_model_or_network(model), "encoder", None)
    if unknown is None:
        # A row that fit left out for its empty target may have such values.
        unknown = "error" if encoder is None else encoder.rules.unknown
    report = UnknownReport(data)
    rows = rows_of(data, form)
    with progress() as work, writing(output, rows=rows) as write:
        work.say(f"reading {called(data)}")
        batches = list(read_batches(data, form, rows))
        original = pa.Table.from_batches(batches)
        table = table_as_read(original, form, encoder)
        if unknown == "missing":
            cells = unknown_in_table(network.domain, table)
            report.add(cells, range(1, table.num_rows + 1))
        work.say("filling in missing cells")
        filled = network.impute(
            table,
            how,
            random_state=seed,
            unknown=unknown,
            impossible=impossible,
            add_columns=add_columns,
        )
        n_before, n_after = (
            sum(column.null_count for column in part.columns)
            for part in (table, filled.select(table.column_names))
        )
        if safe_csv and is_csv(output):
            filled = _without_formulas(table, filled)
        if rows is None:
            if not is_csv(output):
                filled = _as_declared(original, filled)
            write(filled.combine_chunks().to_batches()[0])
        else:
            # Declared categories, too, are written as the texts that they are.
            original = with_plain_texts(original)
            changes = _changes(original, table, filled)
            filled = _as_written(original, changes, filled)
            write(filled.combine_chunks().to_batches()[0], changes)
    report.show()
    print(f"bayleaf: {counted(n_before - n_after, 'cell')} filled in", file=sys.stderr)
    return 0


def _as_declared(original: pa.Table, filled: pa.Table) -> pa.Table:
    """A filled table whose columns have the types and metadata of the original."""
    for field, column in zip(original.schema, original.columns, strict=True):
        index = filled.schema.get_field_index(field.name)
        cells = filled.column(index)
        if cells.null_count == column.null_count:
            cells = column
        elif cells.type != field.type:
            cells = cells.cast(field.type)
        filled = filled.set_column(index, field, cells)
    return filled.replace_schema_metadata(original.schema.metadata)


def _changes(
    original: pa.Table, table: pa.Table, filled: pa.Table
) -> list[list[str | None]]:
    """Texts that were filled in, by column of the file and row; None for others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    changes = []
    for name in original.column_names:
        texts, column = original.column(name), filled.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        is_new = pc.and_(pc.is_null(table.column(name)), pc.is_valid(column))
        added = pc.if_else(is_new, column, None).combine_chunks()
        changes.append(_written(added.to_pylist(), texts))
    return changes


def _as_written(
    original: pa.Table, changes: list[list[str | None]], filled: pa.Table
) -> pa.Table:
    """What was filled in among the texts of the file, these as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, texts in zip(original.column_names, changes, strict=True):
        cells = pc.coalesce(pa.array(texts, pa.string()), original.column(name))
        filled = filled.set_column(filled.column_names.index(name), name, cells)
    return filled


def _written(values: list[Any], texts: pa.ChunkedArray) -> list[str | None]:
    """Values as texts, in the way in which a column's own texts are written."""
    from bayleaf.data.text_forms import TextEvidence, decide

    form = decide(TextEvidence.of(texts)).form
    present = texts.drop_null().to_pylist()
    cases = [text for text in present if text.strip().lower() in ("true", "false")]
    written = []
    for value in values:
        text = None if value is None else str(value)
        if isinstance(value, float) and form.decimal == ",":
            text = str(value).replace(".", ",")
        elif isinstance(value, bool):
            case = str.lower
            if cases and cases[0].strip().isupper():
                case = str.upper
            elif cases and cases[0].strip().istitle():
                case = str.title
            text = case(str(value))
        written.append(text)
    return written


def _without_formulas(table: pa.Table, filled: pa.Table) -> pa.Table:
    """What was filled in with apostrophes before what would be taken for a formula."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from bayleaf.cli.table_writing import changed_texts, without_formula

    for place, name in enumerate(filled.column_names):
        column = filled.column(place).combine_chunks()
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        safe = changed_texts(column, without_formula)
        if name in table.column_names:
            own = table.column(name).combine_chunks()
            safe = pc.if_else(own.is_null(), safe, column)
        filled = filled.set_column(place, name, safe)
    return filled
