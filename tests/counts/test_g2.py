from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from bayleaf.counts import g2 as module
from bayleaf.counts.g2 import g2
from offenders import check_each
from oracles.hnb import negative_log_p as exact_negative_log_p


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
    assert module.negative_log_p(3000.0, 4) == pytest.approx(
        1492.6861131683665, rel=1e-14
    )


def test_the_continued_fraction_meets_the_library_where_both_work() -> None:
    def check(freedom: int) -> None:
        exact = -chi2.logsf(1250.0, freedom)
        halves = np.array([freedom / 2]), np.array([625.0])
        fraction = -module._log_upper_gamma(*halves)
        assert fraction[0] == pytest.approx(exact, rel=1e-12)

    check_each([1, 2, 7, 50], check)


def test_many_probabilities_at_once_equal_those_in_sixty_digits() -> None:
    statistics = np.array([0.5, 3.0, 40.0, 900.0, 1199.0, 3000.0, 1e5, 2e6])
    freedoms = np.array([1, 2, 9, 30, 4])
    found = module.negative_log_p(statistics[:, None], freedoms)
    for i, statistic in enumerate(statistics):
        for j, freedom in enumerate(freedoms):
            exact = float(exact_negative_log_p(statistic, int(freedom)))
            assert found[i, j] == pytest.approx(exact, rel=2e-13, abs=1e-15)


def test_probabilities_of_nothing_tested_are_one() -> None:
    found = module.negative_log_p([0.0, 5.0], [3.0, 0.0])
    assert found.tolist() == [0.0, 0.0]
