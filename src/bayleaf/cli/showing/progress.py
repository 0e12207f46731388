"""Showing on a terminal how far a command has come."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial

from bayleaf.progress import Work, displayed


@contextlib.contextmanager
def progress(what: str = "") -> Iterator[Work]:
    """Show the work of a block, named `what`, and yield the object that reports it."""
    from bayleaf.cli.showing.console import ShownConsole

    with displayed(console=partial(ShownConsole, stderr=True)), Work() as work:
        if what:
            work.say(what)
        yield work
