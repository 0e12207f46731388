"""``bayleaf predict``: add predictions to a table, batch by batch."""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bayleaf.cli.file_format import FileFormat
from bayleaf.cli.options import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from bayleaf.io.native.regression import SavedRegression
    from bayleaf.models.predictor import Predictor
    from bayleaf.predictions.prediction_files import Score


def predict(
    model: Path,
    data: Source,
    *,
    output: Annotated[
        str, Parameter(name=["--output", "-o"], allow_leading_hyphen=True)
    ] = "-",
    form: FileFormat | None = None,
    probabilities: bool = True,
    safe_csv: bool = True,
) -> int:
    """Predict the class of each row of a table.

    The output has all columns of the input, then `prediction` and one column
    `probability_CLASS` for each class; of a numeric target, the quantiles at 5 %, 50 %
    and 95 %. Memory does not grow with the table.

    Example: `bayleaf predict heart.json new.csv -o scored.csv`

    Parameters
    ----------
    model
        Model file.
    data
        CSV or Parquet file; - for CSV on standard input; or a folder or glob of files.
    output
        CSV or Parquet file to write; - for CSV on standard output. For several files a
        folder, which gets a Parquet file for each; the same command goes on where it
        was interrupted.
    probabilities
        Whether to add the probabilities, or the quantiles of a numeric target.
    safe_csv
        Whether CSV has an apostrophe before a predicted label that a spreadsheet
        would take for a formula, such as =1+1.
    """
    from bayleaf.cli.batches.sources import is_many_files
    from bayleaf.cli.showing.progress import progress
    from bayleaf.io import read_model
    from bayleaf.io.native.regression import is_regression, read_regression

    predictor: Predictor | SavedRegression
    if is_regression(model):
        predictor = read_regression(model)
    else:
        predictor = read_model(model).predictor
    unknown: Counter[str | int] = Counter()
    score = partial(_scored, predictor, probabilities, unknown)
    with progress():
        if is_many_files(data):
            from bayleaf.cli.batches.predicting import predict_files

            told = predict_files(model, data, Path(output), form, probabilities, score)
            print(told, file=sys.stderr)
        else:
            _predict_file(score, form, safe_csv, data, output)
    for name, count in unknown.items():
        print(
            f"bayleaf: column {name}: {count} cells hold values not seen in training "
            "and were taken as missing",
            file=sys.stderr,
        )
    return 0


def _predict_file(
    score: Score,
    form: FileFormat | None,
    safe_csv: bool,
    data: str,
    output: str,
) -> None:
    """Predict one file into another."""
    from bayleaf.cli.output import writing
    from bayleaf.cli.tables import read_batches
    from bayleaf.progress import Work

    n_rows, work = 0, Work()
    with writing(output, ["prediction"] if safe_csv else []) as writer:
        for batch in read_batches(data, form):
            writer.write(score(batch, data, n_rows))
            n_rows += batch.num_rows
            work.say(f"{n_rows:,} rows predicted")
        if n_rows == 0:
            raise ValueError(f"{'standard input' if data == '-' else data} has no rows")


def _scored(
    predictor: Predictor | SavedRegression,
    probabilities: bool,
    unknown: Counter[str | int],
    batch: pa.RecordBatch,
    source: str,
    first: int,
) -> pa.RecordBatch:
    """A batch with its predictions; values that are unknown are counted."""
    from bayleaf.cli.coding import encode_batch
    from bayleaf.models.predictor import Predictor
    from bayleaf.predictions.scored import with_classes, with_numbers

    lines = range(first + 1, first + 1 + batch.num_rows)
    encoded = encode_batch(predictor, batch, source, lines=lines)
    unknown.update(encoded.unknown)
    if isinstance(predictor, Predictor):
        return with_classes(predictor, encoded.codes, batch, probabilities)
    absolute = predictor.parameters.get("loss") == "absolute"
    return with_numbers(predictor.model, absolute, encoded.codes, batch, probabilities)
