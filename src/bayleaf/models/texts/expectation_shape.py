"""The mean expectation of rows where one feature is set: a curve or a set of bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.models.texts.feature_shape import interval_edges
from bayleaf.results.figures import states_html
from bayleaf.results.html import picture_html
from bayleaf.results.result import Record
from bayleaf.wording import brief_fields, format_number, shown_name, visible

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExpectationShape(Record, keys={"expectations": None, "row_counts": None}):
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
        )

    def to_dict(self) -> dict[str, Any]:
        """The shape as plain values, ready for JSON; infinite ends are null."""
        columns = (self.states, self.row_counts.tolist(), self.expectations.tolist())
        states = [
            {"state": state, "rows": rows, "expectation": value}
            for state, rows, value in zip(*columns, strict=True)
        ]
        return super().to_dict() | {"states": states}

    def _repr_html_(self) -> str:
        moved = (self.expectations - self.baseline).tolist()
        title = (
            f"{self.feature}: what its states add to {self.target}, "
            f"{self.baseline:.5g} as rows are"
        )
        rows = self.row_counts.tolist()
        return picture_html(states_html(title, self.states, moved, rows))

    def __str__(self) -> str:
        states = [visible(state) for state in self.states]
        width = max(map(len, states), default=0)
        lines = [
            f"{shown_name(self.feature)}: expectation of {shown_name(self.target)}, "
            f"{self.baseline:.5g} as rows are",
            f"  {'':{width}} {'rows':>8} {'expected':>12}",
        ]
        for state, rows, value in zip(
            states, self.row_counts, self.expectations, strict=True
        ):
            lines.append(
                f"  {state:{width}} {format_number(float(rows)):>8} {value:12.5g}"
            )
        return "\n".join(lines)
