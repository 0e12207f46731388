"""The grid over k, prefixes and rules equals leave-one-out of each candidate alone."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.classifiers.shared.leave_one_out import leave_one_out
from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds import Backoff, Lidstone, MEstimate, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.models.class_model import log_normalize
from bayleaf.search.feature_orders import KDBRanking, rank_parents
from bayleaf.search.left_out.selection import Candidate, Selection, select_kdb
from oracles.coded_tables import random_codes
from oracles.left_out import domain_of, left_out_log_scores, network

RULES = (Lidstone(0.5), MEstimate(2.0), Backoff(1.0))
CARDS = (3, 2, 4, 2, 3, 2)
CLASS = len(CARDS) - 1
TABLE = random_codes(CARDS, 25, weights="whole", leaning=True)
MANY_CELLS = 20_000_000


def selected(codes: Codes, k: int, max_cells: int = MANY_CELLS) -> Selection:
    """The whole grid up to some k."""
    counts = RowCounts(codes)
    left_out = leave_one_out(counts, domain_of(codes), RULES, None, MANY_CELLS)
    prefixes = range(CLASS + 1)
    ranking = rank_parents(counts, k)
    return select_kdb(left_out, ranking, range(k + 1), prefixes, max_cells)


def expected_log_loss(codes: Codes, ranking: KDBRanking, candidate: Candidate) -> float:
    """Mean log-loss when all tables are estimated again for every row."""
    assert candidate.k is not None
    parents = [
        () if above is None else (CLASS, *above)
        for above in ranking.parents(candidate.k, candidate.n_features)
    ]
    scores = left_out_log_scores(
        codes, lambda rest: network(rest, parents, candidate.smoothing, None)
    )
    own = codes.column(CLASS)
    losses = -log_normalize(scores)[np.arange(len(own)), own]
    return float(codes.weights @ losses / codes.weights.sum())


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_every_candidate_scores_as_a_refit_without_each_row(
    missing: float, rule: Smoothing
) -> None:
    codes = random_codes(CARDS, 15, missing=missing, weights="whole", leaning=True)
    ranking = rank_parents(RowCounts(codes), 3)
    selection = selected(codes, 3)
    assert len(selection) == 4 * (CLASS + 1) * len(RULES)
    of_the_rule = [c for c in selection if c.smoothing == rule]
    assert len(of_the_rule) == 4 * (CLASS + 1)
    for candidate in of_the_rule:
        expected = expected_log_loss(codes, ranking, candidate)
        assert candidate.log_loss == pytest.approx(expected, rel=1e-12)


def test_a_k_with_too_many_cells_is_no_candidate() -> None:
    selection = selected(TABLE, 3, max_cells=100)
    assert {candidate.k for candidate in selection} == {0, 1}


def test_the_smallest_k_is_always_a_candidate() -> None:
    assert {c.k for c in selected(TABLE, 2, max_cells=1)} == {0}


def test_ties_go_to_the_smaller_k_and_prefix() -> None:
    equal = [
        Candidate(Lidstone(1.0), 0.5 + noise, 0.1, 0.1, k, n)
        for k, n, noise in [(0, 1, 1e-14), (0, 2, 0.0), (1, 1, -1e-14)]
    ]
    assert Selection(tuple(equal)).best is equal[0]


def test_a_record_shows_its_best_candidate_first() -> None:
    selection = selected(TABLE, 1)
    title, _, _, first, *_ = str(selection).splitlines()
    assert f"{len(selection)} candidates" in title
    best = selection.best
    assert first.split()[:3] == [str(best.smoothing), str(best.k), str(best.n_features)]
