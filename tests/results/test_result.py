"""Results as plain values."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np

from bayleaf.results.document import Document
from bayleaf.results.result import Record, Result, Shown
from bayleaf.results.result_lists import ResultList


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


@dataclass(frozen=True)
class Measured(Result, nats=("loss",)):
    """A result without a document."""

    label: str
    loss: float
    cost: float | None
    inner: tuple[Inner, ...]


@dataclass(frozen=True)
class Spoken(Shown):
    """What writes itself as a text."""

    word: str

    def __str__(self) -> str:
        return self.word


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


def test_results_without_a_document_show_their_fields_in_bits() -> None:
    shown = Measured("a <b>", math.log(2), None, (Inner("x", 2.0), Inner("y", 3.0)))
    words = str(shown).replace("-", "").split()
    assert " ".join(words) == (
        "measured label a <b> loss (bits) 1 inner label size x 2 y 3"
    )
    html = shown._repr_html_()
    assert "a &lt;b&gt;" in html
    assert "<table>" in html
    assert "<ul><li><bdi>once</bdi></li><li><bdi>twice</bdi></li></ul>" in (
        ResultList([Spoken("once"), Spoken("twice")])._repr_html_()
    )
