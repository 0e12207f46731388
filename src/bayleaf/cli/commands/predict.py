"""``bayleaf predict``: add predictions to a table, batch by batch."""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayleaf.cli.file_format import FileFormat
from bayleaf.cli.options import Source
from bayleaf.wording import quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from bayleaf.io.native.regression import SavedRegression
    from bayleaf.models.predictor import Predictor


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
    from bayleaf.cli.progress import progress
    from bayleaf.io import read_model
    from bayleaf.io.native.regression import is_regression, read_regression

    predictor: Predictor | SavedRegression
    if is_regression(model):
        predictor = read_regression(model)
    else:
        predictor = read_model(model).predictor
    unknown: Counter[str | int] = Counter()
    predict_one = partial(
        _predict_file, predictor, form, probabilities, safe_csv, unknown
    )
    with progress():
        if is_many_files(data):
            from bayleaf.cli.batches.predicting import predict_files, told

            n_done = predict_files(model, data, Path(output), predict_one)
            print(told(n_done, Path(output)), file=sys.stderr)
        else:
            predict_one(data, output)
    for name, count in unknown.items():
        print(
            f"bayleaf: column {name}: {count} cells hold values not seen in training "
            "and were taken as missing",
            file=sys.stderr,
        )
    return 0


def _predict_file(
    predictor: Predictor | SavedRegression,
    form: FileFormat | None,
    probabilities: bool,
    safe_csv: bool,
    unknown: Counter[str | int],
    data: str,
    output: str,
) -> None:
    """Predict one file into another."""
    from bayleaf.cli.coding import encode_batch
    from bayleaf.cli.output import writing
    from bayleaf.cli.regression.fitted import scored
    from bayleaf.cli.tables import read_batches
    from bayleaf.models.predictor import Predictor
    from bayleaf.progress import Work

    score: Any = partial(_scored, predictor)  # type: ignore[arg-type]
    if not isinstance(predictor, Predictor):
        score = partial(scored, predictor)
    n_rows, work = 0, Work()
    with writing(output, ["prediction"] if safe_csv else []) as writer:
        for batch in read_batches(data, form):
            encoded = encode_batch(
                predictor,
                batch,
                data,
                lines=range(n_rows + 1, n_rows + 1 + batch.num_rows),
            )
            unknown.update(encoded.unknown)
            writer.write(score(encoded.codes, batch, probabilities))
            n_rows += batch.num_rows
            work.say(f"{n_rows:,} rows predicted")
        if n_rows == 0:
            raise ValueError(f"{'standard input' if data == '-' else data} has no rows")


def _scored(
    predictor: Predictor, codes: Any, batch: pa.RecordBatch, probabilities: bool
) -> pa.RecordBatch:
    """The batch with prediction and probabilities."""
    import numpy as np
    import pyarrow as pa

    from bayleaf.cli.arrow_arrays import number_array

    log_proba = predictor.log_proba(codes)
    proba = np.exp(log_proba)
    added = {"prediction": _label_column(predictor.choose(proba), predictor.classes)}
    if probabilities:
        for label, column in zip(predictor.classes, proba.T, strict=True):
            added[f"probability_{label}"] = number_array(column)
    taken = [name for name in added if name in batch.schema.names]
    if taken:
        raise ValueError(
            f"the input has a column {quoted(taken[0])} already; rename it so that the "
            "prediction can be added"
        )
    return pa.RecordBatch.from_arrays(
        [*batch.columns, *added.values()], names=[*batch.schema.names, *added]
    )


def _label_column(chosen: Any, classes: Any) -> pa.Array:
    """Labels in a type that holds every class; as text if Arrow knows no other."""
    import numpy as np
    import pyarrow as pa

    from bayleaf.cli.arrow_arrays import number_array, text_array

    labels = classes.tolist()
    if classes.dtype.kind in "if":
        kind = np.int64 if classes.dtype.kind == "i" else np.float64
        return number_array(classes.astype(kind)[chosen])
    if all(isinstance(label, str) for label in labels):
        return text_array(labels, chosen)
    try:
        return pa.array(labels).take(pa.array(chosen))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return text_array([str(label) for label in labels], chosen)
