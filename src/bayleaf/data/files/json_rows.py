"""Tables in JSON: an object per row, in an array or one after another."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from bayleaf.data.files.csv_reading import called, check_readable, no_rows
from bayleaf.data.files.file_facts import FileFacts
from bayleaf.data.files.file_kinds import JSON, other_kind
from bayleaf.wording import quoted

_SPACE = re.compile(r"\s*")


def is_json(source: str) -> bool:
    """Whether a file's suffix is one of JSON, or standard input begins so."""
    if source != "-":
        return Path(source).suffix.lower() in JSON
    peek: Callable[[], bytes] | None = getattr(
        getattr(sys.stdin, "buffer", None), "peek", None
    )
    kind = None if peek is None else other_kind(peek())
    return kind is not None and kind[0].startswith("JSON")


def read_json(source: str) -> pa.Table:
    """The cells of a table as texts, null where they are null or absent.

    OSError, or ValueError with the row, if the file is not JSON of that form.
    """
    if source == "-":
        content = sys.stdin.buffer.read()
    else:
        check_readable(source)
        content = Path(source).read_bytes()
    try:
        text = content.decode("utf-8-sig")
        rows = _rows(text, source)
    except UnicodeDecodeError as error:
        raise ValueError(f"{called(source)} is not UTF-8, as JSON must be") from error
    keys = dict.fromkeys(key for row in rows for key in row)
    numbered = list(enumerate(rows, 1))
    columns = {
        key: pa.array([_text(row.get(key), key, n, source) for n, row in numbered])
        for key in keys
    }
    if not columns:
        raise no_rows(source)
    table = pa.table({k: c.cast(pa.string()) for k, c in columns.items()})
    kind = "JSON" if text.lstrip().startswith("[") else "JSON lines"
    return FileFacts(kind, encoding="UTF-8").added_to(table)


def _rows(text: str, source: str) -> list[Mapping[str, Any]]:
    """The objects of a text, whose numbers stay as they are written."""
    decoder = json.JSONDecoder(
        parse_float=_Number, parse_int=_Number, parse_constant=_Number
    )
    objects: list[Any] = []
    end, text = 0, text.rstrip()
    while end < len(text):
        try:
            value, end = decoder.raw_decode(text, _end_of_space(text, end))
        except json.JSONDecodeError as error:
            raise ValueError(
                f"line {error.lineno} of {called(source)} is not JSON: {error.msg}"
            ) from error
        objects += value if isinstance(value, list) else [value]
    for number, row in enumerate(objects, 1):
        if not isinstance(row, Mapping):
            raise ValueError(
                f"row {number} of {called(source)} is not an object; write each row as "
                'an object, such as {"age": 40}'
            )
    return objects


def _end_of_space(text: str, start: int) -> int:
    """Where the next character is that is not blank."""
    blanks = _SPACE.match(text, start)
    return start if blanks is None else blanks.end()


class _Number(str):
    """A number as the text that writes it."""


def _text(cell: Any, key: str, number: int, source: str) -> str | None:
    """A cell as text; ValueError if it is an array or object."""
    if isinstance(cell, list | dict):
        raise ValueError(
            f"row {number} of {called(source)} has an array or object as "
            f"{quoted(key)}; write one value per cell"
        )
    return str(cell).lower() if isinstance(cell, bool) else cell
