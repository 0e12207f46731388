"""Our own JSON documents: parsed with care, written whole, large arrays beside."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from bayleaf.io.atomic import replacing
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter, archive_path

SCHEMA_VERSION = 2
MAX_BYTES = 1 << 30


def write_document(
    kind: str,
    content: dict[str, Any],
    arrays: ArrayWriter,
    path: str | Path,
) -> None:
    """Write a document; an older file is replaced only when all is written.

    Parameters
    ----------
    kind : str
        What the document is: its field "format".
    content : dict
        Its other fields; what stands for arrays is replaced by their numbers unless
        they are so many that they go into a second file.
    arrays : ArrayWriter
        The arrays of `content`.
    path : str or Path
        Where to.

    Raises
    ------
    ValueError
        If a number is not finite.
    OSError
        If the file cannot be written.
    """
    archive = arrays.archive()
    document = {
        "format": kind,
        "schema_version": SCHEMA_VERSION,
        **(arrays.inlined(content) if archive is None else content),
        "arrays_sha256": None if archive is None else sha256(archive).hexdigest(),
    }
    text = json.dumps(document, allow_nan=False, ensure_ascii=False)
    with contextlib.ExitStack() as both:
        # Neither file takes its place before both are written.
        if archive is not None:
            beside = both.enter_context(replacing(archive_path(Path(path))))
            beside.write_bytes(archive)
        temporary = both.enter_context(replacing(path))
        temporary.write_text(f"{text}\n", encoding="utf-8")


def read_document(path: Path, max_bytes: int, kinds: tuple[str, ...]) -> Fields:
    """The fields of a document, once its size, format and version are right.

    Raises
    ------
    ModelFileError
        If the file holds no such document.
    OSError
        If the file cannot be read.
    """
    document = Fields(_parse(path, max_bytes), f"model file {path.name}")
    found = None
    if isinstance(document.values, dict):
        found = document.values.get("format")
    if found not in kinds:
        raise ModelFileError(
            f'{path.name} is no bayleaf model file: it lacks "format": "{kinds[0]}"'
            + (
                f", and has {found!r}"
                if isinstance(found, str) and len(found) < 80
                else ""
            )
        )
    version = document.values.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise ModelFileError(
            f"model file {path.name} has schema version {version!r}, but this bayleaf "
            f"reads version {SCHEMA_VERSION}; use the bayleaf that wrote it"
        )
    return document


@contextlib.contextmanager
def reading(
    path: str | Path, max_bytes: int, kinds: tuple[str, ...]
) -> Iterator[tuple[Fields, ArrayReader]]:
    """A document and its arrays, to be taken apart inside a ``with`` block.

    Raises
    ------
    ModelFileError
        If the file holds no such document, or the block raises anything that a
        damaged one may bring about: one sentence says what.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    document = read_document(path, max_bytes, kinds)
    try:
        yield document, ArrayReader.beside(path, document, max_bytes)
    except ModelFileError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"model file {path.name} is damaged: {error}") from error


def _parse(path: Path, max_bytes: int) -> Any:
    """The JSON value in a file, once its size is known to be sane."""
    if path.is_dir():
        raise IsADirectoryError(f"cannot read {path}: it is a folder")
    try:
        with path.open("rb") as stream:
            # A pipe or device does not tell its size.
            content = stream.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise ModelFileError(
                f"model file {path.name} has more bytes than the limit of {max_bytes}; "
                "raise max_bytes if you trust it"
            )
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"{path.name} is no bayleaf model file: it is not JSON text"
        ) from error
    except FileNotFoundError as error:
        raise FileNotFoundError(f"cannot read {path}: there is no such file") from error
    except PermissionError as error:
        raise PermissionError(f"cannot read {path}: permission denied") from error
    try:
        return json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys
        )
    except RecursionError as error:
        raise ModelFileError(
            f"{path.name} is no bayleaf model file: its values are nested too deeply"
        ) from error
    except ModelFileError as error:
        raise ModelFileError(f"model file {path.name} is damaged: {error}") from error
    except ValueError as error:
        raise ModelFileError(
            f"{path.name} is no bayleaf model file, or was cut short: {error}"
        ) from error


def _refuse_constant(name: str) -> Any:
    """Refuse NaN and infinity, which JSON itself does not know."""
    raise ModelFileError(f"it holds {name} where a number belongs")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, unless a key stands in it twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ModelFileError("a key stands twice in one object")
    return values
