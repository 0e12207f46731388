"""What commands show of what they found: text or JSON, and a picture."""

from __future__ import annotations

import codecs
import json
import re
import sys
from pathlib import Path
from typing import Any

from bayleaf.io.atomic import replacing
from bayleaf.wording import visible, visible_json

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


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


def tell(found: Any, as_json: bool) -> None:
    """Print the dict of an answer as JSON, or its text."""
    if as_json:
        print_json(found.to_dict())
    else:
        print(found)


def draw(axes: Any, picture: Path) -> None:
    """Write the figure of some axes in the format that the file's name says."""
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
