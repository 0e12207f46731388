"""Standard streams that show what they are given, whatever characters it holds."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

from bayleaf.wording import visible_lines

# Exit codes: input that cannot be used, of which one sentence on standard error gives
# the reason, and Ctrl-C; 0 is success and 1 a failure of the program itself.
BAD_INPUT, INTERRUPTED = 2, 130
# Standard input, output and error are files 0, 1 and 2.
_LAST_STANDARD_FILE = 2


class ShownText(io.TextIOBase):
    """A text stream that writes escapes for what a terminal would obey.

    `stream` is None where the program was started without it; `name` is for messages.
    With `styled`, the text passes as it is: it has been made visible, then styled.
    """

    def __init__(
        self, stream: TextIO | None, name: str, *, styled: bool = False
    ) -> None:
        self._stream = stream
        self._name = name
        self._styled = styled

    def with_styles(self) -> ShownText:
        """The same stream for text that holds colours beside visible characters."""
        return ShownText(self._stream, self._name, styled=True)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream below."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    @property
    def buffer(self) -> io.BufferedIOBase:
        """The bytes below, for tables that are read by programs."""
        with self._named():
            return self._present().buffer  # type: ignore[return-value]

    def write(self, text: str) -> int:
        """Write text, an escape in place of each character that cannot be seen."""
        shown = text if self._styled else visible_lines(text)
        try:
            shown.encode(self.encoding)
        except UnicodeEncodeError:
            escaped = shown.encode(self.encoding, "backslashreplace")
            shown = escaped.decode(self.encoding)
        with self._named():
            self._present().write(shown)
        return len(text)

    def flush(self) -> None:
        """Write out what is kept."""
        if self._stream is not None:
            with self._named():
                self._stream.flush()

    def isatty(self) -> bool:
        """Whether a person looks at the stream."""
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        """The number of the file below."""
        return self._present().fileno()

    def drop(self) -> None:
        """Send what cannot be written nowhere, so that nothing tries again."""
        if self._stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()

    def _present(self) -> TextIO:
        """The stream below; an error where there is none."""
        if self._stream is None:
            raise OSError(errno.EBADF, "it is closed")
        return self._stream

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Name the stream in an error; that its reader has gone is no error."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OSError(f"cannot write to {self._name}: {error.strerror}") from error


class ShownMessages(ShownText):
    """Standard error: where a message cannot be written, the exit code must do."""

    def with_styles(self) -> ShownText:
        """The same stream for text that holds colours beside visible characters."""
        return ShownMessages(self._stream, self._name, styled=True)

    def write(self, text: str) -> int:
        """Write text; if that fails, nothing more is written."""
        try:
            super().write(text)
        except OSError:
            self.drop()
        return len(text)

    def flush(self) -> None:
        """Write out what is kept."""
        try:
            super().flush()
        except OSError:
            self.drop()


def run_shown(command: Callable[[], int], *, is_program: bool) -> int:
    """Run a command whose standard streams show what they are given.

    Returns the exit code, also if the output could not be written. With `is_program`,
    the process ends with the command, so its streams stay replaced and no other part of
    Python writes past them.
    """
    if is_program:
        _fill_closed_files()
    former = sys.stdout, sys.stderr
    out = ShownText(former[0], "standard output")
    sys.stdout, sys.stderr = out, ShownMessages(former[1], "standard error")
    try:
        return _finished(command, out)
    finally:
        sys.stderr.flush()
        if not is_program:
            sys.stdout, sys.stderr = former


def _finished(command: Callable[[], int], out: ShownText) -> int:
    """The exit code of a command, once all that it printed is written."""
    code = 0
    try:
        code = command()
        out.flush()
    except BrokenPipeError:
        # The reader of our output has gone and needs no more.
        out.drop()
    except OSError as error:
        out.drop()
        print(f"bayleaf: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("bayleaf: interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


def _fill_closed_files() -> None:
    """Give closed standard streams a file, lest the next one opened becomes one."""
    number = os.open(os.devnull, os.O_RDWR)
    while number <= _LAST_STANDARD_FILE:
        number = os.open(os.devnull, os.O_RDWR)
    os.close(number)
