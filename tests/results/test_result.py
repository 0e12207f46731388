"""Results as plain values."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

from bayleaf.results.document import Document
from bayleaf.results.result import Record, Result


@dataclass(frozen=True)
class Inner(Record, keys={"label": "class"}, computed=("double",)):
    """A record with a renamed field and a property."""

    label: str
    size: float

    @property
    def double(self) -> float:
        """Twice the size."""
        return 2 * self.size


@dataclass(frozen=True)
class Outer(Result):
    """A result of many kinds of values."""

    inner: tuple[Inner, ...]
    array: np.ndarray
    number: np.float64
    table: dict[str, tuple[int, ...]]

    def document(self) -> Document:
        """The names of the parts."""
        return Document("outer", [inner.label for inner in self.inner])


def test_values_are_plain_with_their_keys() -> None:
    outer = Outer(
        (Inner("a", 1.5),), np.array([1.0, np.inf]), np.float64(2), {"k": (1,)}
    )
    values = outer.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert values == {
        "inner": [{"class": "a", "size": 1.5, "double": 3.0}],
        "array": [1.0, None],
        "number": 2.0,
        "table": {"k": [1]},
    }
    assert Inner("b", math.nan).to_dict()["size"] is None


def test_text_and_html_are_those_of_the_document() -> None:
    outer = Outer((Inner("<a>", 1.0),), np.array([]), np.float64(0), {})
    assert str(outer) == outer.to_text() == "outer\n<a>"
    assert "<p>&lt;a&gt;</p>" in outer._repr_html_()
    with pytest.raises(NotImplementedError):
        Result().document()
