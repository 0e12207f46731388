from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency, entropy

from bayleaf.counts.count_tables import IncrementalCounts
from bayleaf.counts.information import (
    LogTerms,
    _log_upper_gamma,
    class_and_pair_information,
    conditional_mutual_information,
    conditional_mutual_information_matrix,
    g2,
    mutual_information,
    mutual_information_of_table,
    negative_log_p,
)
from bayleaf.counts.pairs import PairCounts
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from offenders import check_each
from oracles import counting
from oracles.hnb import negative_log_p as exact_negative_log_p

TABLES = {
    "booleans": counting.random_codes([2] * 10 + [3], 150, seed=1),
    "states": counting.random_codes([2, 3, 5, 4, 2], 200, seed=2),
    "missing cells": counting.random_codes([2, 3, 5, 4, 2], 200, missing=0.2, seed=3),
    "some missing": counting.random_codes([2, 3, 5, 4, 2], 200, missing=0.004, seed=4),
    "whole weights": counting.random_codes([2, 3, 5, 2], 200, weights="whole", seed=5),
    "weights": counting.random_codes(
        [2, 3, 5, 2], 200, missing=0.1, weights="fractional", seed=6
    ),
    "wide": counting.random_codes([300, 3, 5, 2, 2], 300, missing=0.01, seed=7),
    "one class": counting.random_codes([3, 2, 3, 1], 100, seed=8),
    "one state": counting.random_codes([1, 2, 1, 2], 100, seed=9),
    "two rows": counting.random_codes([2, 2, 2], 2, seed=10),
    "no rows": counting.random_codes([2, 3, 2], 0),
    "no features": counting.random_codes([2], 10),
    "one feature": counting.random_codes([2, 2], 10),
}
# Counts beyond those whose logarithms are looked up, with weights of a byte and more.
for name, weight in (("large counts", 250.0), ("larger counts", 2e6)):
    few = counting.random_codes([2, 2, 3, 2], 800, seed=16)
    columns = [few.column(i) for i in range(4)]
    TABLES[name] = Codes.from_columns(columns, few.cards, np.full(800, weight))


def expected_matrix(codes: Codes) -> np.ndarray:
    """I(X;Y|C) of all pairs, from tables counted row by row."""
    n_features = codes.n_variables - 1
    information = np.zeros((n_features, n_features))
    for i in range(n_features):
        for j in range(i):
            table = counting.dense_pair(codes, i, j)[:, :-1, :-1].transpose(1, 2, 0)
            value = counting.conditional_mutual_information(table)
            information[i, j] = information[j, i] = value
    return information


def test_conditional_information_equals_the_definition(engine: str) -> None:
    def check(table: str) -> None:
        codes = TABLES[table]
        information = conditional_mutual_information_matrix(RowCounts(codes))
        np.testing.assert_allclose(
            information, expected_matrix(codes), rtol=0, atol=1e-13
        )

    check_each(TABLES, check)


def test_conditional_information_in_blocks_equals_the_definition(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(table: str) -> None:
        codes = TABLES[table]
        monkeypatch.setattr("bayleaf.counts.information._BLOCK_CELLS", 80)
        information = conditional_mutual_information_matrix(RowCounts(codes))
        np.testing.assert_allclose(
            information, expected_matrix(codes), rtol=0, atol=1e-13
        )

    check_each(TABLES, check)


def test_mutual_information_equals_the_definition(engine: str) -> None:
    def check(table: str) -> None:
        codes = TABLES[table]
        class_index = codes.n_variables - 1
        expected = [
            counting.conditional_mutual_information(
                counting.family_counts(codes, (i, class_index))[:, :, None]
            )
            for i in range(class_index)
        ]
        information = mutual_information(RowCounts(codes))
        np.testing.assert_allclose(information, expected, rtol=0, atol=1e-13)

    check_each(TABLES, check)


@pytest.mark.parametrize("weights", ["unit", "whole"])
def test_engines_agree_bit_for_bit(
    use_engine: Callable[[str], None], weights: str
) -> None:
    codes = counting.random_codes(
        [2, 2, 3, 5, 9, 2], 500, missing=0.05, weights=weights, seed=11
    )
    matrices = []
    for engine in ("planes", "keys"):
        use_engine(engine)
        matrices.append(conditional_mutual_information_matrix(RowCounts(codes)))
    np.testing.assert_array_equal(matrices[0], matrices[1])


@pytest.mark.usefixtures("eager_threads")
def test_threads_agree_bit_for_bit(engine: str) -> None:
    codes = counting.random_codes([2, 2, 3, 5, 9, 2] * 3 + [2], 500, seed=12)
    one = conditional_mutual_information_matrix(RowCounts(codes))
    three = conditional_mutual_information_matrix(RowCounts(codes, n_jobs=3))
    np.testing.assert_array_equal(one, three)


def test_renaming_states_changes_no_bit(engine: str) -> None:
    codes = counting.random_codes([5, 4, 2, 7, 3], 900, seed=13)
    columns = [codes.column(i) for i in range(5)]
    turned = [
        card - 1 - column for card, column in zip(codes.cards, columns, strict=True)
    ]
    renamed = Codes.from_columns(turned, codes.cards)
    for measure in (mutual_information, conditional_mutual_information_matrix):
        np.testing.assert_array_equal(
            measure(RowCounts(codes)), measure(RowCounts(renamed))
        )


def test_a_negated_copy_ties_with_the_original(engine: str) -> None:
    codes = counting.random_codes([2, 3, 2], 333, seed=14)
    x, y, c = (codes.column(i) for i in range(3))
    source = RowCounts(Codes.from_columns([x, 1 - x, y, c], [2, 2, 3, 2]))
    information = conditional_mutual_information_matrix(source)
    assert information[0, 2] == information[1, 2]
    assert information[0, 2] > 0


def test_stored_counts_give_the_same_information(engine: str) -> None:
    codes = counting.random_codes([2, 3, 5, 4, 2], 200, missing=0.2, seed=15)
    first = RowCounts(codes.rows(slice(0, 90)))
    pairs = first.pair_counts(range(4), range(4)).dense()
    stored = IncrementalCounts(RowCounts(codes))
    assert pairs.sum() < stored.pair_counts(range(4), range(4)).dense().sum()
    np.testing.assert_array_equal(
        conditional_mutual_information_matrix(stored),
        conditional_mutual_information_matrix(RowCounts(codes)),
    )


class CompletedCounts(RowCounts):
    """Rows whose counts of pairs list all states, as those of stored tables do."""

    def pair_counts(self, left: Sequence[int], right: Sequence[int]) -> PairCounts:
        dense = super().pair_counts(left, right).dense()
        return PairCounts.from_dense(tuple(left), tuple(right), self.cards, dense)


def test_counts_of_pairs_give_the_same_information_on_the_class(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayleaf.counts.information._BLOCK_CELLS", 300)

    def check(table: str) -> None:
        codes = TABLES[table]
        expected = mutual_information(RowCounts(codes))
        for source in (RowCounts(codes), CompletedCounts(codes)):
            relevance, _ = class_and_pair_information(source)
            np.testing.assert_array_equal(relevance, expected)

    check_each(TABLES, check)


def test_the_information_of_many_states_is_accurate(engine: str) -> None:
    codes = counting.random_codes([200, 250, 2], 3000, seed=16)
    table = counting.dense_pair(codes, 0, 1)[:, :-1, :-1].transpose(1, 2, 0)
    information = conditional_mutual_information_matrix(RowCounts(codes))
    expected = counting.conditional_mutual_information(table)
    assert information[0, 1] == pytest.approx(expected, abs=1e-13, rel=0)


def test_counts_beyond_the_table_of_logarithms_are_accurate(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayleaf.counts.information._LOGS", 10)
    codes = TABLES["missing cells"]
    information = conditional_mutual_information_matrix(RowCounts(codes))
    np.testing.assert_allclose(information, expected_matrix(codes), rtol=0, atol=1e-13)


def test_terms_of_any_total_fit_and_keep_their_precision() -> None:
    def check(total: float) -> None:
        terms = LogTerms.up_to(total)
        halves = terms.of(np.array([total / 2, total / 2, total]))
        information = terms.shares(halves[2:] - halves[:1] - halves[1:2], total)
        assert information[0] == pytest.approx(math.log(2), rel=1e-13)

    check_each([1e-250, 1e-9, 1.0, 7.0, 1e6, 2e9, 1e15], check)


def test_weights_next_to_nothing_hold_no_information_worth_a_number() -> None:
    terms = LogTerms.up_to(5e-324)
    assert np.isfinite(terms.shares(terms.of(np.array([5e-324])), 5e-324)).all()


def test_no_weight_holds_no_information() -> None:
    terms = LogTerms.up_to(0.0)
    assert terms.shares(terms.of(np.zeros(1)), 0.0).tolist() == [0.0]


@pytest.mark.parametrize("shape", [(3, 4, 2), (2, 0, 1)])
def test_empty_tables_hold_no_information(shape: tuple[int, int, int]) -> None:
    empty = np.zeros(shape)
    assert mutual_information_of_table(empty[:, :, 0]) == 0.0
    assert conditional_mutual_information(empty) == 0.0


def test_information_of_a_table_equals_the_definition() -> None:
    counts = np.random.default_rng(0).integers(0, 4, (3, 4, 5)).astype(float)
    assert conditional_mutual_information(counts) == pytest.approx(
        counting.conditional_mutual_information(counts), abs=1e-15
    )


def test_information_given_nothing_is_mutual_information() -> None:
    counts = np.random.default_rng(0).random((3, 4))
    joint = entropy(counts.ravel())
    expected = entropy(counts.sum(0)) + entropy(counts.sum(1)) - joint
    assert mutual_information_of_table(counts) == pytest.approx(expected, abs=1e-15)


def test_independent_variables_tell_nothing() -> None:
    counts = np.outer([1.0, 2.0, 5.0], [4.0, 8.0])
    assert mutual_information_of_table(counts) == pytest.approx(0.0, abs=1e-15)


def test_the_statistic_equals_the_likelihood_ratio_of_a_contingency_table() -> None:
    counts = np.array([[12.0, 5.0, 7.0], [3.0, 9.0, 8.0]])
    expected = chi2_contingency(counts, correction=False, lambda_="log-likelihood")
    test = g2(counts[:, :, None])
    assert test.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert test.degrees_of_freedom == expected.dof
    assert test.negative_log_p == pytest.approx(-np.log(expected.pvalue), rel=1e-12)


def test_the_test_given_a_variable_adds_up_its_strata() -> None:
    counts = np.random.default_rng(0).integers(1, 20, (3, 4, 2)).astype(float)
    strata = [g2(counts[:, :, z : z + 1]) for z in range(2)]
    whole = g2(counts)
    assert whole.statistic == pytest.approx(sum(s.statistic for s in strata))
    assert whole.degrees_of_freedom == sum(s.degrees_of_freedom for s in strata)


def test_states_that_never_occur_count_towards_the_degrees_of_freedom() -> None:
    counts = np.zeros((3, 3, 2))
    counts[0, 0, 0] = 5.0
    assert g2(counts).degrees_of_freedom == 8


def test_an_empty_table_shows_no_dependence() -> None:
    test = g2(np.zeros((2, 3, 2)))
    assert (test.statistic, test.negative_log_p) == (0.0, 0.0)


def test_a_variable_of_one_state_shows_no_dependence() -> None:
    assert g2(np.full((1, 3, 2), 4.0)).negative_log_p == 0.0


def test_a_probability_that_underflows_keeps_its_logarithm() -> None:
    # -ln p to 17 digits, from the incomplete gamma function in 50 digits.
    counts = np.array([[[5000.0], [0.0]], [[0.0], [5000.0]]])
    strong = g2(counts).negative_log_p
    assert 6930 < strong < 6950
    assert negative_log_p(3000.0, 4) == pytest.approx(1492.6861131683665, rel=1e-14)


def test_the_continued_fraction_meets_the_library_where_both_work() -> None:
    def check(freedom: int) -> None:
        exact = -chi2.logsf(1250.0, freedom)
        halves = np.array([freedom / 2]), np.array([625.0])
        fraction = -_log_upper_gamma(*halves)
        assert fraction[0] == pytest.approx(exact, rel=1e-12)

    check_each([1, 2, 7, 50], check)


def test_many_probabilities_at_once_equal_those_in_sixty_digits() -> None:
    statistics = np.array([0.5, 3.0, 40.0, 900.0, 1199.0, 3000.0, 1e5, 2e6])
    freedoms = np.array([1, 2, 9, 30, 4])
    found = negative_log_p(statistics[:, None], freedoms)
    for i, statistic in enumerate(statistics):
        for j, freedom in enumerate(freedoms):
            exact = float(exact_negative_log_p(statistic, int(freedom)))
            assert found[i, j] == pytest.approx(exact, rel=2e-13, abs=1e-15)


def test_probabilities_of_nothing_tested_are_one() -> None:
    found = negative_log_p([0.0, 5.0], [3.0, 0.0])
    assert found.tolist() == [0.0, 0.0]
