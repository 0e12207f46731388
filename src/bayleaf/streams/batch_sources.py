"""What yields the batches of a table: files, folders, readers, lazy frames, relations.

Nothing here holds more than a few batches of the table at a time.
"""

from __future__ import annotations

import glob
import hashlib
import os
import queue
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pa_dataset

from bayleaf.data.files.csv_reading import declares_columns
from bayleaf.data.files.declared_files import DECLARED
from bayleaf.data.files.file_format import FileFormat
from bayleaf.data.files.file_kinds import PARQUET, WORKBOOKS, inner_suffix
from bayleaf.data.files.table_files import present_cells
from bayleaf.data.reading_plan import ReadingPlan
from bayleaf.data.tables.columns import Name
from bayleaf.data.text_forms import TextDecision
from bayleaf.streams.csv_files import CsvFiles, ReadTexts
from bayleaf.streams.parquet_files import ParquetFiles, after, in_a_sentence
from bayleaf.streams.streamed import is_lazy_polars
from bayleaf.wording import quoted, shown_name

# Rows of the batches that are worked on.
BATCH_ROWS = 1 << 17
# Batches that are read while another is worked on.
_AHEAD = 2
# Bytes of each end of a file by which it is recognised.
_END_BYTES = 1 << 16


@dataclass(frozen=True)
class ArrowSource:
    """A table as batches of Arrow, in order.

    `ordered` names columns of ordered categories whose types lack the order, `texts`
    those of texts that come as indices into their values;
    `decisions` are those by which the texts of files were read already, `missing` what
    was missing there; `facts` are noted by `read` and kept with the codes of the table.
    """

    schema: pa.Schema
    read: Callable[[int], Iterator[pa.RecordBatch]]  # the batches after so many rows
    n_rows: int | None = None  # if known before they are read
    identity: list[Any] | None = None  # if it can be read again: of its files
    ordered: frozenset[str] = field(default=frozenset())
    texts: frozenset[str] = field(default=frozenset())
    decisions: Mapping[Name, TextDecision] = field(default_factory=dict)
    facts: dict[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def without(self, names: Sequence[str]) -> ArrowSource:
        """The same table without some columns."""
        kept = [name for name in self.schema.names if name not in names]

        def read(first: int) -> Iterator[pa.RecordBatch]:
            return (batch.select(kept) for batch in self.read(first))

        schema = pa.schema([self.schema.field(name) for name in kept])
        return replace(self, schema=schema, read=read)

    def batches(self, first: int = 0) -> Iterator[pa.RecordBatch]:
        """The table from a row on, in batches of about `BATCH_ROWS` rows."""
        held: list[pa.RecordBatch] = []
        n_held = 0
        for batch in _read_ahead(self.read(first)):
            for start in range(0, batch.num_rows, BATCH_ROWS):
                piece = batch.slice(start, BATCH_ROWS)
                held.append(piece)
                n_held += piece.num_rows
                if 2 * n_held > BATCH_ROWS:
                    yield _joined(held)
                    held, n_held = [], 0
        if held:
            yield _joined(held)


def open_source(
    table: Any,
    read_csv: ReadTexts | None = None,
    *,
    as_texts: bool = False,
    plan: ReadingPlan | None = None,
) -> ArrowSource:
    """The batches of a table.

    It is the path, glob or folder (with partitions as in Hive) of Parquet and CSV
    files, or a list of paths; a dataset, scanner or RecordBatchReader of pyarrow; a
    LazyFrame of polars; a relation of DuckDB; or has ``__arrow_c_stream__``. `read_csv`
    gives the rows of a CSV file as batches of text, which they stay `as_texts`, by
    default in whatever layout it shows; `plan` has how they are read. OSError without
    such a file, TypeError for others.
    """
    if isinstance(table, ArrowSource):
        return table
    with in_a_sentence():
        return _opened(
            table, partial(_csv_files, read_texts=read_csv, plan=plan), as_texts
        )


def _opened(table: Any, csv: Callable[..., CsvFiles], as_texts: bool) -> ArrowSource:
    """The batches of a table of whatever make."""
    if isinstance(table, str | os.PathLike | list | tuple):
        called = table if isinstance(table, str | os.PathLike) else "the list"
        return _files(files_of(table), str(called), csv, as_texts)
    if isinstance(table, pa_dataset.Dataset):
        return _dataset(table)
    if isinstance(table, pa_dataset.Scanner):
        return _once(table.to_reader())
    if isinstance(table, pa.RecordBatchReader):
        return _once(table)
    if is_lazy_polars(table):
        return _lazy_polars(table)
    if hasattr(table, "__arrow_c_stream__"):
        return _once(pa.RecordBatchReader.from_stream(table))
    raise TypeError(
        f"cannot read batches from {quoted(table)}; pass a path, a dataset, a "
        "RecordBatchReader, a LazyFrame or a relation"
    )


def _read_ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, the next ones read while one is worked on.

    What fails in reading them is raised in a sentence.
    """
    waiting: queue.Queue[Any] = queue.Queue(_AHEAD)
    ended, main = threading.Event(), threading.main_thread()

    def put(item: Any) -> bool:
        while not ended.is_set() and main.is_alive():
            try:
                waiting.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def run() -> None:
        try:
            with in_a_sentence():
                all_taken = all(put(batch) for batch in batches)
            if all_taken:
                put(None)
        except BaseException as error:
            # It is raised where the batches are taken.
            put(error)

    # Python waits for it at its end, where a daemon that comes back from a library's
    # code would abort the process.
    thread = threading.Thread(target=run)
    thread.start()
    try:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        ended.set()
        thread.join()


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of several."""
    if len(batches) == 1:
        return batches[0]
    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    return table.to_batches()[0]


def _once(reader: pa.RecordBatchReader) -> ArrowSource:
    """A reader, which can be read only once."""
    return ArrowSource(reader.schema, lambda first: after(reader, first))


def _lazy_polars(frame: Any) -> ArrowSource:
    """A lazy frame, worked out batch by batch."""
    import polars as pl

    columns = frame.collect_schema()
    empty = pl.DataFrame(schema=columns).to_arrow()
    ordered = frozenset(n for n, kind in columns.items() if isinstance(kind, pl.Enum))

    def read(first: int) -> Iterator[pa.RecordBatch]:
        parts = frame.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)
        return after((b for part in parts for b in part.to_arrow().to_batches()), first)

    return ArrowSource(empty.schema, read, ordered=ordered)


def files_of(table: Any) -> list[str]:
    """The files of a path, glob or folder, by name and each once, or those of a list.

    Linked folders are followed; files of hidden folders, and of folders such as
    ``_temporary``, are left out. OSError or ValueError names a file that cannot be read
    or is listed twice.
    """
    if isinstance(table, list | tuple):
        return _listed(table)
    path = os.fspath(table)
    if _is_glob(path):
        root = root_of(path)
        below = (os.path.relpath(p, root) for p in glob.glob(path, recursive=True))
        # Folders that the pattern spells out are wanted.
        spelled = Path(path).parts
        matches = [
            os.path.join(root, name) if root else name
            for name in below
            if not any(
                _is_internal(f) for f in Path(name).parts[:-1] if f not in spelled
            )
        ]
        files = _once_each(p for p in matches if _is_file(p, "**" in path))
        problem = "no file has such a name"
    elif os.path.isdir(path):
        files = _once_each(_files_below(path))
        problem = "the folder holds no Parquet or CSV file"
    else:
        return _listed([path])
    if not files:
        raise FileNotFoundError(f"cannot read {path}: {problem}")
    # As texts, paths would be sorted by the system's separator.
    return sorted(files, key=lambda file: Path(file).parts)


def _is_file(match: str, is_recursive: bool) -> bool:
    """Whether a match of a pattern is a file, or else may be left out."""
    _check_link(match)
    is_folder = os.path.isdir(match)
    is_meant = os.path.islink(match) or file_kind(match) != "other"
    if is_folder and is_meant and not is_recursive:
        raise IsADirectoryError(
            f"cannot read {match}: it is a folder, of which a pattern reads no files; "
            "add its files to the pattern, as in */*.csv, or name the folder alone"
        )
    return not is_folder and os.path.isfile(match)


def root_of(table: Any) -> str | None:
    """The folder below which the files of a path, glob or folder lie.

    None for a list.
    """
    if isinstance(table, list | tuple):
        return None
    path: str = os.fspath(table)
    if not _is_glob(path):
        return path if os.path.isdir(path) else os.path.dirname(path)
    while _is_glob(path):
        path = os.path.dirname(path)
    return path


def _is_glob(path: str) -> bool:
    """Whether a name is a pattern, and not itself that of a file or folder."""
    return any(sign in path for sign in "*?[") and not os.path.exists(path)


def _is_internal(folder: str) -> bool:
    """Whether programs keep files of their own in a folder of such a name.

    Of names that begin with "_", partitions such as ``_day=1`` are none.
    """
    return folder.startswith(".") or (folder.startswith("_") and "=" not in folder)


def _files_below(top: str) -> Iterator[str]:
    """The Parquet and CSV files in a folder and in those below it.

    Links come last, so that files have the names of their own folders.
    """
    pending, seen = [top], set()
    while pending:
        for folder, inner, names in os.walk(pending.pop(0), onerror=_refuse_folder):
            real = os.path.realpath(folder)
            if real in seen:
                inner.clear()
                continue
            seen.add(real)
            inner[:] = sorted(name for name in inner if not _is_internal(name))
            paths = [os.path.join(folder, name) for name in inner]
            pending += [path for path in paths if os.path.islink(path)]
            yield from _tables_in(folder, names)


def _tables_in(folder: str, names: Iterable[str]) -> Iterator[str]:
    """The Parquet and CSV files among those of a folder."""
    for name in sorted(names):
        if name.startswith((".", "_")):
            continue
        path = os.path.join(folder, name)
        _check_link(path)
        if file_kind(name) in ("parquet", "csv"):
            yield path


def _check_link(path: str) -> None:
    """Raise for a link that leads nowhere, which would be left out."""
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"cannot read {path}: its link leads to no file or folder; correct or "
            "remove it"
        )


def _refuse_folder(error: OSError) -> None:
    """Raise for a folder that cannot be listed, which would be left out."""
    raise type(error)(f"cannot read {error.filename}: {error.strerror}") from error


def _once_each(paths: Iterable[str]) -> list[str]:
    """The same files, of which those that several links name are taken once."""
    files: dict[str, str] = {}
    for path in sorted(paths, key=os.path.islink):
        files.setdefault(os.path.realpath(path), path)
    return list(files.values())


def _listed(table: Sequence[Any]) -> list[str]:
    """The files of a list, in its order."""
    if not table:
        raise ValueError("the list of files is empty; name at least one file")
    files: dict[str, str] = {}
    for item in table:
        if not isinstance(item, str | bytes | os.PathLike):
            raise TypeError(f"a list of files must contain paths, got {quoted(item)}")
        path = os.fsdecode(item)
        if os.path.isdir(path):
            raise IsADirectoryError(
                f"cannot read {path}: a list may contain files only; pass the "
                "folder alone, or list its files"
            )
        if not os.path.exists(path):
            named = shown_name(path) or "''"
            raise FileNotFoundError(f"cannot read {named}: there is no such file")
        if (real := os.path.realpath(path)) in files:
            other = files[real]
            also = "twice" if path == other else f"twice, also as {other}"
            raise ValueError(f"the list names {path} {also}; list each file once")
        files[real] = path
    paths = list(files.values())
    # Arrow takes files of one folder as absolute or as relative paths, not as both.
    if any(map(os.path.isabs, paths)):
        return [os.path.abspath(path) for path in paths]
    return paths


def file_kind(path: str) -> str:
    """The kind of a file by its name: "parquet", "csv" or "other".

    Workbooks and files that declare their columns are CSV, as their cells are read as
    texts.
    """
    suffix = inner_suffix(path)
    if suffix in PARQUET:
        return "parquet"
    as_text = (".csv", ".tsv", ".txt", *WORKBOOKS, *DECLARED)
    return "csv" if suffix in as_text else "other"


def _files(
    paths: list[str], called: str, csv: Callable[..., CsvFiles], as_texts: bool
) -> ArrowSource:
    """Files of one kind as one table."""
    kinds = {file_kind(path) for path in paths}
    identity = [file_identity(path) for path in paths]
    if kinds == {"parquet"}:
        files = ParquetFiles.of(paths, called)
        source = replace(_dataset(files.dataset, identity), texts=files.texts)
        if not files.are_alike:
            # The dataset adds what folders tell, and casts columns.
            return source
        return replace(source, read=files.rows)
    if "parquet" in kinds:
        raise ValueError(
            f"{called} holds Parquet files and others; pass those of one kind"
        )
    table = csv(tuple(paths))
    if as_texts:
        texts = table.text_schema
        return ArrowSource(
            texts, lambda first: after(table.text_batches(), first), identity=identity
        )
    return ArrowSource(
        table.schema,
        lambda first: after(table.batches(), first),
        identity=identity,
        decisions=table.decisions,
        missing=table.missing,
    )


def _csv_files(
    paths: tuple[str, ...], read_texts: ReadTexts | None, plan: ReadingPlan | None
) -> CsvFiles:
    """Files of text, by default read as commands read them."""
    if read_texts is None:
        form = FileFormat()
        plan = form.plan(plan, is_csv=not declares_columns(paths[0]))
        read_texts = partial(present_cells, form=form.of_plan(plan))
    return CsvFiles(paths, read_texts, plan)


def file_identity(path: str, *, is_whole: bool = False) -> list[Any]:
    """A file's name, size, time of change and a checksum of its first and last bytes.

    A file that replaces another may be as old or as long as that one; where also its
    ends may be the same, `is_whole` takes the checksum of all bytes.
    """
    try:
        state = os.stat(path)
        # What is read from a pipe is gone.
        n_read = state.st_size if is_whole else _END_BYTES
        ends = (
            _ends_of(path, state.st_size, n_read) if stat.S_ISREG(state.st_mode) else ""
        )
    except OSError as error:
        raise type(error)(f"cannot read {path}: {error.strerror}") from error
    return [os.path.abspath(path), state.st_size, state.st_mtime_ns, ends]


def _ends_of(path: str, size: int, n_bytes: int) -> str:
    """A checksum of the first and last bytes of a file, or of all if it is shorter."""
    with open(path, "rb") as file:
        if n_bytes >= size:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
        digest = hashlib.sha256(file.read(n_bytes))
        file.seek(max(0, size - n_bytes))
        digest.update(file.read(n_bytes))
    return digest.hexdigest()[:16]


def _dataset(dataset: Any, identity: list[Any] | None = None) -> ArrowSource:
    """A dataset, of which row groups that are not wanted are not read."""
    try:
        n_rows = dataset.count_rows()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        n_rows = None

    def read(first: int) -> Iterator[pa.RecordBatch]:
        rest, skipped = dataset, 0
        if first and isinstance(dataset, pa_dataset.FileSystemDataset):
            rest, skipped = _without(dataset, first)
        # Reading further ahead takes hundreds of megabytes, and no less time.
        batches = rest.to_batches(
            batch_size=BATCH_ROWS,
            batch_readahead=2,
            fragment_readahead=1,
            memory_pool=pa.system_memory_pool(),
        )
        return after(batches, first - skipped)

    return ArrowSource(dataset.schema, read, n_rows, identity)


def _without(dataset: Any, first: int) -> tuple[Any, int]:
    """A dataset without the leading row groups that lie before a row; their rows."""
    kept: list[Any] = []
    skipped = 0
    for fragment in dataset.get_fragments():
        for piece in getattr(fragment, "split_by_row_group", lambda f=fragment: [f])():
            n_rows = piece.count_rows() if not kept else 0
            if not kept and skipped + n_rows <= first:
                skipped += n_rows
            else:
                kept.append(piece)
    rest = pa_dataset.FileSystemDataset(
        kept, dataset.schema, dataset.format, dataset.filesystem
    )
    return rest, skipped
