"""Our own JSON documents: parsed with care, written whole, as archives when large."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from bayleaf.cpds.random_network import RandomNetwork
from bayleaf.data.domain import Domain, Variable
from bayleaf.io.atomic import replacing
from bayleaf.io.bounded import opened, read_at_most
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native import archive
from bayleaf.io.native.archive import Array, ArrayReader
from bayleaf.io.native.codec import REFUSALS, Decoder, encoded, networks_in
from bayleaf.wording import visible_json

SCHEMA_VERSION = 5
MAX_BYTES = archive.MAX_BYTES
Content = TypeVar("Content")


def write_document(kind: str, content: Any, path: str | Path) -> None:
    """Write a document; an older file is replaced only when all is read back.

    `kind` is its field "format"; `content`, a dataclass, gives the others and becomes
    an archive if it has many numbers. TypeError if a part has no place in a file,
    ModelFileError if a reader would refuse or change it, ValueError if a number is not
    finite.
    """
    text, arrays = _as_text(kind, content)
    written = _as_bytes(text, arrays)
    with replacing(path) as temporary:
        temporary.write_bytes(written)
        if temporary.is_file():
            written = temporary.read_bytes()
        _check_same(_read_back(kind, content, written), (text, arrays))


def document_bytes(kind: str, content: Any) -> bytes:
    """The bytes that `write_document` writes, for sending.

    TypeError or ModelFileError if a part has no place in a file.
    """
    return _as_bytes(*_as_text(kind, content))


def read_document(
    path: str | Path, max_bytes: int, kinds: Mapping[str, type[Content]]
) -> Content:
    """Read the content of a document; `kinds` maps each format to its dataclass.

    ModelFileError explains in one sentence what is wrong, such as more than
    `max_bytes`.
    """
    name = Path(path).name
    with opened(path) as stream:
        # Pipes and devices have no size.
        written = read_at_most(stream, max_bytes + 1)
    return content_of_bytes(written, name, max_bytes, kinds, f"model file {name}")


def content_of_bytes(
    written: bytes,
    name: str,
    max_bytes: int,
    kinds: Mapping[str, type[Content]],
    what: str | None = None,
) -> Content:
    """The content of such bytes; messages call them `name`, or `what` with their kind.

    Errors as in `read_document`.
    """
    if len(written) > max_bytes:
        raise ModelFileError(
            f"{what or name} has more bytes than the limit of {max_bytes}; raise "
            "max_bytes if you trust it"
        )
    try:
        values = _values_in(written, name, max_bytes, tuple(kinds))
    except ModelFileError:
        raise
    except REFUSALS as error:
        raise ModelFileError(f"{what or name} is damaged: {error}") from error
    try:
        return _content_of(*values, kinds)
    except (ModelFileError, *REFUSALS) as error:
        raise ModelFileError(f"{what or name} is damaged: {error}") from error


def _as_bytes(text: str, arrays: list[Array]) -> bytes:
    """A document as it stands in a file: text, or an archive if arrays are large."""
    if sum(array.size for array in arrays) > archive.MAX_INLINE:
        return archive.archive_of(text, arrays)
    return text.encode("utf-8")


def _as_text(kind: str, content: Any) -> tuple[str, list[Array]]:
    """A document as JSON text, and its arrays, which stand in the text if few."""
    arrays: list[Array] = []
    document = {
        "format": kind,
        "schema_version": SCHEMA_VERSION,
        **encoded(content, arrays),
    }
    large = sum(array.size for array in arrays) > archive.MAX_INLINE
    stand_in = archive.stand_ins(archived=large)
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, default=stand_in)
    return f"{visible_json(text)}\n", arrays


def _read_back(kind: str, content: Any, written: bytes) -> tuple[str, list[Array]]:
    """What a reader would write of what it makes of the document of some content."""
    values = _values_in(written, "the file", MAX_BYTES, (kind,))
    try:
        kinds, held = {kind: type(content)}, networks_in(content)
        return _as_text(kind, _content_of(*values, kinds, held))
    except REFUSALS as error:
        raise ModelFileError(
            f"the file was not written, since no reader would take it: {error}"
        ) from error


def _check_same(
    found: tuple[str, list[Array]], wanted: tuple[str, list[Array]]
) -> None:
    """Raise ModelFileError unless texts are equal, and arrays bit for bit."""
    same = found[0] == wanted[0] and all(
        one.dtype == other.dtype
        and one.shape == other.shape
        and one.tobytes() == other.tobytes()
        for one, other in zip(found[1], wanted[1], strict=True)
    )
    if not same:
        pairs = enumerate(zip(found[0], wanted[0], strict=False))
        place = next((i for i, (one, other) in pairs if one != other), 0)
        raise ModelFileError(
            "the file was not written, since a reader would make another model of it; "
            f"they differ near {wanted[0][max(0, place - 40) : place + 20]!r}"
        )


def _content_of(
    document: dict[str, Any],
    arrays: ArrayReader,
    kinds: Mapping[str, type[Content]],
    held: tuple[RandomNetwork, ...] = (),
) -> Content:
    """The dataclass that a document stands for; `held` as in `Decoder`."""
    decoder = Decoder(arrays, held=held)
    variables = decoder.field(document, "domain", tuple[Variable, ...], "")
    decoder = replace(decoder, domain=Domain(variables))
    content: Content = decoder.decoded(kinds[document["format"]], document, "")
    return content


def _values_in(
    content: bytes, name: str, max_bytes: int, kinds: tuple[str, ...]
) -> tuple[dict[str, Any], ArrayReader]:
    """The fields and arrays of a document in the content of a file of some name."""
    arrays = ArrayReader()
    if content.startswith(b"PK\x03\x04"):
        whole = archive.opened(content, name, max_bytes)
        content, arrays = archive.document_in(whole, name), ArrayReader(whole)
    archive.check_text(content, name, max_bytes)
    document = _parsed(content, name)
    found = document.get("format") if isinstance(document, dict) else None
    if not isinstance(found, str) or found not in kinds:
        lacks = f'it lacks "format": "{kinds[0]}"'
        if isinstance(found, str) and len(found) < 80:
            lacks += f", and has {found!r}"
        raise ModelFileError(f"{name} is no bayleaf model file: {lacks}")
    version = document.get("schema_version")
    if type(version) is int and 0 < version < SCHEMA_VERSION:
        raise ModelFileError(
            f"{name} was written by an earlier version of bayleaf (schema {version}); "
            "fit the model again and save it"
        )
    if type(version) is not int or version != SCHEMA_VERSION:
        raise ModelFileError(
            f"model file {name} has schema version {version!r}, but this bayleaf "
            f"reads version {SCHEMA_VERSION}; use the bayleaf that wrote it"
        )
    return document, arrays


def _parsed(content: bytes, name: str) -> Any:
    """The JSON value in the content of a file."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"{name} is no bayleaf model file: it is not JSON text"
        ) from error
    try:
        return json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys
        )
    except RecursionError as error:
        raise ModelFileError(
            f"{name} is no bayleaf model file: its values are nested too deeply"
        ) from error
    except ModelFileError as error:
        raise ModelFileError(f"model file {name} is damaged: {error}") from error
    except ValueError as error:
        raise ModelFileError(
            f"{name} is no bayleaf model file, or was cut short: {error}"
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
