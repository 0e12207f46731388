"""What goes wrong in reading tables, in a sentence."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

# Libraries whose errors tell of their own insides, on several lines.
_LIBRARIES = ("pyarrow", "polars", "duckdb", "_duckdb")
_MOST_LETTERS = 300


@contextlib.contextmanager
def in_a_sentence(what: str = "the table") -> Iterator[None]:
    """Raise ValueError in a sentence for an error of a library that yields batches."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _LIBRARIES:
            raise
        raise ValueError(f"cannot read {what}: {in_one_line(error)}") from error


def in_one_line(error: BaseException) -> str:
    """The first paragraph of what an error says, in one line and not too long."""
    told = " ".join(str(error).strip().partition("\n\n")[0].split())
    return told if len(told) <= _MOST_LETTERS else f"{told[:_MOST_LETTERS]} ..."
