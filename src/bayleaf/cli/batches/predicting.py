"""Predictions of many files on the command line, one file for each."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bayleaf.wording import counted

if TYPE_CHECKING:
    from bayleaf.cli.file_format import FileFormat
    from bayleaf.predictions.prediction_files import Score


def predict_files(
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
