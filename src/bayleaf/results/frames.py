"""Tables of documents as rows and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import narwhals as nw

from bayleaf.results.document import Document, Table, Text, string_of


def rows_of(document: Document) -> list[dict[str, Any]]:
    """The lines of all tables of a document, a flat dict each.

    Numbers are numbers, and a hyphen in their place is None; of several tables each
    line has the title of its own as "table". ValueError without a table.
    """
    tables = [*_tables(document)]
    if not tables:
        raise ValueError("the result has no table; to_dict gives its values")
    return [
        ({"table": string_of(table.title)} if len(tables) > 1 else {})
        | {
            head: string_of(cell) if column < table.n_words else _number(cell)
            for column, (head, cell) in enumerate(zip(table.heads, row, strict=True))
        }
        for table in tables
        for row in table.rows
    ]


def pandas_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as a data frame of pandas; ImportError if it is not installed."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    try:
        return nw.from_dict(columns, backend="pandas").to_native()
    except ImportError as error:
        raise ImportError("to_pandas needs the library pandas; install it") from error


def _tables(document: Document) -> Iterator[Table]:
    """The tables of a document and of its sections."""
    for part in document.parts:
        if isinstance(part, Table):
            yield part
        elif isinstance(part, Document):
            yield from _tables(part)


def _number(text: Text) -> str | float | None:
    """A cell as a number if it is one."""
    written = string_of(text)
    try:
        return None if written == "-" else float(written)
    except ValueError:
        return written
