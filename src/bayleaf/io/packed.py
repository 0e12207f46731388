"""Files that are packed with gzip or bzip2, whatever format stands inside."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Literal

from bayleaf.io.atomic import replacing
from bayleaf.io.bounded import opened
from bayleaf.io.errors import ModelFileError


def _gzip(file: IO[bytes], mode: Literal["rb", "wb"]) -> Any:
    """A stream out of or into an open file, without the time or a name."""
    return gzip.GzipFile("", mode, fileobj=file, mtime=0)


# What packs and unpacks: an open file and a mode give a stream.
PACKINGS: dict[str, Callable[..., Any]] = {".gz": _gzip, ".bz2": bz2.BZ2File}
# What a damaged file raises.
_DAMAGED = (EOFError, OSError, zlib.error)
# Tables of a network take a tenth of their room when packed, those of zeros a
# hundredth; a small file that unpacks to more is not one.
_MOST_TIMES = 200
_ALWAYS_ALLOWED = 1 << 24
_PIECE = 1 << 20


def inner_name(path: str | Path) -> Path:
    """The path without the suffix of a packing: its suffix names the format."""
    whole = Path(path)
    return whole.with_suffix("") if _packing(whole) else whole


@contextlib.contextmanager
def unpacked(path: str | Path, max_bytes: int, *, at_any_rate: bool) -> Iterator[Path]:
    """Give a path whose content is not packed: the file itself, or a temporary one.

    ModelFileError if the file is damaged, or unpacks to more than `max_bytes` or,
    unless `at_any_rate`, to more than 200 times its size and 16 MiB.
    """
    packing = _packing(Path(path))
    if packing is None:
        yield Path(path)
        return
    with opened(path) as file, tempfile.TemporaryDirectory(prefix="bayleaf-") as folder:
        limit = max_bytes
        if not at_any_rate:
            size = Path(path).stat().st_size
            limit = min(limit, max(_ALWAYS_ALLOWED, _MOST_TIMES * size))
        # Errors name the file, so the temporary one has its name.
        target = Path(folder) / Path(path).name
        try:
            fits = _copied(PACKINGS[packing](file, "rb"), target, limit)
        except _DAMAGED as error:
            raise ModelFileError(
                f"{target.name}: the file cannot be unpacked ({error}); get it whole"
            ) from None
        if not fits:
            raise ModelFileError(
                f"{target.name}: the file unpacks to more than {limit:,} bytes; if you "
                "trust it, unpack it first or raise max_bytes"
            )
        yield target


@contextlib.contextmanager
def packing_into(path: str | Path) -> Iterator[Path]:
    """Give a path to write to; what is written goes to the file, packed if need be.

    The same content gives the same bytes: no time and no name are kept.
    """
    packing = _packing(Path(path))
    if packing is None:
        yield Path(path)
        return
    with (
        replacing(path) as temporary,
        tempfile.TemporaryDirectory(prefix="bayleaf-") as folder,
    ):
        plain = Path(folder) / Path(path).name
        yield plain
        with (
            plain.open("rb") as content,
            temporary.open("wb") as out,
            PACKINGS[packing](out, "wb") as packed,
        ):
            shutil.copyfileobj(content, packed)


def _packing(path: Path) -> str | None:
    """The suffix of the packing, in lower case."""
    suffix = path.suffix.lower()
    return suffix if suffix in PACKINGS else None


def _copied(content: IO[bytes], target: Path, limit: int) -> bool:
    """Copy a stream into a file; whether it fits within a limit."""
    left = limit
    with content, target.open("wb") as out:
        while piece := content.read(_PIECE):
            left -= len(piece)
            if left < 0:
                return False
            out.write(piece)
    return True
