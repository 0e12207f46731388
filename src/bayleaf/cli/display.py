"""What commands show: text or JSON, pictures, and how far they have come."""

from __future__ import annotations

import codecs
import contextlib
import json
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bayleaf.progress import Work, displayed
from bayleaf.wording import visible, visible_json

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


@contextlib.contextmanager
def progress(what: str = "") -> Iterator[Work]:
    """Show the work of a block, named `what`, and yield the object that reports it."""
    from bayleaf.cli.console import ShownConsole

    with displayed(console=partial(ShownConsole, stderr=True)), Work() as work:
        if what:
            work.say(what)
        yield work


def show(result: Any, *, as_json: bool) -> None:
    """Print the dict of a result as JSON, or its text."""
    if as_json:
        print_json(result.to_dict())
    else:
        print(result)


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
