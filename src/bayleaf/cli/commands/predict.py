"""``bayleaf predict``: add predictions to a table, batch by batch."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayleaf.cli.display import progress
from bayleaf.cli.options import FileFormat, Source, TableOutput
from bayleaf.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from bayleaf.io import SavedModel
    from bayleaf.models.predictor import Predictor
    from bayleaf.predictions.prediction_files import Score


def predict(
    model: Path,
    data: Source,
    *,
    output: TableOutput = "-",
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
    from bayleaf.cli.tables import is_many_files
    from bayleaf.io import read_model

    saved = read_model(model)
    predictor = saved if saved.kind == "regressor" else saved.predictor
    unknown: Counter[str | int] = Counter()
    score = partial(_scored, predictor, probabilities, unknown)
    with progress():
        if is_many_files(data):
            folder = Path(output)
            done = _predict_files(model, data, folder, form, probabilities, score)
            print(done, file=sys.stderr)
        else:
            _predict_file(score, form, safe_csv, data, output)
    for name, count in unknown.items():
        print(
            f"bayleaf: column {name}: {count} cells hold values not seen in training "
            "and were taken as missing",
            file=sys.stderr,
        )
    return 0


def _predict_files(
    model: Path,
    data: str,
    folder: Path,
    form: FileFormat | None,
    probabilities: bool,
    score: Score,
) -> str:
    """Predict file after file; those that are there already are left as they are.

    `data` is a glob or folder; Parquet files go to the same folders below `folder`.
    Returns a line on what was done. ValueError if the folder has other predictions, or
    two files share a name.
    """
    from bayleaf.cli.tables import read_batches
    from bayleaf.predictions.prediction_files import parts_of, write_parts
    from bayleaf.streams.batch_sources import files_of

    parts = parts_of(files_of(data), data, partial(read_batches, form=form))
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    how = {"model": digest, "probabilities": probabilities}
    written = write_parts(parts, folder, how, score)
    return f"{counted(written.n_files, 'file')} predicted into {folder}"


def _predict_file(
    score: Score,
    form: FileFormat | None,
    safe_csv: bool,
    data: str,
    output: str,
) -> None:
    """Predict one file into another."""
    from bayleaf.cli.csv_reading import called
    from bayleaf.cli.output import writing
    from bayleaf.cli.tables import read_batches
    from bayleaf.progress import Work

    n_rows, work = 0, Work()
    with writing(output, ["prediction"] if safe_csv else []) as write:
        for batch in read_batches(data, form):
            write(score(batch, data, n_rows))
            n_rows += batch.num_rows
            work.say(f"{n_rows:,} rows predicted")
        if n_rows == 0:
            raise ValueError(f"{called(data)} has no rows")


def _scored(
    predictor: Predictor | SavedModel,
    probabilities: bool,
    unknown: Counter[str | int],
    batch: pa.RecordBatch,
    source: str,
    first: int,
) -> pa.RecordBatch:
    """A batch with its predictions; values that are unknown are counted."""
    from bayleaf.cli.tables import encode_batch
    from bayleaf.models.predictor import Predictor
    from bayleaf.predictions.scored import with_classes, with_numbers

    encoded = encode_batch(predictor.encoder, batch, source, n_before=first)
    unknown.update(encoded.unknown)
    if isinstance(predictor, Predictor):
        return with_classes(predictor, encoded.codes, batch, probabilities)
    absolute = predictor.parameters.get("loss") == "absolute"
    model: Any = predictor.model
    return with_numbers(model, absolute, encoded.codes, batch, probabilities)
