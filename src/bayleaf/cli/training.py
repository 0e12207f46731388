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
    """Features, and labels named after their column, row weights and a column aside."""

    features: pa.Table
    target: Any
    weights: NDArray[np.float64] | None
    aside: Any


def training_table(
    source: str,
    target: str | None,
    *,
    drop: Sequence[str] = (),
    weight: str | None = None,
    form: FileFormat | None = None,
    aside: str | None = None,
) -> TrainingColumns:
    """Read a table and split off weights, a column set aside and, if any, the target.

    OSError or ValueError if the file cannot be read, a named column is missing, the
    target is dropped or has empty cells, or no feature is left.
    """
    if target in drop:
        raise ValueError(
            f"--drop leaves out the target column {quoted(target)}; drop another "
            "column or name another target"
        )
    table = read_table(source, form)
    special = [name for name in (target, *drop, weight, aside) if name is not None]
    select_columns(table, special, source)
    labels = None if target is None else _labels(table, target)
    features = table.drop_columns(list(dict.fromkeys(special)))
    if not features.num_columns and target is None:
        raise ValueError(f"{source} has no column left; drop fewer columns")
    if not features.num_columns:
        raise ValueError(f"{source} has no column beside the target; add features")
    kept = None if aside is None else table.column(aside).combine_chunks()
    return TrainingColumns(features, labels, _row_weights(table, weight), kept)


def _labels(table: pa.Table, target: str) -> Any:
    """The target as a narwhals series, whose name the model then shows."""
    labels = table.column(target)
    if labels.null_count:
        first = next(i for i, cell in enumerate(labels) if not cell.is_valid)
        raise ValueError(
            f"the target column {quoted(target)} is empty in {labels.null_count} rows "
            f"(the first is line {first + 1} below the header); remove those rows"
        )
    if pa.types.is_temporal(labels.type):
        # Text that looks like dates is read as dates; as classes it is text.
        labels = labels.cast(pa.string())
    named = nw.from_native(pa.table({target: labels}), eager_only=True)
    return named.get_column(target)


def _row_weights(table: pa.Table, column: str | None) -> NDArray[np.float64] | None:
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
