"""Predictions in a folder of Parquet files, going on where they ended."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from bayleaf.data.tables.array_columns import number_array, text_array
from bayleaf.io.atomic import is_partial, replacing, write_text
from bayleaf.models.predictor import Predictor
from bayleaf.progress import Work
from bayleaf.wording import quoted, shown_name

if TYPE_CHECKING:
    from bayleaf.streams.batch_sources import ArrowSource

# What tells by which model, and how, the predictions of a folder were made.
_NOTE = "_bayleaf.json"
_BATCH_ROWS = 1 << 16
# In the metadata of predictions: the identity of the file that they are of.
_SOURCE = b"bayleaf:source"

Batches = Iterator[pa.RecordBatch]
# Gives a batch with its predictions, by the name of its file and its first row.
Score = Callable[[pa.RecordBatch, str, int], pa.RecordBatch]
# Quantiles of a numeric target that are written.
_LEVELS = (0.05, 0.5, 0.95)


class Part(NamedTuple):
    """One file of a table."""

    path: str  # of its rows
    name: str  # of its predictions' file
    batches: Callable[[], Batches]  # reads its rows
    in_folders: tuple[str, ...] = ()  # columns in its folders' names only


@dataclass
class Written:
    """What was written to a folder."""

    n_files: int = 0  # written now
    n_rows: int = 0  # in these files
    n_kept: int = 0  # files that were there already
    n_removed: int = 0  # predictions of files that were deleted


def parts_of(
    paths: Sequence[str],
    called: str,
    read_csv: Callable[[str], Batches] | None = None,
    base: str | None = None,
) -> list[Part]:
    """The files of a table, each with the file for its predictions.

    `called` names them in messages; `read_csv` gives the rows of files that are not
    Parquet; predictions have the names of files below `base`, by default the folder
    that they have in common. ValueError if two would be predicted into one, or differ
    in their columns.
    """
    names = _names_of(paths, base or _common_folder(paths))
    keys = Counter(os.path.normcase(name) for name in names)
    for name in names:
        if keys[os.path.normcase(name)] > 1:
            raise ValueError(f"two files of the table would be predicted into {name}")
    # Datasets of Arrow load pandas, which predictions of one file do without.
    from bayleaf.streams.batch_sources import file_kind
    from bayleaf.streams.parquet_files import ParquetFiles

    if all(file_kind(path) == "parquet" for path in paths):
        files = ParquetFiles.of(paths, called, as_indices=False)
        return [
            Part(path, name, partial(files.rows_of, place), files.in_folders)
            for place, (path, name) in enumerate(zip(paths, names, strict=True))
        ]
    assert read_csv is not None
    return [
        Part(path, name, partial(read_csv, path))
        for path, name in zip(paths, names, strict=True)
    ]


def predict_files(
    table: Any,
    folder: Path,
    how: Mapping[str, Any],
    score: Score,
    read_csv: Callable[[str], Batches],
) -> Written:
    """Predict the files of a path, glob, folder or list, each into one of a folder.

    Predictions are Parquet files in the same folders as the table's. They stay as they
    are while their files do; those of deleted files are removed. `how` distinguishes
    them from others of the table; `score` adds predictions to a batch. ValueError if
    the folder has others or is part of the table, or a file no rows; OSError if files
    cannot be read or written.
    """
    from bayleaf.streams.batch_sources import file_identity, files_of, root_of

    paths, root = files_of(table), root_of(table)
    is_list = isinstance(table, list | tuple)
    _check_apart("" if is_list else os.fspath(table), paths, root, folder)
    base = _common_folder(paths) if root is None else os.path.abspath(root)
    parts = parts_of(paths, "the list" if is_list else str(table), read_csv, base)
    _prepare(folder, how)
    written = Written(n_removed=_remove_outdated(folder, parts, base))
    work = Work(len(parts))
    for part in parts:
        work.step(f"predicting {part.path}")
        target, identity = folder / part.name, file_identity(part.path, is_whole=True)
        # Its path may change, as where a disk is mounted elsewhere.
        if _identity_in(target)[1:] == identity[1:]:
            written.n_kept += 1
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        scored = _scored(part.batches(), part.path, score)
        noted = {_SOURCE: json.dumps(identity).encode()}
        inner = [*part.in_folders]
        n_rows = _write(
            target,
            (b.drop_columns(inner).replace_schema_metadata(noted) for b in scored),
        )
        written.n_files += 1
        written.n_rows += n_rows
    return written


def _check_apart(
    pattern: str, paths: Sequence[str], root: str | None, folder: Path
) -> None:
    """Refuse a folder whose predictions would be read as rows of the table."""
    target = folder.resolve()
    # Patterns such as in/*.csv do not reach the folders in their folder.
    reaches = "**" in pattern or os.path.dirname(pattern) != root
    tops = [] if root is None else [Path(root), *_linked_folders(paths, Path(root))]
    is_below = any(target.is_relative_to(top.resolve()) for top in tops)
    is_among = any(Path(path).resolve().is_relative_to(target) for path in paths)
    if is_among or (is_below and reaches):
        raise ValueError(
            f"predictions in {shown_name(str(folder))} would be read as files of the "
            "table; name a folder that is not in the table's and has none of its files"
        )


def _linked_folders(paths: Sequence[str], root: Path) -> list[Path]:
    """The links below a folder by which files are found."""
    folders = {parent for path in paths for parent in Path(path).parents}
    return [f for f in folders - {root} if f.is_relative_to(root) and f.is_symlink()]


def _remove_outdated(folder: Path, parts: Sequence[Part], base: str | None) -> int:
    """Remove the predictions of files below `base` that were deleted; their number."""
    current = {folder / part.name for part in parts}
    n_removed = 0
    for path in folder.rglob("*.parquet"):
        if path in current or base is None:
            continue
        source = Path(str((_identity_in(path) or [""])[0]))
        if source.is_relative_to(base) and not source.exists():
            path.unlink()
            n_removed += 1
    return n_removed


def _identity_in(path: Path) -> list[Any]:
    """The identity of the file that predictions are of; empty if they lack it."""
    import pyarrow.parquet as pa_parquet

    try:
        metadata = pa_parquet.read_metadata(path).metadata or {}
        identity = json.loads(metadata.get(_SOURCE, b"[]"))
    except (OSError, pa.ArrowInvalid, ValueError):
        return []
    return identity if isinstance(identity, list) else []


def write_stretches(
    source: ArrowSource, size: int, folder: Path, how: Mapping[str, Any], score: Score
) -> Written:
    """Predict `size` rows per file, after those that are there already.

    `source` gives the same rows in the same order as before; see `predict_files`.
    """
    _prepare(folder, {**how, "rows_per_file": size})
    lengths = _lengths(folder)
    written = Written(n_kept=len(lengths))
    if lengths and lengths[-1] < size:
        # Only the last file of a table is shorter.
        return written
    cut = _cut(source.batches(sum(lengths)), size)
    scored = _scored(cut, "the table", score)
    work = Work()
    for first in scored:
        name = f"part-{len(lengths) + written.n_files:05d}.parquet"
        left = size - first.num_rows
        n_rows = _write(folder / name, itertools.chain([first], _first(scored, left)))
        written.n_files += 1
        written.n_rows += n_rows
        work.say(f"{written.n_rows:,} rows predicted")
    if not lengths and not written.n_rows:
        raise ValueError("the table has no rows")
    return written


def _lengths(folder: Path) -> list[int]:
    """Rows of the files that are there, up to the first that is not."""
    import pyarrow.parquet as pa_parquet

    found: list[int] = []
    while (path := folder / f"part-{len(found):05d}.parquet").exists():
        found.append(int(pa_parquet.read_metadata(path).num_rows))
    return found


def _cut(batches: Batches, size: int) -> Batches:
    """The same rows, in batches that end where files end."""
    room = size
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            piece = batch.slice(start, min(room, _BATCH_ROWS))
            yield piece
            start += piece.num_rows
            room = room - piece.num_rows or size


def _first(batches: Batches, n_rows: int) -> Batches:
    """The next batches, which have so many rows, or fewer if there are no more."""
    while n_rows > 0 and (batch := next(batches, None)) is not None:
        n_rows -= batch.num_rows
        yield batch


def _scored(batches: Batches, called: str, score: Score) -> Batches:
    """Batches with their predictions."""
    n_rows = 0
    for batch in batches:
        if batch.num_rows:
            yield score(batch, called, n_rows)
            n_rows += batch.num_rows
    if n_rows == 0 and called != "the table":
        raise ValueError(f"{called} has no rows; add at least one, or remove the file")


def _write(target: Path, batches: Batches) -> int:
    """Write a file that appears when it is whole; its number of rows."""
    import pyarrow.parquet as pa_parquet

    n_rows = 0
    remedy = "make room and run it again, and it goes on where it was"
    with replacing(target, remedy=remedy) as path, open(path, "wb") as file:
        first = next(batches)
        writer = pa_parquet.ParquetWriter(file, first.schema)
        try:
            for batch in itertools.chain([first], batches):
                writer.write_batch(batch)
                n_rows += batch.num_rows
            writer.close()
        except BaseException:
            # Otherwise it would try once more when it is forgotten.
            with contextlib.suppress(OSError, pa.ArrowException):
                writer.close()
            writer.is_open = False
            raise
    return n_rows


def _common_folder(paths: Sequence[str]) -> str | None:
    """The folder below which all files lie; None on several drives of Windows."""
    try:
        return os.path.commonpath([os.path.dirname(os.path.abspath(p)) for p in paths])
    except ValueError:
        return None


def _names_of(paths: Sequence[str], base: str | None) -> list[str]:
    """Files below a folder, with the ending of Parquet."""
    inner = [
        os.path.basename(path)
        if base is None
        else os.path.relpath(os.path.abspath(path), base)
        for path in paths
    ]
    return [
        os.path.join(folder, f"{name.split('.')[0]}.parquet")
        for folder, name in map(os.path.split, inner)
    ]


def _prepare(folder: Path, how: Mapping[str, Any]) -> None:
    """Note how a folder's predictions are made; refuse those made otherwise.

    Files that a killed program left half written are removed.
    """
    nearest = next(f for f in (folder, *folder.parents) if f.exists())
    if not nearest.is_dir():
        raise ValueError(
            f"{shown_name(str(nearest))} is a file; several files are predicted into "
            "a folder, so name a folder"
        )
    note = folder / _NOTE
    if note.exists():
        known = None
        with contextlib.suppress(ValueError):
            known = json.loads(note.read_text("utf-8"))
        if known != dict(how):
            raise ValueError(
                f"the folder {shown_name(str(folder))} holds predictions of another "
                "model, or others of this one; name another folder"
            )
        for path in filter(is_partial, folder.rglob(".*.part")):
            path.unlink()
        return
    if folder.is_dir() and not all(map(is_partial, folder.iterdir())):
        raise ValueError(
            f"the folder {shown_name(str(folder))} holds other files; name a new one"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    write_text(note, json.dumps(dict(how)))


def with_classes(
    predictor: Predictor, codes: Any, batch: pa.RecordBatch, probabilities: bool
) -> pa.RecordBatch:
    """The batch with prediction and, if asked for, probabilities.

    ValueError if it has a column of such a name already.
    """
    proba = np.exp(predictor.log_proba(codes))
    added = {"prediction": _label_column(predictor.choose(proba), predictor.classes)}
    if probabilities:
        for label, column in zip(predictor.classes, proba.T, strict=True):
            name = f"probability_{label}"
            if name in added:
                raise ValueError(
                    f"two classes are written as {quoted(str(label))}, of other types; "
                    "give them different texts and fit the model again"
                )
            added[name] = number_array(column)
    return _with_columns(batch, added)


def with_numbers(
    model: Any, absolute: bool, codes: Any, batch: pa.RecordBatch, quantiles: bool
) -> pa.RecordBatch:
    """The batch with a predicted number and, if asked for, quantiles.

    The number is the median under absolute loss, and else the mean. ValueError if the
    batch has a column of such a name already.
    """
    said = model.distributions(codes)
    added = {"prediction": number_array(said.median if absolute else said.mean)}
    if quantiles:
        for level, column in zip(_LEVELS, said.quantiles(_LEVELS).T, strict=True):
            added[f"quantile_{level:g}"] = number_array(column.copy())
    return _with_columns(batch, added)


def _with_columns(
    batch: pa.RecordBatch, added: Mapping[str, pa.Array]
) -> pa.RecordBatch:
    """The batch with other columns behind its own."""
    taken = [name for name in added if name in batch.schema.names]
    if taken:
        raise ValueError(
            f"the input has a column {quoted(taken[0])} already; rename it so that the "
            "prediction can be added"
        )
    # Fields have metadata, and may be declared without nulls.
    for name, column in added.items():
        batch = batch.append_column(name, column)
    return batch


def _label_column(chosen: Any, classes: Any) -> pa.Array:
    """Labels in a type that holds every class; as text if Arrow knows no other."""
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
