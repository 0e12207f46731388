"""Predictions of a fitted model for tables of any size, from Python."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.parameters import check_count
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import Column, Name, ValueColumn
from bayleaf.data.tables.frames import to_columns
from bayleaf.data.tables.named_rows import records_of
from bayleaf.predictions.prediction_files import (
    predict_files,
    with_classes,
    with_numbers,
    write_stretches,
)
from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor
from bayleaf.results.result import Shown
from bayleaf.streams.batch_sources import open_source
from bayleaf.typing import BatchesLike
from bayleaf.wording import near_names, quoted

_ROWS_PER_FILE = 1_000_000


@dataclass(frozen=True)
class FolderPredictions(Shown):
    """What `predict_to_folder` wrote.

    Parameters
    ----------
    folder : Path
        Where the files are.
    n_files : int
        Files that were written now.
    n_rows : int
        Their rows.
    n_kept : int
        Files that were there already, of an earlier call.
    n_removed : int
        Predictions that were removed, since their files were deleted.
    unknown : mapping of name to int
        Cells of each column, in the rows predicted now, whose values training did not
        contain; they were taken as missing.
    """

    folder: Path
    n_files: int
    n_rows: int
    n_kept: int
    n_removed: int
    unknown: Mapping[Name, int]


def predict_to_folder(
    model: BayesianClassifier | AveragedKDBRegressor,
    table: BatchesLike,
    folder: str | Path,
    *,
    probabilities: bool = True,
    rows_per_file: int = _ROWS_PER_FILE,
) -> FolderPredictions:
    """Predict all rows of a table, which may be larger than memory, into Parquet.

    Each file has all columns of its rows, then `prediction` and one column
    `probability_CLASS` for each class; of a numeric target, the quantiles at 5 %, 50 %
    and 95 %. A file appears when it is whole: after an interruption, the same call
    goes on with the files that are not there yet.

    Parameters
    ----------
    model : classifier or AveragedKDBRegressor
        Fitted.
    table : path, list of paths, or what yields batches
        Whatever `fit` reads in batches. Each file of a path, glob, folder or list gets
        a file of predictions of the same name, in the same folder below `folder`, so
        that partitions in the manner of Hive stay as they are; it is predicted again
        when it was replaced, and its predictions are removed when it was deleted.
        Other tables must give the same rows in the same order when they are read again.
        Rows with names, such as a list of dicts, are matched by name.
    folder : path
        A new folder, or one that this call began to fill.
    probabilities : bool, default=True
        Whether to add the probabilities, or the quantiles of a numeric target.
    rows_per_file : int, default=1_000_000
        Rows of each file, where the table does not come in files.

    Returns
    -------
    FolderPredictions
        How much was written, and which values were unknown.

    Raises
    ------
    TypeError
        If the model makes no predictions, or the table yields no batches.
    ValueError
        If a column is absent, or the folder holds something else or is in the table's.
    OSError
        If files cannot be read or written.

    Examples
    --------
    >>> import tempfile
    >>> from bayleaf import NaiveBayesClassifier, predict_to_folder
    >>> from bayleaf.datasets import load_heart
    >>> heart = load_heart()
    >>> model = NaiveBayesClassifier().fit(heart.X, heart.y)
    >>> rows = heart.frame.to_reader()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     predict_to_folder(model, rows, folder, rows_per_file=100).n_files
    3
    """
    check_count("rows_per_file", rows_per_file, 1)
    scored = _scored_by(model, probabilities)
    how = {"model": _digest(model), "probabilities": bool(probabilities)}
    unknown: Counter[Name] = Counter()

    def score(batch: pa.RecordBatch, called: str, first: int) -> pa.RecordBatch:
        found = model.encoder_.transform(_features(model.encoder_, batch, called))
        unknown.update(found.unknown)
        return scored(found.rows, batch)

    # Files do not decide on their texts: training did.
    opened = partial(open_source, as_texts=True, plan=model.encoder_.rules.plan)
    target = Path(folder)
    records = None
    if isinstance(table, Mapping | list) or hasattr(table, "to_dict"):
        records = records_of(table, model.encoder_.column_names)
    if records is not None:
        model.encoder_.split(records)
        table = _table_of(records, model.encoder_.column_names)
    if isinstance(table, str | os.PathLike | list | tuple):
        written = predict_files(
            table, target, how, score, lambda path: opened(path).batches()
        )
    else:
        source = opened(table)
        written = write_stretches(source, rows_per_file, target, how, score)
    return FolderPredictions(target, **vars(written), unknown=dict(unknown))


def _table_of(records: Sequence[Mapping[Any, Any]], names: Sequence[Name]) -> pa.Table:
    """Rows with names as a table, with null cells for what a row lacks."""
    given = [str(name) for record in records for name in record]
    keys = dict.fromkeys([*given, *map(str, names)])
    rows = [{str(name): cell for name, cell in row.items()} for row in records]
    return pa.table({key: [row.get(key) for row in rows] for key in keys})


def _scored_by(
    model: Any, probabilities: bool
) -> Callable[[Any, pa.RecordBatch], pa.RecordBatch]:
    """What adds predictions to a batch, by its codes."""
    if isinstance(model, BayesianClassifier):
        predictor = model._predictor()
        return lambda codes, batch: with_classes(predictor, codes, batch, probabilities)
    if isinstance(model, AveragedKDBRegressor):
        add = partial(with_numbers, model.model_, model.loss == "absolute")
        return lambda codes, batch: add(codes, batch, probabilities)
    raise TypeError(
        f"predict_to_folder takes a fitted classifier or regressor, got "
        f"{quoted(type(model).__name__)}"
    )


def _digest(model: Any) -> str:
    """What tells a model from others: a checksum of its file."""
    with tempfile.TemporaryDirectory(prefix="bayleaf-") as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()


def _features(
    encoder: TableEncoder, batch: pa.RecordBatch, called: str
) -> list[Column]:
    """The columns that an encoder reads; those that it left out may be absent."""
    names = batch.schema.names
    columns: list[Column] = []
    for reading in encoder.readings:
        name = str(reading.name)
        if reading.form == "left_out":
            absent = np.full(batch.num_rows, -1, dtype=np.int32)
            columns.append(ValueColumn(reading.name, absent, []))
            continue
        if name not in names:
            raise ValueError(
                f"{called} has no column {quoted(name)}; {near_names(name, names)}"
            )
        parsed = to_columns(pa.table({name: batch.column(name)}))
        assert isinstance(parsed, list)
        columns.append(replace(parsed[0], name=reading.name))
    return columns
