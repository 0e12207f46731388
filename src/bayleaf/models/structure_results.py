"""What is found of graphs tried on tables: scores, and tests of independences."""

from __future__ import annotations

from dataclasses import dataclass

from bayleaf.inference.graph_results import Independence
from bayleaf.results.document import Document, Table
from bayleaf.results.result import Record, Result
from bayleaf.typing import Name
from bayleaf.wording import brief, counted, format_number, shown_name

_MAX_ROWS = 100


@dataclass(frozen=True, repr=False)
class StructureScore(Result):
    """How well a graph fits a table.

    Parameters
    ----------
    total : float
        The score of the graph, the sum over its families; larger is better.
    families : dict from name to float
        The score of each variable given its parents.
    local_score : str
        Name of the score.
    unit : {"bits", "nats"}
        What it is measured in.
    """

    total: float
    families: dict[Name, float]
    local_score: str
    unit: str

    def __float__(self) -> float:
        return self.total

    def document(self) -> Document:
        """What is shown: the total, and a row per family."""
        sentence = f"{self.local_score}: {format_number(self.total)} {self.unit}"
        rows = [
            (shown_name(name), format_number(score))
            for name, score in self.families.items()
        ]
        table = Table(("variable", self.unit), rows, max_rows=_MAX_ROWS)
        return Document("Score of a structure", [sentence, table])

    def __repr__(self) -> str:
        total = f"{self.local_score} {format_number(self.total)} {self.unit}"
        return brief(self, total, counted(len(self.families), "variable"))


@dataclass(frozen=True)
class IndependenceTest(Record):
    """One implied independence, tested.

    Parameters
    ----------
    claim : Independence
        What the graph implies.
    g2 : float
        Likelihood-ratio statistic.
    degrees : int
        Degrees of freedom, those of the states that occur.
    p_value : float
        Probability of so large a statistic if the claim holds.
    adjusted : float
        The p-value adjusted for all tests (false discovery rate).
    rows : float
        Weight of the rows in which all variables of the claim are known.
    """

    claim: Independence
    g2: float
    degrees: int
    p_value: float
    adjusted: float
    rows: float


@dataclass(frozen=True, repr=False)
class IndependenceTests(Result, computed=("n_rejected",)):
    """Independences that a graph implies, tested against a table.

    Parameters
    ----------
    tests : tuple of IndependenceTest
        The smallest p-value first.
    level : float
        Rate of false discoveries.
    correction : {"bh", "by"}
        How p-values are adjusted.
    """

    tests: tuple[IndependenceTest, ...]
    level: float
    correction: str

    @property
    def rejected(self) -> tuple[IndependenceTest, ...]:
        """Tests whose claim the table contradicts."""
        return tuple(test for test in self.tests if test.adjusted <= self.level)

    @property
    def n_rejected(self) -> int:
        """Number of claims that the table contradicts."""
        return len(self.rejected)

    def document(self) -> Document:
        """What is shown: how many claims are contradicted, and all tests."""
        sentence = (
            f"{self.n_rejected} of {counted(len(self.tests), 'implied independence')} "
            f"contradicted at a false discovery rate of {self.level:g}."
        )
        rows = [
            (
                str(test.claim),
                format_number(test.g2),
                str(test.degrees),
                f"{test.p_value:.3g}",
                f"{test.adjusted:.3g}",
            )
            for test in self.tests
        ]
        heads = ("claim", "G²", "degrees", "p", "adjusted p")
        parts = [Table(heads, rows, max_rows=_MAX_ROWS)] if rows else []
        return Document("Implied independences", [sentence, *parts])

    def __repr__(self) -> str:
        return brief(
            self, counted(len(self.tests), "test"), f"{self.n_rejected} rejected"
        )
