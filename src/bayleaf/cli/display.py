"""Text, JSON, pictures and progress of commands, and the streams that show them."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import json
import numbers
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from bayleaf.wording import visible, visible_json, visible_lines

if TYPE_CHECKING:
    from bayleaf.progress import Work

# Exit codes: input that cannot be used, of which one sentence on standard error gives
# the reason, and Ctrl-C; 0 is success and 1 a failure of the program itself.
BAD_INPUT, INTERRUPTED = 2, 130
# Integers of so many values are quantities rather than classes.
MANY_CLASSES = 20
# Standard input, output and error are files 0, 1 and 2.
_LAST_STANDARD_FILE = 2
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


@contextlib.contextmanager
def progress(what: str = "") -> Iterator[Work]:
    """Show the work of a block, named `what`, and yield the object that reports it."""
    from bayleaf.cli.console import ShownConsole
    from bayleaf.progress import Work, displayed

    with displayed(console=partial(ShownConsole, stderr=True)), Work() as work:
        if what:
            work.say(what)
        yield work


def show(result: Any, *, as_json: bool) -> None:
    """Print the dict of a result as JSON, or its text, styled on a terminal."""
    from bayleaf.results.result import Result

    if as_json:
        print_json(result.to_dict())
    elif sys.stdout.isatty() and type(result).to_text is Result.to_text:
        from bayleaf.cli.console import ShownConsole
        from bayleaf.results.text import print_document

        print_document(result.document(), ShownConsole())
    else:
        print(result.to_text(text_width()))


def text_width() -> int:
    """Characters per line: those of the terminal, or 80 where there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 80


def print_verdict(text: str) -> None:
    """Print the sentence that a result comes to, as a terminal shows titles."""
    from bayleaf.cli.console import ShownConsole
    from bayleaf.results.document import Document
    from bayleaf.results.text import print_document

    print_document(Document(text), ShownConsole())


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=_plain)
    print_json_text(visible_json(text))


def print_json_text(text: str) -> None:
    """Print JSON; in ASCII to an output that is not UTF-8, which JSON has to be."""
    if not _is_utf8():
        text = _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
    print(text)


def print_file(text: str) -> None:
    """Print what would be a file's content; in UTF-8 unless to a terminal."""
    if sys.stdout.isatty() or _is_utf8():
        print(text)
    else:
        sys.stdout.buffer.write(f"{text}\n".encode())


def report_written(path: Path, note: str = "") -> None:
    """Name a file that was written, on standard error."""
    print(f"written to {visible(str(path))}{note}", file=sys.stderr)


def recommend_regressor(classes: Any, target: str | None) -> None:
    """Name the regressor, on standard error, for a target of many integers."""
    are_integers = all(isinstance(label, numbers.Integral) for label in classes)
    if are_integers and len(classes) >= MANY_CLASSES:
        print(
            f"the target {visible(str(target))} has {len(classes)} distinct integers, "
            "each of them a class here; --model regressor predicts numbers",
            file=sys.stderr,
        )


def draw(axes: Any, picture: Path) -> None:
    """Write the figure of some axes in the format that the file's suffix names."""
    from bayleaf.io.atomic import replacing

    with replacing(picture) as part:
        axes.figure.savefig(
            part, format=picture.suffix.lstrip(".") or "png", bbox_inches="tight"
        )
    print(f"drawn into {visible(str(picture))}", file=sys.stderr)


def _is_utf8() -> bool:
    """Whether standard output is in UTF-8; on Windows a pipe or file is not."""
    return codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"


def _plain(value: Any) -> Any:
    """A NumPy scalar as a plain value; anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)


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
        return type(self)(self._stream, self._name, styled=True)

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
