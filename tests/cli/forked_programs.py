"""Start the command line as a program: in a fork of the tests, or as a new process.

A fork has streams, signals and an exit code of its own, as a new process has, but all
libraries are imported already, which takes most of the time of a short command.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from bayleaf.cli import main
from systems import need

# An open file for standard input (0), output (1) and error (2); None closes the stream.
Streams = Mapping[int, int | None]
# Exit code of Python where standard output cannot be flushed at the end.
NOT_FLUSHED = 120
# A fork that waits for ever must not stop the tests.
LONGEST_SECONDS = 120


def start_fork(words: Sequence[str], streams: Streams) -> int:
    """Run the command line in a fork and return its process number."""
    return _start(streams, lambda: _run_main(words))


def start_process(words: Sequence[str], streams: Streams) -> int:
    """Run the command line in a new interpreter and return its process number."""
    program = [sys.executable, "-m", "bayleaf", *words]
    return _start(streams, lambda: os.execv(sys.executable, program))


def exit_code(process: int) -> int:
    """Wait for a process; minus the signal that ended it, if one did."""
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


def _start(streams: Streams, program: Callable[[], object]) -> int:
    """Call a function in a fork with other standard streams."""
    need("fork")
    with warnings.catch_warnings():
        # Newer versions of Python warn if there are other threads; these are idle.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return child
    try:
        for number, file in streams.items():
            if file is None:
                os.close(number)
            else:
                os.dup2(file, number)
        program()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _run_main(words: Sequence[str]) -> None:
    """Do what ``python -m bayleaf`` does, and end the process."""
    signal.alarm(LONGEST_SECONDS)
    sys.stdin, sys.stdout, sys.stderr = (
        _opened(0, "r"),
        _opened(1, "w"),
        _opened(2, "w"),
    )
    sys.argv = ["bayleaf", *words]
    code: Any
    try:
        code = main()
    except SystemExit as stop:
        code = stop.code
    try:
        sys.stdout.flush()
    except OSError:
        traceback.print_exc()
        code = NOT_FLUSHED
    sys.stderr.flush()
    os._exit(code)


def _opened(number: int, mode: str) -> TextIO:
    """Open a standard stream as Python does when it starts; None if it is closed."""
    try:
        os.fstat(number)
    except OSError:
        return None  # type: ignore[return-value]
    errors = "backslashreplace" if number == 2 else "strict"
    return open(number, mode, encoding="utf-8", errors=errors, closefd=False)
