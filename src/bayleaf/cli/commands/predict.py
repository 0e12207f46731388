"""``bayleaf predict``: add predictions to a table, batch by batch."""

from __future__ import annotations

import hashlib
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayleaf.cli.display import progress
from bayleaf.cli.options import (
    USUAL_FORMAT,
    FormatOptions,
    ModelFile,
    Source,
    TableOutput,
)
from bayleaf.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from bayleaf.data.files.csv_rows import CsvRows
    from bayleaf.predictions.prediction_files import Score


def predict(
    model: ModelFile,
    data: Source,
    *,
    output: TableOutput = "-",
    form: FormatOptions = USUAL_FORMAT,
    probabilities: bool = True,
    safe_csv: bool = True,
) -> int:
    """Predict the class of each row of a table.

    The output has all columns of the input, as the file writes them, then `prediction`
    and one column `probability_CLASS` for each class; of a numeric target, the
    quantiles at 5 %, 50 % and 95 %. CSV keeps separator, quotes, decimal sign, encoding
    and line ends; titles, comments, units, blank lines and notes stay where they are,
    and columns of fixed width aligned; lines that repeat the header are left out.
    Memory does not grow with the table.

    Example: `bayleaf predict heart.json new.csv -o scored.csv`

    Parameters
    ----------
    data
        CSV, Parquet, JSON (an object per row), .xlsx, .dta or ARFF file; - for CSV or
        JSON on standard input; or a folder or glob of files.
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
    from bayleaf.cli.table_reading import (
        UnknownReport,
        encode_batch,
        is_many_files,
        rows_of,
    )
    from bayleaf.data.files.table_files import file_batches
    from bayleaf.io import read_model
    from bayleaf.predictions.prediction_files import (
        predict_files,
        with_classes,
        with_numbers,
    )

    saved = read_model(model)
    is_regressor = saved.kind == "regressor"
    predictor: Any = saved if is_regressor else saved.predictor
    report = UnknownReport(data)

    def score(batch: pa.RecordBatch, source: str, n_before: int) -> pa.RecordBatch:
        encoded = encode_batch(
            predictor.encoder, batch, source, n_before=n_before, report=report
        )
        if not is_regressor:
            return with_classes(predictor, encoded.rows, batch, probabilities)
        absolute = saved.parameters.get("loss") == "absolute"
        codes = encoded.codes
        return with_numbers(predictor.model, absolute, codes, batch, probabilities)

    with progress():
        if is_many_files(data):
            digest = hashlib.sha256(model.read_bytes()).hexdigest()
            how = {"model": digest, "probabilities": probabilities}
            read = partial(file_batches, form=form)
            written = predict_files(data, Path(output), how, score, read)
            done = f"{counted(written.n_files, 'file')} predicted into {Path(output)}"
            if written.n_removed:
                done += f"; {written.n_removed} removed, whose tables were deleted"
            print(done, file=sys.stderr)
        else:
            guarded = ["prediction"] if safe_csv else []
            texts = (reading.text for reading in predictor.encoder.readings)
            has_commas = any(text and text.decimal == "," for text in texts)
            rows = rows_of(data, form, "," if has_commas else ".")
            _predict_file(score, data, form, output, guarded, rows)
    report.show()
    return 0


def _predict_file(
    score: Score,
    data: str,
    form: FormatOptions,
    output: str,
    guarded: list[str],
    rows: CsvRows | None,
) -> None:
    """Predict one file into another."""
    from bayleaf.cli.table_writing import writing
    from bayleaf.data.files.table_files import read_batches
    from bayleaf.progress import Work

    n_rows, work = 0, Work()
    with writing(output, guarded, rows) as write:
        for batch in read_batches(data, form, rows):
            write(score(batch, data, n_rows))
            n_rows += batch.num_rows
            work.say(f"{n_rows:,} rows predicted")
