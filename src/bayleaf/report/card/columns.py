"""The part of a model card on how columns are read."""

from __future__ import annotations

from typing import Any

from bayleaf.report.wording import percent
from bayleaf.results.document import (
    Document,
    Name,
    Table,
    Text,
)

Values = dict[str, Any]

_COLUMNS = 60
MISSING_TOLD = {
    "marginalize": "Missing cells are not counted, and are summed out of predictions.",
    "em": "Missing cells count by expectation, and are summed out of answers.",
    "state": "Missing cells count as a value of their own.",
    "error": "Rows with missing cells are refused.",
}
UNKNOWN_TOLD = {
    "missing": "Values that training did not contain count as missing.",
    "error": "Values that training did not contain are refused.",
}


def columns_part(summary: Values) -> Document:
    """How each column is read, with its cut points counted and its missing cells."""
    columns, n_rows = summary["columns"], summary["data"]["n_rows"]
    table = Table(
        ("column", "read as", "values", "cut points", "missing", "unknown"),
        [_row(column, n_rows) for column in columns],
        "Columns as the model reads them, and their cells in this table",
        n_words=2,
        max_rows=_COLUMNS,
    )
    rules = summary["rules"]
    told = []
    if rules is not None:
        told = [
            MISSING_TOLD[rules["missing_cells"]],
            UNKNOWN_TOLD[rules["unknown_values"]],
        ]
    n_sharing = sum(column["has_other"] for column in columns)
    if n_sharing:
        sharing = "column has a value" if n_sharing == 1 else "columns have a value"
        told.append(f"{n_sharing} {sharing} that rare and unseen ones share.")
    return Document("How columns are read", [table, *told])


def _row(column: Values, n_rows: int) -> tuple[Text, ...]:
    """One column of the table."""
    n_cuts = column["n_cuts"]
    return (
        Name(column["name"]),
        column["read_as"],
        str(column["n_states"]),
        ("" if n_cuts is None else str(n_cuts)),
        _share(column["missing"], n_rows),
        _share(column["unknown"], n_rows),
    )


def _share(n_cells: int, n_rows: int) -> str:
    """A share of the rows; numbers of two roundings could give one above all."""
    return percent(min(n_cells / n_rows, 1.0)) if n_cells else "0"
