"""Lists and mappings of results that notebooks show as pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from bayleaf.results.document import Document, Part, Table
from bayleaf.results.frames import pandas_of
from bayleaf.results.html import html_of
from bayleaf.results.result import Record, Shown, list_of
from bayleaf.wording import counted, in_bits, shown_name

R = TypeVar("R")
# Results of a list that are shown.
_SHOWN = 10
# What rounding leaves of a zero, as a share of the largest number.
_ROUNDING = 1e-12


class ResultList(list[R]):
    """A list of results; notebooks show the first ten below one another.

    Results without a document of their own are lines of one table or list.
    """

    def __repr__(self) -> str:
        rest = [f"... {len(self) - 1} more"] if len(self) > 1 else []
        return f"[{', '.join([*map(repr, self[:1]), *rest])}]"

    def _repr_html_(self) -> str:
        return html_of(self.document())

    def to_pandas(self) -> Any:
        """Convert results that are lines of one table to a data frame of pandas.

        ImportError if pandas is not installed; TypeError for other results, which have
        a `to_pandas` each.
        """
        results = cast(list[Any], self)
        if not all(isinstance(result, Record) for result in results):
            raise TypeError(
                "these results are not lines of one table; convert each by itself"
            )
        return pandas_of([result.to_dict() for result in results])

    def document(self) -> Document:
        """What notebooks show of the results."""
        title, results = counted(len(self), "result"), cast(list[Any], self)
        if results and type(results[0]).document is Shown.document:
            return Document("", [list_of(results, title)])
        parts: list[Part] = [result.document() for result in results[:_SHOWN]]
        if len(self) > len(parts):
            parts.append(f"and {len(self) - len(parts)} more")
        return Document(title, parts)


class RankedNumbers(dict[Any, float]):
    """Numbers by name, the largest first, which are printed and shown in a unit.

    Information is in nats, which `in_bits` turns into what is shown.
    """

    def __init__(
        self,
        values: Mapping[Any, float],
        title: str,
        shown: Callable[[float], float] = in_bits,
    ) -> None:
        super().__init__(values)
        self.title, self.shown = title, shown

    def __reduce__(self) -> tuple[Any, ...]:
        return RankedNumbers, (dict(self), self.title, self.shown)

    def document(self) -> Document:
        """The numbers as a table, those that are zero counted."""
        least = _ROUNDING * max(map(abs, self.values()), default=0.0)
        nonzero = {key: value for key, value in self.items() if abs(value) > least}
        rows = [(shown_name(key), f"{self.shown(v):.3g}") for key, v in nonzero.items()]
        bars = [(0.0, value) for value in nonzero.values()]
        parts: list[Part] = [Table(("", ""), rows, self.title, bars=bars)]
        if len(nonzero) < len(self):
            parts.append(f"0 for {counted(len(self) - len(nonzero), 'other')}")
        return Document("", parts)

    def _repr_html_(self) -> str:
        return html_of(self.document())

    def __str__(self) -> str:
        # Laying out tables takes a library that plain values do without.
        from bayleaf.results.text import text_of

        return text_of(self.document())
