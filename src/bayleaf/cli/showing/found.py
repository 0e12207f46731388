"""What commands show of what they found: text or JSON, and a picture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bayleaf.io.atomic import replacing
from bayleaf.wording import visible, visible_json


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=False, default=_plain)
    print(visible_json(text))


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


def _plain(value: Any) -> Any:
    """A NumPy scalar as a plain value; anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)
