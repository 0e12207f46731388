"""Graphs tried on tables: scores, and tests of the independences that they imply."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import conditional_mutual_information
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.partial_values import available_codes
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.modelling.fitted_columns import FittedColumns, Reading, fit_columns
from bayleaf.models.bayesian_network import NetworkStructure
from bayleaf.models.network_structure import Name
from bayleaf.models.structure_results import (
    IndependenceTest,
    IndependenceTests,
    StructureScore,
)
from bayleaf.scores.local_scores import LocalScore, resolve_score
from bayleaf.search.table_families import FamilyScores, FamilyTables, Groupings
from bayleaf.wording import name_list, quoted


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
