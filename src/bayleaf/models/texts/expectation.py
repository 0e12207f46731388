"""Expectations of a number, of a row and by state of a feature, for a reader."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.models.texts.feature_shape import finite_edges, interval_edges, states_text
from bayleaf.results.document import Document
from bayleaf.results.drawings import states_part, terms_table
from bayleaf.results.result import Result, Shown, plain_values
from bayleaf.results.result_lists import ResultList
from bayleaf.wording import brief, brief_fields, like, plain, shown_name, stated

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ExpectationTerm(Shown):
    """What one feature adds to the expectation."""

    feature: str | int
    value: str  # state in the row, "missing" if it has none
    contribution: float  # in the target's unit
    cell: Any = None  # of the row, where the state is an interval

    @property
    def fact(self) -> str:
        """The feature, its cell and its state, such as ``age 55, in (50, 60]``."""
        return stated(self.feature, self.value, self.cell)

    def __repr__(self) -> str:
        return brief(self, f"{self.contribution:+.5g} by {plain(self.fact)}")


@dataclass(frozen=True)
class ExpectationExplanation(Result):
    """The expectation of one row, split into terms that add up with the baseline."""

    row: Any  # position in the table explained, or label
    target: str | int
    expectation: float  # in the target's unit
    baseline: float  # before any feature is seen
    terms: tuple[ExpectationTerm, ...]  # by column
    # Cells of the row that were not read, see `predict`.
    notes: Sequence[Mapping[str, Any]] = field(default=(), compare=False)

    @property
    def ranked(self) -> ResultList[ExpectationTerm]:
        """The terms, the strongest first."""
        return ResultList(sorted(self.terms, key=lambda t: -abs(t.contribution)))

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, the strongest term first."""
        return super().to_dict() | {"terms": plain_values(self.ranked)}

    def to_text(
        self, n_terms: int = 10, where: str | None = None, *, columns: int = 80
    ) -> str:
        """The explanation as lines of text, the strongest `n_terms` first.

        `where` is what the row is called, by default "row" and its position.
        """
        name = shown_name(self.target)
        lines = textwrap.wrap(
            f"{where or f'row {self.row}'}: {name} is expected to be "
            f"{self.expectation:.5g}",
            columns,
        )
        ranked = self.ranked
        shown = [("before any feature is seen", self.baseline)]
        shown += [(plain(term.fact), term.contribution) for term in ranked[:n_terms]]
        if rest := ranked[n_terms:]:
            total = sum(term.contribution for term in rest)
            shown.append((f"{len(rest)} other features", total))
        lines += [f"{self._written(moved):>12}  {what}" for what, moved in shown]
        return "\n".join(lines)

    def _written(self, moved: float) -> str:
        """A part of the expectation, with as many decimals as all others."""
        return like(moved, max(abs(self.baseline), abs(self.expectation)), "+")

    def document(self) -> Document:
        """The terms as bars, each from where the last one ended."""
        title = (
            f"row {self.row}: {self.target} is expected to be {self.expectation:.5g}"
        )
        first = ("before any feature is seen", self.baseline)
        table = terms_table(
            title, first, self.ranked, lambda moved: (self._written(moved),)
        )
        return Document("", [table])

    def __repr__(self) -> str:
        return brief(self, f"{self.baseline:.5g} and terms give {self.expectation:.5g}")


@dataclass(frozen=True, eq=False)
class ExpectationShape(Result, keys={"expectations": None, "row_counts": None}):
    """Mean expectation of rows by the state that one feature is set to.

    Expectations are in the target's unit. "numeric" is a step curve over intervals,
    "nominal" a bar for each value. Outer `edges` are infinite; nominal features have
    none.
    """

    feature: str | int
    target: str | int
    kind: str  # "numeric" or "nominal"
    states: tuple[str, ...]  # "missing" last where it is a state
    edges: Floats  # (n_intervals + 1,)
    baseline: float  # mean expectation of the rows as they are
    expectations: Floats  # (n_states,)
    row_counts: Floats  # (n_states,), training weights
    drawn_edges: Floats  # (n_intervals + 1,), all finite

    __repr__ = brief_fields

    @classmethod
    def of(
        cls,
        variable: Variable,
        target: str | int,
        baseline: float,
        expectations: Floats,
        row_counts: Floats,
    ) -> ExpectationShape:
        """The shape of a feature from the expectation at each of its states."""
        edges = interval_edges(variable)
        return cls(
            variable.name,
            target,
            "numeric" if len(edges) else "nominal",
            tuple(variable.label(code) for code in range(variable.n_states)),
            edges,
            baseline,
            expectations,
            row_counts,
            finite_edges(variable),
        )

    def to_dict(self) -> dict[str, Any]:
        """The shape as plain values, ready for JSON; infinite ends are null."""
        columns = (self.states, self.row_counts.tolist(), self.expectations.tolist())
        states = [
            {"state": state, "rows": rows, "expectation": value}
            for state, rows, value in zip(*columns, strict=True)
        ]
        return super().to_dict() | {"states": states}

    def document(self) -> Document:
        """What each state adds, as bars or steps."""
        moved = (self.expectations - self.baseline).tolist()
        title = (
            f"{self.feature}: what each value adds to {self.target}, "
            f"{self.baseline:.5g} with the rows as they are"
        )
        rows, edges = self.row_counts.tolist(), self.drawn_edges.tolist()
        return Document("", [states_part(title, self.states, moved, rows, edges)])

    def to_text(self, width: int = 80) -> str:
        """The expectation at each state, line by line."""
        del width
        title = (
            f"{shown_name(self.feature)}: expectation of {shown_name(self.target)}, "
            f"{self.baseline:.5g} with the rows as they are"
        )
        rows, values = self.row_counts.tolist(), self.expectations[:, None]
        heads = [f"{'expected':>12}"]
        return states_text(title, self.states, rows, heads, values, "{:12.5g}")
