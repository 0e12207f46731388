"""Telling on a terminal how far a command has come."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

from bayleaf.wording import visible

# Commands that are done within this time show nothing.
_PATIENCE_SECONDS = 1.0


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give a function that shows a line of text on standard error.

    Nothing is shown in the first second, nor where standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.text import Text

    from bayleaf.cli.console import ShownConsole

    status = ShownConsole(stderr=True).status("")
    # A long step reports nothing meanwhile, so the display is started by the clock.
    timer = threading.Timer(_PATIENCE_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        # As text, since brackets in a plain string would be taken for markup.
        yield lambda text: status.update(Text(visible(text)))
    finally:
        timer.cancel()
        timer.join()
        status.stop()
