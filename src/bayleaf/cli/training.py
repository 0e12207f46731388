"""A table from a file as features, target and weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.cli.file_format import FileFormat
from bayleaf.cli.tables import read_table, select_columns
from bayleaf.wording import quoted


class TrainingColumns(NamedTuple):
    """Features, labels named after their column, and row weights if there are any."""

    features: pa.Table
    target: Any
    weights: NDArray[np.float64] | None
    aside: Any = None


def training_table(
    source: str,
    target: str,
    *,
    drop: Sequence[str] = (),
    weight: str | None = None,
    form: FileFormat | None = None,
    aside: str | None = None,
) -> TrainingColumns:
    """Read a table and split off target, weights and a column set aside.

    OSError or ValueError if the file cannot be read, a named column is missing, the
    target is dropped or has empty cells, or no feature is left.
    """
    if target in drop:
        raise ValueError(
            f"--drop leaves out the target column {quoted(target)}; drop another "
            "column or name another target"
        )
    table = read_table(source, form)
    special = [target, *drop, *filter(None, (weight, aside))]
    select_columns(table, special, source)
    labels = table.column(target)
    if labels.null_count:
        first = next(i for i, cell in enumerate(labels) if not cell.is_valid)
        raise ValueError(
            f"the target column {quoted(target)} is empty in {labels.null_count} rows "
            f"(the first is line {first + 1} below the header); remove those rows"
        )
    features = table.drop_columns(list(dict.fromkeys(special)))
    if not features.num_columns:
        raise ValueError(f"{source} has no column beside the target; add features")
    if pa.types.is_temporal(labels.type):
        # Text that looks like dates is read as dates; as classes it is text.
        place = table.column_names.index(target)
        table = table.set_column(place, target, labels.cast(pa.string()))
    # As a narwhals series the target keeps its name, which the model then shows.
    named = nw.from_native(table, eager_only=True).get_column(target)
    kept = None if aside is None else table.column(aside).combine_chunks()
    return TrainingColumns(features, named, row_weights(table, weight), kept)


def density_table(
    source: str,
    *,
    drop: Sequence[str] = (),
    weight: str | None = None,
    form: FileFormat | None = None,
) -> tuple[pa.Table, NDArray[np.float64] | None]:
    """Read a table without a target: its columns, and row weights if there are any.

    OSError or ValueError if the file cannot be read, a named column is missing, or no
    column is left.
    """
    table = read_table(source, form)
    special = [*drop, *([weight] if weight else [])]
    select_columns(table, special, source)
    columns = table.drop_columns(list(dict.fromkeys(special)))
    if not columns.num_columns:
        raise ValueError(f"{source} has no column left; drop fewer columns")
    return columns, row_weights(table, weight)


def row_weights(table: pa.Table, column: str | None) -> NDArray[np.float64] | None:
    """Row weights from their column."""
    if column is None:
        return None
    try:
        cells = table.column(column).cast(pa.float64())
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
