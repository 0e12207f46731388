"""Leave-one-out scores equal those of parameters estimated without the row."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from bayleaf.classifiers.shared.leave_one_out import leave_one_out
from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds import (
    Backoff,
    Dirichlet,
    Lidstone,
    MaximumLikelihood,
    MEstimate,
    Smoothing,
)
from bayleaf.data.codes import Codes
from bayleaf.search.left_out.left_out_scores import (
    LeaveOneOutScores,
    LeftOutRows,
    left_out_class_counts,
    less,
)
from covering import pairwise
from offenders import check_each
from oracles.coded_tables import random_codes
from oracles.left_out import domain_of, left_out_log_scores, network

RULES: list[Smoothing] = [
    Lidstone(0.3),
    Dirichlet(2.0),
    MEstimate(5.0),
    Backoff(2.0),
    MaximumLikelihood(1e-3),
]
CARDS = (3, 2, 4, 2, 3)
CLASS = len(CARDS) - 1
# Feature 3 says nothing of the class, as one outside the prefix of KDB's order.
STRUCTURES = {
    "naive": [(CLASS,), (CLASS,), (CLASS,), (CLASS,)],
    "k=1": [(CLASS,), (CLASS, 0), (CLASS, 1), ()],
    "k=2": [(CLASS,), (CLASS, 0), (CLASS, 1, 0), (CLASS, 2, 0)],
    "k=3": [(CLASS,), (CLASS, 0), (CLASS, 1, 0), (CLASS, 2, 0, 1)],
}


def families(parents: Any) -> list[tuple[int, ...]]:
    return [(*above, child) for child, above in enumerate(parents)]


MISSING, WEIGHTS = [0.0, 0.25], ["ones", "whole", "fractions"]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_scores_equal_those_of_a_refit_without_the_row(structure: str) -> None:
    settings = pairwise(list(STRUCTURES), MISSING, WEIGHTS)
    check_each(
        (row[1:] for row in settings if row[0] == structure),
        lambda row: scores_equal_those_of_a_refit(structure, *row, n_rows=20),
    )


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
def test_scores_of_all_tables_equal_those_of_a_refit(structure: str) -> None:
    check_each(
        itertools.product(MISSING, WEIGHTS),
        lambda row: scores_equal_those_of_a_refit(structure, *row, n_rows=30),
    )


def scores_equal_those_of_a_refit(
    structure: str, missing: float, weights: str, n_rows: int
) -> None:
    codes = random_codes(CARDS, n_rows, missing=missing, weights=weights, leaning=True)
    parents = STRUCTURES[structure]
    left_out = leave_one_out(
        RowCounts(codes), domain_of(codes), RULES, None, 20_000_000
    )
    scores = left_out.log_scores(families(parents))
    for rule, own in zip(RULES, scores, strict=True):
        expected = left_out_log_scores(
            codes, lambda rest, rule=rule: network(rest, parents, rule, None)
        )
        np.testing.assert_allclose(own.T, expected, rtol=1e-12, atol=1e-12)


def test_what_rounding_leaves_of_an_empty_cell_is_nothing() -> None:
    counts = np.array([0.1 + 0.2, 0.3 + 1e-6, 2.0])
    rest = less(counts, np.array([0.3, 0.3, 1.0]))
    assert rest[0] == 0.0 != counts[0] - 0.3
    np.testing.assert_allclose(rest[1:], [1e-6, 1.0], rtol=1e-9)


def test_a_heavy_row_gives_up_one_and_a_light_one_all() -> None:
    y = [0, 0, 1]
    codes = Codes.from_columns([np.array(y)], (2,), np.array([2.5, 0.5, 0.25]))
    cells = left_out_class_counts(np.array([3.0, 0.25]), LeftOutRows(codes))
    assert cells.joint[0].tolist() == [[2.0, 2.5, 3.0], [0.25, 0.25, 0.0]]
    assert cells.total.tolist() == [2.25, 2.75, 3.0]


def test_calibration_bins_compare_tenths_of_probability_with_classes() -> None:
    proba = np.array([[0.95, 0.81, 0.25, 0.0], [0.05, 0.19, 0.75, 1.0]])
    own, weights = np.array([0, 1, 1, 1]), np.array([1.0, 2.0, 1.0, 3.0])
    with np.errstate(divide="ignore"):
        scores = LeaveOneOutScores.of(np.log(proba) - 700.0, own, weights)
    bins = scores.calibration
    assert bins is not None
    assert scores.error == pytest.approx(2 / 7)
    for label in range(2):
        assert bins.rows[label].sum() == pytest.approx(weights.sum())
        assert bins.expected[label].sum() == pytest.approx(proba[label] @ weights)
        assert bins.observed[label].sum() == weights[own == label].sum()
    assert bins.rows[0].tolist() == [3, 0, 1, 0, 0, 0, 0, 0, 2, 1]
    assert bins.observed[0].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
