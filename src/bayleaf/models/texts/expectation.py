"""Why a row's expectation is what it is: additive terms, for a reader."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from bayleaf.results.figures import terms_html
from bayleaf.results.result import Record, plain_values
from bayleaf.wording import brief, plain, shown_name, stated

_WIDTH = 80


@dataclass(frozen=True)
class ExpectationTerm:
    """What one feature adds to the expectation."""

    feature: str | int
    value: str  # state in the row, "missing" if it has none
    contribution: float  # in the target's unit

    def __repr__(self) -> str:
        fact = plain(stated(self.feature, self.value))
        return brief(self, f"{self.contribution:+.5g} by {fact}")


@dataclass(frozen=True)
class ExpectationExplanation(Record):
    """The expectation of one row, split into terms that add up with the baseline."""

    row: Any  # position in the table explained, or label
    target: str | int
    expectation: float  # in the target's unit
    baseline: float  # before any feature is seen
    terms: tuple[ExpectationTerm, ...]  # by column

    @property
    def ranked(self) -> list[ExpectationTerm]:
        """The terms, the strongest first."""
        return sorted(self.terms, key=lambda term: -abs(term.contribution))

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, the strongest term first."""
        return super().to_dict() | {"terms": plain_values(self.ranked)}

    def to_text(self, n_terms: int = 10, where: str | None = None) -> str:
        """The explanation as lines of text, the strongest `n_terms` first.

        `where` is what the row is called, by default "row" and its position.
        """
        name = shown_name(self.target)
        lines = textwrap.wrap(
            f"{where or f'row {self.row}'}: {name} is expected to be "
            f"{self.expectation:.5g}",
            _WIDTH,
        )
        ranked = self.ranked
        lines.append(f"{self.baseline:+12.5g}  before any feature is seen")
        for term in ranked[:n_terms]:
            fact = plain(stated(term.feature, term.value))
            lines.append(f"{term.contribution:+12.5g}  {fact}")
        if rest := ranked[n_terms:]:
            total = sum(term.contribution for term in rest)
            lines.append(f"{total:+12.5g}  {len(rest)} other features")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        title = (
            f"row {self.row}: {self.target} is expected to be {self.expectation:.5g}"
        )
        first = ("before any feature is seen", self.baseline)
        return terms_html(title, first, self.ranked, "{:+.5g}")

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return brief(self, f"{self.baseline:.5g} and terms give {self.expectation:.5g}")
