"""The form of a report's summary, by which readers know what its keys mean."""

from __future__ import annotations

from typing import Any

# Changes whenever a key changes its name or meaning.
SCHEMA = "bayleaf-report/2"


def check_schema(summary: Any) -> None:
    """Raise ValueError unless a summary is of the version of today."""
    if summary.get("schema") != SCHEMA:
        raise ValueError(
            f"the summary should be of schema {SCHEMA!r}, got "
            f"{summary.get('schema')!r}; make it again"
        )
