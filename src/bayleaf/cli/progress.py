"""Telling on a terminal how far a command has come."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

from bayleaf.cli.streams import raw_stream
from bayleaf.wording import plain

# Commands that are done within this time show nothing.
_PATIENCE_SECONDS = 1.0


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give a function that shows a line of text on standard error.

    Nothing is shown in the first second, nor where standard error is no terminal.
    """
    terminal = raw_stream(sys.stderr)
    if terminal is None or not terminal.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.text import Text

    status = Console(file=terminal).status("")
    # A long step reports nothing meanwhile, so the display is started by the clock.
    timer = threading.Timer(_PATIENCE_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda text: status.update(Text(plain(text)))
    finally:
        timer.cancel()
        timer.join()
        status.stop()
