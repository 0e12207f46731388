"""Scores of families equal their formulas, summed cell by cell."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bayleaf import BayesianNetworkEstimator
from bayleaf.models.network_structure import NamedGraph
from bayleaf.scores import LOCAL_SCORES, LocalScore, resolve_score
from bayleaf.scores.local_scores import MDL, BDeu, log_likelihood
from offenders import check_each
from oracles.tree_networks import leaf_term


@pytest.fixture
def counts() -> np.ndarray:
    rng = np.random.default_rng(3)
    table = rng.integers(0, 6, (5, 3)).astype(float)
    table[2] = 0
    return table


def expected(name: str, counts: np.ndarray) -> float:
    """What a score's formula gives, with N four times what the table holds."""
    share, weight = 1 / len(counts), 4 * counts.sum()
    return sum(leaf_term(name, row, share, weight) for row in counts.tolist())


def test_a_score_equals_its_formula(counts: np.ndarray) -> None:
    def check(name: str) -> None:
        score = resolve_score(name)
        found = score.rows_score(counts, 5, 4 * counts.sum())
        assert found == pytest.approx(expected(name, counts), abs=1e-9)
        assert score.name == name

    check_each(LOCAL_SCORES, check)


def test_rows_without_data_may_be_left_out(counts: np.ndarray) -> None:
    def check(name: str) -> None:
        score = resolve_score(name)
        seen = counts[counts.sum(axis=1) > 0]
        assert score.rows_score(seen, 5, 40.0) == pytest.approx(
            score.rows_score(counts, 5, 40.0)
        )

    check_each(LOCAL_SCORES, check)


def test_many_tables_are_scored_as_one_by_one(counts: np.ndarray) -> None:
    def check(name: str) -> None:
        score = resolve_score(name)
        several = np.stack([counts, 2 * counts, counts[::-1]])
        alone = [float(score.rows_score(table, 5, 40.0)) for table in several]
        assert score.rows_score(several, 5, 40.0).tolist() == alone

    check_each(LOCAL_SCORES, check)


def test_a_score_that_adds_over_rows_says_so(counts: np.ndarray) -> None:
    def check(name: str) -> None:
        score = resolve_score(name)
        apart = sum(score.rows_score(row[None], 1, 40.0) for row in counts)
        whole = score.rows_score(counts, 5, 40.0)
        assert score.adds_over_rows == (apart == pytest.approx(whole))

    check_each(LOCAL_SCORES, check)


def test_only_mdl_charges_for_the_shape() -> None:
    def check(name: str) -> None:
        assert shape_scores(resolve_score(name)) == [0.0] * 6

    check_each([n for n in LOCAL_SCORES if n != "mdl"], check)


def test_mdl_charges_for_the_shape_as_printed() -> None:
    bits = [3 * math.log2(10), math.log2(4 * 26), 1, 1 + math.log2(6), 3, 0]
    assert shape_scores(MDL()) == pytest.approx([-number for number in bits])
    assert shape_scores(MDL(0.25)) == pytest.approx([-b / 4 for b in bits])


def shape_scores(score: LocalScore) -> list[float]:
    return [
        score.parents_score(3, 10),
        score.cuts_score([4, 26]),
        score.leaf_score(),
        score.split_score(6),
        score.merge_score(8),
        score.parents_score(0, 0),
    ]


def test_no_weight_at_all_scores_zero() -> None:
    nothing = np.zeros((2, 3))
    assert MDL().rows_score(nothing, 2, 0.0) == 0.0


def test_the_weight_of_the_penalty_leaves_the_data_alone(counts: np.ndarray) -> None:
    free = MDL(0.0).rows_score(counts, 5, 40.0)
    assert free == pytest.approx(log_likelihood(counts) / math.log(2))
    half = MDL(0.5).rows_score(counts, 5, 40.0)
    assert half == pytest.approx((free + MDL().rows_score(counts, 5, 40.0)) / 2)


def test_a_bad_setting_is_named() -> None:
    def check(case: tuple[Callable[[], object], str]) -> None:
        make, message = case
        with pytest.raises(ValueError, match=message):
            make()

    check_each(
        [
            (lambda: resolve_score("loglik"), "local_score must be one of mdl, bic"),
            (lambda: MDL(-1.0), "penalty_weight must be a finite number of at least 0"),
            (lambda: MDL(math.nan), "penalty_weight must be"),
            (lambda: BDeu(0.0), "equivalent_sample_size must be"),
            (
                lambda: resolve_score("bic", penalty_weight=2.0),
                "'bic' does not look at penalty_weight; leave it out, or take mdl",
            ),
            (
                lambda: resolve_score(MDL(), equivalent_sample_size=2.0),
                "does not look at equivalent_sample_size; leave it out, or take bdeu",
            ),
        ],
        check,
    )


def test_a_score_stands_for_itself_and_settings_arrive() -> None:
    score = BDeu(3.0)
    assert resolve_score(score) is score
    assert resolve_score("bdeu", equivalent_sample_size=3.0) == score
    assert resolve_score("mdl", penalty_weight=0.25) == MDL(0.25)


def test_what_is_no_score_is_named() -> None:
    with pytest.raises(TypeError, match="local_score must be a name or a LocalScore"):
        resolve_score(3)


def test_every_score_is_named_where_users_choose_one() -> None:
    guide = Path(__file__).parents[2] / "docs" / "structure-learning.md"
    places = {
        "BayesianNetworkEstimator": BayesianNetworkEstimator.__doc__,
        "NamedGraph.score": NamedGraph.score.__doc__,
        "resolve_score": resolve_score.__doc__,
        "docs/structure-learning.md": guide.read_text(encoding="utf-8"),
    }

    def check(name: str) -> None:
        lacking = [place for place, text in places.items() if f'"{name}"' not in text]
        assert not lacking, f"add its name to {lacking}"

    check_each(LOCAL_SCORES, check)
