"""Standard streams that show names from tables and files, and obey none of them."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

# Joiners of letters, as Persian and emoji need them.
_JOINERS = frozenset("\u200c\u200d")


def seen(text: str) -> str:
    r"""Text with escapes for what moves the cursor, rings, or turns the direction.

    Line ends and tabs stay.

    Examples
    --------
    >>> print(seen("a" + chr(27) + "[31mb"))
    a\x1b[31mb
    """
    if text.isprintable():
        return text
    return "".join(c if _is_safe(c) else ascii(c)[1:-1] for c in text)


def _is_safe(character: str) -> bool:
    """Whether a terminal only shows a character."""
    return (
        character.isprintable()
        or character in "\n\t"
        or character in _JOINERS
        or unicodedata.category(character) == "Zs"
    )


class SafeStream(io.TextIOBase):
    """A text stream that writes to another one what can be `seen`.

    Parameters
    ----------
    raw : text stream or None
        The other one; None where the program was started without it.
    """

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        """Write text with escapes; the number of its characters."""
        if self.raw is not None:
            self.raw.write(seen(text))
        return len(text)

    def writable(self) -> bool:
        """That one may write."""
        return True

    def flush(self) -> None:
        """Flush the other stream."""
        if self.raw is not None:
            self.raw.flush()

    def fileno(self) -> int:
        """The other stream's number."""
        if self.raw is None:
            raise OSError("the stream is closed")
        return int(self.raw.fileno())

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The other stream's encoding."""
        return str(getattr(self.raw, "encoding", None) or "utf-8")


class TerminalBytes(io.RawIOBase):
    """Takes bytes of UTF-8 text for a stream of text, such as a terminal."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def writable(self) -> bool:
        """That one may write."""
        return True

    def write(self, content: Any) -> int:
        """Write a piece of text; the number of its bytes."""
        content = bytes(content)
        self.stream.write(content.decode("utf-8", "replace").replace("\r\n", "\n"))
        return len(content)


def binary_output() -> Any:
    """Where tables for standard output go: as they are, or safe for a terminal.

    Raises
    ------
    OSError
        If the program has no standard output.
    """
    raw = raw_stream(sys.stdout)
    if raw is None:
        raise OSError("standard output is closed; name a file with --output")
    if raw.isatty() or not hasattr(raw, "buffer"):
        return TerminalBytes(sys.stdout)
    return raw.buffer


def raw_stream(stream: Any) -> Any:
    """The stream behind a safe one, for what may move the cursor."""
    return stream.raw if isinstance(stream, SafeStream) else stream


@contextlib.contextmanager
def safe_streams() -> Iterator[None]:
    """Let everything that is printed meanwhile be safe for a terminal."""
    former = sys.stdout, sys.stderr
    for stream in former:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            # No letter of a name is a reason to fail.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.stdout, sys.stderr = (SafeStream(raw_stream(s)) for s in former)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = former


def flush_output() -> None:
    """Write what waits for standard output.

    Raises
    ------
    OSError
        If it cannot be written; nothing waits any more.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        forget_output()
        raise


def forget_output() -> None:
    """Let what waits for standard output go nowhere, so that no exit complains."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, raw_stream(sys.stdout).fileno())
        os.close(nowhere)
