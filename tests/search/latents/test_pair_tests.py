"""Pair tests: statistics cell by cell, their laws, and ranks without ties."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest

from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.search.latents.pair_tests import PairRanking, pair_tests, rank_features
from offenders import check_each
from oracles import hnb

CARDS = (2, 3, 4, 1, 2)


def _codes(seed: int, n_rows: int = 200, missing: float = 0.1) -> Codes:
    """Five related features, some cells missing, and three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    cause = rng.integers(4, size=n_rows)
    columns = [
        np.where(
            rng.random(n_rows) < missing,
            card,
            (y * (rng.random(n_rows) < 0.4) + cause + (rng.random(n_rows) < 0.2))
            % card,
        )
        for card in CARDS
    ]
    weights = rng.integers(0, 3, size=n_rows).astype(float)
    return Codes.from_columns([*columns, y], (*CARDS, 3), weights)


def _table(codes: Codes, i: int, j: int) -> np.ndarray:
    table = np.zeros((codes.cards[-1], codes.cards[i], codes.cards[j]))
    for x, y, c, weight in zip(
        codes.column(i), codes.column(j), codes.column(-1), codes.weights
    ):
        if x < codes.cards[i] and y < codes.cards[j]:
            table[c, x, y] += weight
    return table


def test_tests_equal_sums_over_the_cells_of_rows_with_both_values() -> None:
    def check(case: tuple[int, str]) -> None:
        seed, score = case
        codes = _codes(seed)
        (ranking,) = rank_features([RowCounts(codes)], CARDS, 9, score, matched=False)
        slow = {
            "mutual_information": hnb.g2_statistic,
            "expected_kl": hnb.expected_kl_statistic,
        }[score]
        for i in range(5):
            for j in range(i + 1, 5):
                statistic, freedom, log_p = ranking.test(i, j)
                assert statistic == pytest.approx(slow(_table(codes, i, j)), abs=1e-9)
                n_terms = 3 if score == "mutual_information" else 2
                assert freedom == n_terms * (CARDS[i] - 1) * (CARDS[j] - 1)
                if freedom:
                    exact = float(hnb.negative_log_p(statistic, int(freedom)))
                    assert log_p == pytest.approx(exact, rel=1e-11)

    check_each(
        itertools.product(range(5), ["mutual_information", "expected_kl"]), check
    )


def test_a_variable_with_one_state_shows_no_dependence() -> None:
    codes = _codes(0)
    (ranking,) = rank_features(
        [RowCounts(codes)], CARDS, 9, "mutual_information", matched=False
    )
    assert [ranking.test(*sorted((3, j)))[2] for j in (0, 1, 2, 4)] == [0.0] * 4


def test_the_matched_law_has_the_moments_of_the_quadratic_form() -> None:
    def check(seed: int) -> None:
        codes = _codes(seed, missing=0.0)
        table = _table(codes, 1, 2)
        dense = np.zeros((3, 4, 5))
        dense[:, :3, :4] = table
        found = pair_tests(dense, [3], [4], "expected_kl", matched=True)
        mean, variance = hnb.quadratic_form_moments(table)
        assert found[1, 0, 0] == pytest.approx(2 * mean**2 / variance)
        scaled = found[0, 0, 0] * 2 * mean / variance
        from scipy.stats import chi2

        exact = -chi2.logsf(scaled, found[1, 0, 0])
        assert found[2, 0, 0] == pytest.approx(exact)

    check_each(range(5), check)


def test_the_matched_law_rejects_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    left = np.array([[0.8, 0.2], [0.2, 0.8]])
    right = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    joint = 0.5 * left[:, :, None] * right[:, None, :]
    n_draws, rejected = 2000, {True: 0, False: 0}
    for draw in rng.multinomial(1000, joint.ravel(), size=n_draws):
        dense = np.zeros((2, 3, 4))
        dense[:, :2, :3] = draw.reshape(2, 2, 3)
        for matched in rejected:
            tests = pair_tests(dense, [2], [3], "expected_kl", matched=matched)
            rejected[matched] += tests[2, 0, 0] > -np.log(0.05)
    assert 0.035 < rejected[True] / n_draws < 0.065
    assert rejected[False] / n_draws > 0.07


def test_parts_are_left_out_of_their_rankings() -> None:
    codes = _codes(3)
    parts = np.arange(200) % 4
    sources = [RowCounts(codes.rows(parts == k)) for k in range(4)]
    rankings = rank_features(sources, CARDS, 9, "expected_kl", matched=False)
    for k, ranking in enumerate(rankings):
        rest = _table(codes.rows(parts != k), 0, 2)
        exact = hnb.expected_kl_statistic(rest)
        assert ranking.test(0, 2)[0] == pytest.approx(exact, abs=1e-9)


def test_blocks_of_features_give_the_same_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = RowCounts(_codes(1))
    whole = rank_features([source], CARDS, 5, "expected_kl", matched=True)[0]
    monkeypatch.setattr("bayleaf.counts.information._BLOCK_CELLS", 200)
    parted = rank_features([source], CARDS, 5, "expected_kl", matched=True)[0]
    for i in range(5):
        for j in range(i + 1, 5):
            assert parted.test(i, j) == pytest.approx(whole.test(i, j), abs=1e-12)


def test_a_million_rows_are_ranked_as_in_sixty_digits() -> None:
    rng = np.random.default_rng(0)
    n, cards = 12, [3] * 12
    dense = np.zeros((3, 48, 48))
    shares = rng.dirichlet(np.ones(27), size=(n, n))
    for i in range(n):
        for j in range(n):
            table = rng.multinomial(1_000_000, shares[i, j]).reshape(3, 3, 3)
            dense[:, 4 * i : 4 * i + 3, 4 * j : 4 * j + 3] = table
    tests = pair_tests(dense, cards, cards, "mutual_information", triangle=True)
    ranking = PairRanking(n)
    ranking.add(range(n), range(n), tests)
    found = ranking.ranked(range(n), np.ones((n, n), dtype=bool))
    exact = {
        pair: hnb.negative_log_p(
            hnb.g2_statistic(
                dense[
                    :,
                    4 * pair[0] : 4 * pair[0] + 3,
                    4 * pair[1] : 4 * pair[1] + 3,
                ]
            ),
            12,
        )
        for pair in found
    }
    assert min(exact.values()) > 10_000
    assert found == sorted(found, key=lambda pair: -exact[pair])
    assert len(set(exact.values())) == len(found) == 66


def test_equal_tests_rank_in_the_order_of_nodes() -> None:
    rng = np.random.default_rng(0)
    column, y = rng.integers(3, size=300), rng.integers(2, size=300)
    # Renaming the states of a variable shuffles the sums of its tables.
    renamed = [np.array(order)[column] for order in ((2, 1, 0), (1, 2, 0), (0, 1, 2))]
    source = RowCounts(Codes.from_columns([*renamed, y], (3, 3, 3, 2)))
    for score in ("mutual_information", "expected_kl"):
        (ranking,) = rank_features([source], (3, 3, 3), 3, score, matched=False)
        pairs = ranking.ranked(range(3), np.ones((3, 3), dtype=bool))
        assert pairs == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.slow
def test_a_million_rows_of_game_positions_are_ranked_as_exact_arithmetic_does() -> None:
    codes = _game_positions(1_000_000)
    n_cells = codes.n_variables - 1
    (ranking,) = rank_features(
        [RowCounts(codes)],
        codes.cards[:-1],
        n_cells,
        "mutual_information",
        matched=False,
    )
    pairs = list(itertools.combinations(range(n_cells), 2))
    families = [(n_cells, i, j) for i, j in pairs]
    tables = RowCounts(codes).family_counts(families)
    with mpmath.workdps(50):
        exact = [_exact_negative_log_p(table) for table in tables]
        order = sorted(range(len(pairs)), key=lambda place: -exact[place])
    found = [ranking.test(i, j)[2] for i, j in pairs]
    # Most of these underflow as probabilities.
    assert sum(value > 745 for value in found) > len(found) / 2
    assert len(set(found)) == len(found)
    assert sorted(range(len(pairs)), key=lambda place: -found[place]) == order
    np.testing.assert_allclose(found, [float(value) for value in exact], rtol=1e-9)


def _game_positions(n_rows: int) -> Codes:
    """Columns of a board filled from below by two players; three outcomes."""
    rng = np.random.default_rng(4)
    heights = rng.integers(0, 4, size=(4, n_rows))
    board = []
    for column in range(4):
        for height in range(3):
            stone = 1 + rng.integers(2, size=n_rows)
            if board:
                copied = rng.random(n_rows) < 0.02 * (column + 1)
                stone = np.where(copied, np.maximum(board[-1], 1), stone)
            board.append(np.where(heights[column] > height, stone, 0))
    lead = sum((cell == 1).astype(int) - (cell == 2) for cell in board)
    outcome = np.digitize(lead + rng.normal(size=n_rows), [-0.5, 0.5])
    return Codes.from_columns([*board, outcome], [3] * 13)


def _exact_negative_log_p(table: np.ndarray) -> mpmath.mpf:
    """-ln P(chi-squared >= G²) with many digits, from whole counts."""

    def term(count: float) -> mpmath.mpf:
        return mpmath.mpf(int(count)) * mpmath.log(int(count)) if count else 0

    def terms(counts: np.ndarray) -> mpmath.mpf:
        return mpmath.fsum(term(count) for count in counts.ravel().tolist())

    margins = terms(table.sum(axis=1)) + terms(table.sum(axis=2))
    statistic = 2 * (terms(table) + terms(table.sum(axis=(1, 2))) - margins)
    shape = mpmath.mpf(3 * 2 * 2) / 2
    # For a whole shape the survival function is a finite sum.
    x = statistic / 2
    powers = [x**k / mpmath.factorial(k) for k in range(int(shape))]
    return x - mpmath.log(mpmath.fsum(powers))
