"""Reading a file whose size nobody promised."""

from __future__ import annotations

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
