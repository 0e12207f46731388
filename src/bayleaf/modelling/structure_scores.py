"""Graphs tried on tables: scores, and tests of the independences that they imply."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import conditional_mutual_information
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.partial_values import available_codes
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.inference.graph_results import Independence
from bayleaf.modelling.fitted_columns import FittedColumns, Reading, fit_columns
from bayleaf.models.network_structure import Name, NetworkStructure
from bayleaf.results.document import Document, Table
from bayleaf.results.result import Record, Result
from bayleaf.scores.local_scores import LocalScore, resolve_score
from bayleaf.search.table_families import FamilyScores, FamilyTables, Groupings
from bayleaf.wording import brief, counted, format_number, name_list, quoted, shown_name

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


def score_structure(
    structure: NetworkStructure,
    table: Any,
    *,
    local_score: str | LocalScore,
    penalty_weight: float,
    equivalent_sample_size: float,
    states: Mapping[Name, Any] | None,
    discretizer: Any,
    categorical_features: Collection[Name] | None,
    sample_weight: Any,
    n_jobs: int | None,
) -> StructureScore:
    """Score a graph as searches do; see `NetworkStructure.score`."""
    score = resolve_score(
        local_score,
        penalty_weight=penalty_weight,
        equivalent_sample_size=equivalent_sample_size,
    )
    if structure.latents:
        raise ValueError(
            f"{name_list(structure.latents)} is latent, and scores need a column for "
            "each variable; leave it out of the graph"
        )
    columns = _columns(
        structure, table, states, discretizer, categorical_features, sample_weight
    )
    domain = columns.domain
    source = RowCounts(available_codes(columns.rows), n_jobs, has_class=False)
    hierarchies = [flat_hierarchy(variable.states) for variable in domain]
    scores = FamilyScores(
        FamilyTables(source, len(domain)),
        Groupings(domain),
        score,
        hierarchies,
        None,
        refine=False,
        forbidden=frozenset(),
        max_parents=None,
    )
    families = {}
    for child, parents in enumerate(structure.dag.parents):
        entering = {p: scores.entering(child, p, {}) for p in sorted(parents)}
        if not scores.fits(child, entering):
            raise ValueError(
                f"the table of variable {quoted(structure.names[child])} is too large "
                "to be counted; give it fewer parents"
            )
        families[structure.names[child]] = scores.family(child, entering)
    return StructureScore(
        float(sum(families.values())), families, score.name, score.unit
    )


def _columns(
    structure: NetworkStructure,
    table: Any,
    states: Mapping[Name, Any] | None,
    discretizer: Any,
    categorical_features: Collection[Name] | None,
    sample_weight: Any,
) -> FittedColumns:
    """The rows of a table as codes of the observed variables of a graph."""
    if states is not None:
        structure = structure.with_states(states)
    variables = dict(zip(structure.names, structure.variables, strict=True))
    names = [name for name in structure.names if name not in structure.latents]
    reading = Reading("marginalize", "error", discretizer, categorical_features)
    return fit_columns(
        names, [variables[name] for name in names], (), table, sample_weight, reading
    )


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


def tested_independences(
    structure: NetworkStructure,
    table: Any,
    *,
    level: float,
    correction: str,
    states: Mapping[Name, Any] | None,
    discretizer: Any,
    categorical_features: Collection[Name] | None,
    sample_weight: Any,
    n_jobs: int | None,
) -> IndependenceTests:
    """Test what a graph implies; see `NetworkStructure.test_independences`."""
    # Loaded where it is needed: networks are read and asked without it.
    from scipy.stats import chi2, false_discovery_control

    if not isinstance(level, float | int) or not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {quoted(level)}")
    if correction not in ("bh", "by"):
        raise ValueError(f"correction must be 'bh' or 'by', got {quoted(correction)}")
    columns = _columns(
        structure, table, states, discretizer, categorical_features, sample_weight
    )
    claims = structure.implied_independences()
    families = [
        tuple(
            columns.domain.index(n) for n in (claim.first, claim.second, *claim.given)
        )
        for claim in claims
    ]
    source = RowCounts(available_codes(columns.rows), n_jobs, has_class=False)
    results = []
    for counts in source.family_counts(families):
        joint = counts.reshape(*counts.shape[:2], -1)
        rows = float(joint.sum())
        g2 = 2.0 * rows * conditional_mutual_information(joint)
        degrees = _degrees(joint)
        p_value = float(chi2.sf(g2, degrees)) if degrees else 1.0
        results.append((g2, degrees, p_value, rows))
    p_values = [p_value for _, _, p_value, _ in results]
    adjusted: Any = []
    if results:
        chosen: Any = correction
        adjusted = false_discovery_control(p_values, method=chosen)
    tests = [
        IndependenceTest(claim, g2, degrees, p_value, float(q_value), rows)
        for claim, (g2, degrees, p_value, rows), q_value in zip(
            claims, results, adjusted, strict=True
        )
    ]
    ordered = sorted(tests, key=lambda test: (test.p_value, -test.g2))
    return IndependenceTests(tuple(ordered), float(level), correction)


def _degrees(joint: NDArray[np.float64]) -> int:
    """Degrees of freedom of counts (n_x, n_y, n_z), without states that never occur."""
    rows = (joint.sum(axis=1) > 0).sum(axis=0)
    columns = (joint.sum(axis=0) > 0).sum(axis=0)
    return int((np.maximum(rows - 1, 0) * np.maximum(columns - 1, 0)).sum())
