"""Reading a file whose size nobody promised."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_PIECE = 1 << 20


def read_at_most(stream: IO[bytes], n_bytes: int) -> bytes:
    """Everything up to a number of bytes, with memory for what there is alone.

    A stream that is asked for many bytes at once sets as many aside.
    """
    pieces, left = [], n_bytes
    while left > 0 and (piece := stream.read(min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for reading; OSError with a sentence if that is not possible."""
    # Opening a folder tells of its rights on some systems.
    if Path(path).is_dir():
        raise IsADirectoryError(f"cannot read {path}: it is a folder")
    try:
        file = Path(path).open("rb")  # noqa: SIM115 - closed below
    except FileNotFoundError as error:
        raise FileNotFoundError(f"cannot read {path}: there is no such file") from error
    except PermissionError as error:
        raise PermissionError(f"cannot read {path}: permission denied") from error
    with file:
        yield file
