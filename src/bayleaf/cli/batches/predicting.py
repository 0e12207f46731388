"""Predictions of many files, one file for each, going on where they ended."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from bayleaf.io.atomic import replacing
from bayleaf.progress import Work
from bayleaf.wording import counted, shown_name

# What tells by which model, of which files, the predictions of a folder are.
_NOTE = "_bayleaf.json"


def predict_files(
    model: Path, data: str, folder: Path, predict_one: Callable[[str, str], None]
) -> int:
    """Predict file after file; those that are there already are left as they are.

    Parameters
    ----------
    model : Path
        The model's file.
    data : str
        Glob or folder of Parquet or CSV files.
    folder : Path
        Where predictions go: Parquet files in the same folders as those of the table.
    predict_one : callable
        Predicts one file into another.

    Returns
    -------
    int
        How many files were predicted now.

    Raises
    ------
    ValueError
        If the folder holds predictions of another model, or by names that two files
        share.
    OSError
        If files cannot be read or written.
    """
    from bayleaf.streams.sources import files_of

    paths = files_of(data)
    base = os.path.commonpath([os.path.dirname(path) or "." for path in paths])
    names = [_name_of(os.path.relpath(path, base)) for path in paths]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two files of the table would be predicted into {twice}")
    if folder.exists() and not folder.is_dir():
        raise ValueError(
            f"{shown_name(str(folder))} is a file; several files are predicted into "
            "a folder, so name a folder"
        )
    _check_note(folder, hashlib.sha256(model.read_bytes()).hexdigest())
    n_done = 0
    work = Work(len(paths))
    for path, name in zip(paths, names, strict=True):
        work.step(f"predicting {path}")
        target = folder / name
        if target.exists() and target.stat().st_mtime_ns >= os.stat(path).st_mtime_ns:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        predict_one(path, str(target))
        n_done += 1
    return n_done


def told(n_done: int, folder: Path) -> str:
    """What was done, in a line."""
    return f"{counted(n_done, 'file')} predicted into {folder}"


def _name_of(path: str) -> str:
    """A file's name with the ending of Parquet."""
    stem = path.split(os.sep)[-1].split(".")[0]
    return os.path.join(os.path.dirname(path), f"{stem}.parquet")


def _check_note(folder: Path, model: str) -> None:
    """Note by which model a folder's predictions are; refuse those of another."""
    note = folder / _NOTE
    if note.exists():
        try:
            known = json.loads(note.read_text("utf-8")).get("model")
        except (ValueError, AttributeError):
            known = None
        if known != model:
            raise ValueError(
                f"the folder {shown_name(str(folder))} holds predictions of another "
                "model; name another folder"
            )
        return
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(
            f"the folder {shown_name(str(folder))} holds other files; name a new one"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(note) as path:
        path.write_text(json.dumps({"model": model}), "utf-8")
