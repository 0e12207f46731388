"""Our own JSON documents: parsed with care, written whole, as archives when large."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from bayleaf.data.domain import Domain, Variable
from bayleaf.io.atomic import replacing
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native import archive
from bayleaf.io.native.archive import Array, ArrayReader
from bayleaf.io.native.codec import REFUSALS, Decoder, encoded
from bayleaf.io.native.version_2 import arrays_beside, upgraded
from bayleaf.wording import visible_json

SCHEMA_VERSION = 3
MAX_BYTES = 1 << 30
Content = TypeVar("Content")


def write_document(kind: str, content: Any, path: str | Path) -> None:
    """Write a document; an older file is replaced only when all is written.

    Parameters
    ----------
    kind : str
        What the document is: its field "format".
    content : dataclass
        Its other fields; one with many numbers becomes an archive.
    path : str or Path
        Where to.

    Raises
    ------
    TypeError
        If something in it has no place in a file.
    ModelFileError
        If no reader would take it.
    ValueError
        If a number is not finite.
    OSError
        If the file cannot be written.
    """
    arrays: list[Array] = []
    document = {
        "format": kind,
        "schema_version": SCHEMA_VERSION,
        **encoded(content, arrays),
    }
    large = sum(array.size for array in arrays) > archive.MAX_INLINE
    stand_in = archive.stand_ins(archived=large)
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, default=stand_in)
    text = visible_json(text)
    text += "\n"
    with replacing(path) as temporary:
        if large:
            temporary.write_bytes(archive.archive_of(text, arrays))
        else:
            temporary.write_text(text, encoding="utf-8")


def read_document(
    path: str | Path, max_bytes: int, kinds: Mapping[str, type[Content]]
) -> Content:
    """What a document holds.

    Parameters
    ----------
    path : str or Path
        The file.
    max_bytes : int
        Larger files are refused.
    kinds : mapping
        The dataclass to read from a document of each format that may come.

    Raises
    ------
    ModelFileError
        If the file holds no such document: one sentence says what is wrong.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    document, arrays = read_values(path, max_bytes, tuple(kinds))
    try:
        if document["schema_version"] == 2:
            arrays = arrays_beside(path, document, max_bytes)
            document = upgraded(document, arrays)
        decoder = Decoder(arrays)
        variables = decoder.field(document, "domain", tuple[Variable, ...], "")
        decoder = replace(decoder, domain=Domain(variables))
        content: Content = decoder.decoded(kinds[document["format"]], document, "")
    except ModelFileError:
        raise
    except REFUSALS as error:
        raise ModelFileError(f"model file {path.name} is damaged: {error}") from error
    return content


def read_values(
    path: Path, max_bytes: int, kinds: tuple[str, ...]
) -> tuple[dict[str, Any], ArrayReader]:
    """The fields of a document and its arrays, once format and version are right.

    Raises
    ------
    ModelFileError
        If the file holds no such document.
    OSError
        If the file cannot be read.
    """
    content, arrays = _content(path, max_bytes), ArrayReader()
    if content.startswith(b"PK\x03\x04"):
        whole = archive.opened(content, path.name, max_bytes)
        content, arrays = archive.document_in(whole, path.name), ArrayReader(whole)
    document = _parsed(content, path)
    found = document.get("format") if isinstance(document, dict) else None
    if not isinstance(found, str) or found not in kinds:
        lacks = f'it lacks "format": "{kinds[0]}"'
        if isinstance(found, str) and len(found) < 80:
            lacks += f", and has {found!r}"
        raise ModelFileError(f"{path.name} is no bayleaf model file: {lacks}")
    version = document.get("schema_version")
    if type(version) is not int or version not in (2, SCHEMA_VERSION):
        raise ModelFileError(
            f"model file {path.name} has schema version {version!r}, but this bayleaf "
            f"reads versions 2 and {SCHEMA_VERSION}; use the bayleaf that wrote it"
        )
    return document, arrays


def _content(path: Path, max_bytes: int) -> bytes:
    """What is in a file, once its size is known to be sane."""
    if path.is_dir():
        raise IsADirectoryError(f"cannot read {path}: it is a folder")
    try:
        with path.open("rb") as stream:
            # A pipe or device does not tell its size.
            content = stream.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"cannot read {path}: there is no such file") from error
    except PermissionError as error:
        raise PermissionError(f"cannot read {path}: permission denied") from error
    if len(content) > max_bytes:
        raise ModelFileError(
            f"model file {path.name} has more bytes than the limit of {max_bytes}; "
            "raise max_bytes if you trust it"
        )
    return content


def _parsed(content: bytes, path: Path) -> Any:
    """The JSON value in the content of a file."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"{path.name} is no bayleaf model file: it is not JSON text"
        ) from error
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
