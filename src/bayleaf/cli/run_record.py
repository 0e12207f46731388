"""Options of every command: which messages are shown, and a log of runs."""

from __future__ import annotations

import contextlib
import datetime
import glob
import io
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import bayleaf
from bayleaf.cli.display import INTERRUPTED
from bayleaf.wording import shown_name, visible_lines

HELP = (
    "Every command takes `--quiet` (no messages but errors), `--verbose` (also plan, "
    "format, rows and times) and `--log FILE` (append a line of JSON on the run)."
)
_LOGGER = logging.getLogger("bayleaf")


@dataclass
class RunOptions:
    """Messages and log of a command line."""

    words: list[str] = field(default_factory=list)  # without these options
    quiet: bool = False
    verbose: bool = False
    log: str | None = None

    @classmethod
    def of_words(cls, words: Sequence[str]) -> RunOptions:
        """The options among the words of a command line; ValueError if two clash."""
        result, left = cls(), iter(words)
        for word in left:
            option, joined, value = word.partition("=")
            if word == "--":
                result.words += [word, *left]
            elif word in ("--quiet", "--verbose"):
                setattr(result, word[2:], True)
            elif option == "--log":
                result.log = value if joined else next(left, "")
                if not result.log:
                    raise ValueError("--log must name a file for a line on the run")
            else:
                result.words.append(word)
        if result.quiet and result.verbose:
            raise ValueError("use either --quiet or --verbose")
        return result


def run_recorded(options: RunOptions, command: Callable[[], int]) -> int:
    """Run a command with its messages as the options ask, and log it if they do."""
    files: list[Path] = []
    recorded: AbstractContextManager[None] = contextlib.nullcontext()
    if options.log is not None:
        # Help needs no large library.
        from bayleaf.io.atomic import check_writable, written_files

        check_writable(options.log)
        recorded = written_files(files)
    shown = _Messages(sys.stderr, is_quiet=options.quiet)
    inputs = {} if options.log is None else _inputs(options.words)
    start, now = time.perf_counter(), datetime.datetime.now(datetime.UTC)
    code = 1
    try:
        with _as_messages(shown), _verbose(options), recorded:
            code = command()
        return code
    except KeyboardInterrupt:
        code = INTERRUPTED
        raise
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
        raise
    finally:
        seconds = time.perf_counter() - start
        if options.verbose:
            print(f"bayleaf: {seconds:.3f} s", file=sys.stderr)
        if options.log is not None:
            results = [os.path.abspath(path) for path in files]
            entry = {
                "command": next((w for w in options.words if w[:1] != "-"), ""),
                "arguments": options.words,
                "version": bayleaf.__version__,
                "time": now.isoformat(timespec="milliseconds"),
                "seconds": round(seconds, 3),
                "exit_code": code,
                "inputs": [i for p, i in inputs.items() if p not in results],
                "notes": shown.lines,
                "results": [_size(path) for path in dict.fromkeys(results)],
            }
            _append(options.log, json.dumps(entry, ensure_ascii=False))


class _Messages(io.TextIOBase):
    """Standard error that keeps its lines, and shows them unless it is quiet."""

    def __init__(self, stream: TextIO, *, is_quiet: bool) -> None:
        self._stream, self._is_quiet, self._text = stream, is_quiet, ""

    @property
    def lines(self) -> list[str]:
        """What was printed, by line."""
        return [line for line in self._text.splitlines() if line.strip()]

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream below."""
        return self._stream.encoding

    def with_styles(self) -> Any:
        """The stream of progress, which is not kept."""
        if self._is_quiet:
            return io.StringIO()
        below = getattr(self._stream, "with_styles", None)
        return self._stream if below is None else below()

    def write(self, text: str) -> int:
        """Keep a text and show it."""
        self._text += visible_lines(text)
        return len(text) if self._is_quiet else self._stream.write(text)

    def error(self, text: str) -> None:
        """Keep a text and show it, whatever the options are."""
        self._text += text
        self._stream.write(text)

    def flush(self) -> None:
        """Write out what is kept below."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Whether a person sees the messages."""
        return not self._is_quiet and self._stream.isatty()

    def fileno(self) -> int:
        """The number of the file below."""
        return self._stream.fileno()


def print_error(sentence: str) -> None:
    """Print a sentence on standard error, also where messages are not shown."""
    stream = sys.stderr
    if isinstance(stream, _Messages):
        stream.error(f"{sentence}\n")
    else:
        print(sentence, file=stream)


@contextlib.contextmanager
def _as_messages(stream: _Messages) -> Iterator[None]:
    """Let a stream stand for standard error in a block."""
    former = sys.stderr
    sys.stderr = stream
    try:
        yield
    finally:
        sys.stderr = former


class _Once(logging.Handler):
    """Prints each message of a logger once."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message that was not printed yet."""
        text = record.getMessage()
        if text not in self._seen:
            self._seen.add(text)
            print(f"bayleaf: {text}", file=sys.stderr)


@contextlib.contextmanager
def _verbose(options: RunOptions) -> Iterator[None]:
    """Print what is logged in a block if it is asked for."""
    if not options.verbose:
        yield
        return
    handler, former = _Once(), _LOGGER.level
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(logging.INFO)
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(former)


def is_verbose() -> bool:
    """Whether the command that runs was called with --verbose."""
    return _LOGGER.isEnabledFor(logging.INFO)


def _inputs(words: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Files and folders that a command line names, with their sizes, by path."""
    result: dict[str, dict[str, Any]] = {}
    for word in words[1:]:
        option, _, value = word.partition("=")
        name = value if option.startswith("--") else word
        if name == "-":
            result["-"] = {"path": "-", "bytes": None}
        elif name and (os.path.exists(name) or glob.glob(name)):
            path = os.path.abspath(name)
            result[path] = _size(path)
    return result


def _size(path: str) -> dict[str, Any]:
    """A file, folder or glob with its bytes."""
    folder = Path(path)
    files = glob.glob(path) if not folder.exists() else [path]
    if folder.is_dir():
        files = [str(p) for p in folder.rglob("*")]
    sizes = [os.path.getsize(file) for file in files if os.path.isfile(file)]
    several = {} if folder.is_file() else {"n_files": len(sizes)}
    return {"path": path, "bytes": sum(sizes), **several}


def _append(log: str, line: str) -> None:
    """Append a line to a file, whole also where several programs do; OSError if not."""
    try:
        number = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(number, f"{line}\n".encode("utf-8", "backslashreplace"))
        finally:
            os.close(number)
    except OSError as error:
        raise OSError(
            f"cannot write the log {shown_name(log)}: {error.strerror}"
        ) from error
