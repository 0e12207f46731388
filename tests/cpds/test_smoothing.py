"""Smoothing rules by hand, as exact fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from bayleaf import NaiveBayesClassifier
from bayleaf.cpds.smoothing import (
    Backoff,
    Dirichlet,
    FixedDistribution,
    Lidstone,
    MarginalPreserving,
    MaximumLikelihood,
    MEstimate,
    resolve_smoothing,
)
from offenders import check_each

F = Fraction
# Axes: a parent of two states (the class), a second parent of two, a child of three.
COUNTS = np.array([[[4, 0, 1], [0, 0, 0]], [[0, 3, 0], [1, 1, 2]]], dtype=float)
PROPER = [Lidstone(0.5), Dirichlet(2.0), MEstimate(3.0), Backoff(2.0)]


def _floats(fractions: Any) -> list[Any]:
    return np.array(fractions, dtype=object).astype(float).tolist()


def test_lidstone_adds_alpha_to_every_cell() -> None:
    expected = [
        [[F(9, 13), F(1, 13), F(3, 13)], [F(1, 3)] * 3],
        [[F(1, 9), F(7, 9), F(1, 9)], [F(3, 11), F(3, 11), F(5, 11)]],
    ]
    np.testing.assert_allclose(
        Lidstone(0.5).estimate(COUNTS), _floats(expected), rtol=1e-15
    )


def test_dirichlet_spreads_its_weight_over_the_states() -> None:
    expected = [
        [[F(14, 21), F(2, 21), F(5, 21)], [F(1, 3)] * 3],
        [[F(2, 15), F(11, 15), F(2, 15)], [F(5, 18), F(5, 18), F(8, 18)]],
    ]
    np.testing.assert_allclose(
        Dirichlet(2.0).estimate(COUNTS), _floats(expected), rtol=1e-15
    )


def test_dirichlet_of_weight_n_states_is_laplace() -> None:
    np.testing.assert_array_equal(
        Dirichlet(3.0).estimate(COUNTS), Lidstone(1.0).estimate(COUNTS)
    )


def test_m_estimate_pulls_towards_the_marginal() -> None:
    # The marginal of the child is 5/12, 4/12, 3/12.
    prior = [F(5, 12), F(4, 12), F(3, 12)]
    expected = [
        [[(n + 3 * p) / (sum(row) + 3) for n, p in zip(row, prior)] for row in block]
        for block in COUNTS.astype(int).tolist()
    ]
    np.testing.assert_allclose(
        MEstimate(3.0).estimate(COUNTS), _floats(expected), rtol=1e-15
    )


def test_backoff_pulls_towards_the_table_without_its_last_parent() -> None:
    third = F(1, 3)
    by_class = [
        [(n + 2 * third) / (total + 2) for n in row]
        for row, total in (((4, 0, 1), 5), ((1, 4, 2), 7))
    ]
    expected = [
        [[(n + 2 * p) / (sum(row) + 2) for n, p in zip(row, prior)] for row in block]
        for block, prior in zip(COUNTS.astype(int).tolist(), by_class, strict=True)
    ]
    np.testing.assert_allclose(
        Backoff(2.0).estimate(COUNTS), _floats(expected), rtol=1e-15
    )


def test_backoff_of_a_class_distribution_is_dirichlet() -> None:
    for counts in (COUNTS[0, 0], COUNTS.sum(axis=1)):
        np.testing.assert_allclose(
            Backoff(2.0).estimate(counts), Dirichlet(2.0).estimate(counts), rtol=1e-15
        )


def test_maximum_likelihood_gives_proportions_and_a_floor() -> None:
    floor = F(1, 4) / 12
    expected = [
        [[F(4, 5), floor, F(1, 5)], [F(1, 3)] * 3],
        [[floor, F(1), floor], [F(1, 4), F(1, 4), F(1, 2)]],
    ]
    np.testing.assert_allclose(
        MaximumLikelihood(0.25).estimate(COUNTS), _floats(expected), rtol=1e-15
    )


def test_maximum_likelihood_without_a_floor_gives_exact_proportions() -> None:
    expected = [
        [[F(4, 5), F(0), F(1, 5)], [F(1, 3)] * 3],
        [[F(0), F(1), F(0)], [F(1, 4), F(1, 4), F(1, 2)]],
    ]
    np.testing.assert_allclose(
        MaximumLikelihood(floor=0).estimate(COUNTS), _floats(expected), rtol=1e-15
    )


def test_without_counts_every_distribution_is_uniform() -> None:
    def check(rule: Any) -> None:
        np.testing.assert_allclose(rule.estimate(np.zeros((2, 4))), 0.25, rtol=1e-15)

    check_each([*PROPER, MaximumLikelihood()], check, repr)


def test_a_child_without_states_has_an_empty_table() -> None:
    def check(rule: Any) -> None:
        assert rule.estimate(np.zeros((2, 0))).shape == (2, 0)

    check_each([*PROPER, MaximumLikelihood()], check, repr)


def test_counts_stay_as_they_are() -> None:
    def check(rule: Any) -> None:
        counts = COUNTS.copy()
        counts.setflags(write=False)
        rule.estimate(counts)
        np.testing.assert_array_equal(counts, COUNTS)

    check_each([*PROPER, MaximumLikelihood()], check, repr)


@pytest.mark.parametrize("rule", PROPER, ids=repr)
@settings(max_examples=25)
@given(data=st.data())
def test_distributions_are_positive_and_sum_to_one(
    rule: Any, data: st.DataObject
) -> None:
    shape = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    size = int(np.prod(shape))
    cells = st.one_of(st.integers(0, 5), st.floats(0, 1e6))
    counts = data.draw(st.lists(cells, min_size=size, max_size=size))
    estimated = rule.estimate(np.array(counts, dtype=float).reshape(shape))
    np.testing.assert_allclose(estimated.sum(axis=-1), 1.0, rtol=1e-12)
    assert (estimated >= 0).all()


def test_reordering_states_reorders_probabilities() -> None:
    def check(rule: Any) -> None:
        order = [2, 0, 1]
        np.testing.assert_allclose(
            rule.estimate(COUNTS[..., order]),
            rule.estimate(COUNTS)[..., order],
            rtol=1e-15,
        )

    check_each([*PROPER, MaximumLikelihood(0.25)], check, repr)


def test_a_strength_that_is_no_positive_number_is_refused() -> None:
    def check(case: tuple[tuple[Any, str], Any]) -> None:
        (rule, parameter), value = case
        least = ">= 0" if rule is MaximumLikelihood else "> 0"
        with pytest.raises(
            ValueError, match=rf"^{parameter} must be a number {least}, got"
        ):
            rule(-1e-9 if rule is MaximumLikelihood and value == 0 else value)

    check_each(
        itertools.product(
            [
                (Lidstone, "alpha"),
                (Dirichlet, "equivalent_sample_size"),
                (MEstimate, "m"),
                (Backoff, "m"),
                (MaximumLikelihood, "floor"),
            ],
            [0, -1.0, float("nan"), float("inf"), "1", None, [1.0]],
        ),
        check,
    )


def test_numbers_of_numpy_are_strengths() -> None:
    def check(value: Any) -> None:
        found = Lidstone(value).estimate(np.array([1.0, 0.0]))
        np.testing.assert_allclose(found.sum(), 1.0)

    check_each([np.float32(0.5), np.int64(2), np.float64(0.5)], check)


def test_rules_have_names() -> None:
    def check(case: tuple[str, Any]) -> None:
        name, rule = case
        assert resolve_smoothing(name) == rule

    check_each(
        [
            ("laplace", Lidstone(1.0)),
            ("dirichlet", Dirichlet(1.0)),
            ("m_estimate", MEstimate(5.0)),
            ("backoff", Backoff(1.0)),
            ("marginal", MarginalPreserving()),
            ("maximum_likelihood", MaximumLikelihood(1e-6)),
        ],
        check,
    )


def test_a_rule_stands_for_itself() -> None:
    rule = Lidstone(0.1)
    assert resolve_smoothing(rule) is rule


def test_an_unknown_name_is_answered_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"one of laplace, dirichlet,.*got 'laplac'"):
        resolve_smoothing("laplac")


def test_what_is_no_rule_is_refused() -> None:
    def check(value: Any) -> None:
        with pytest.raises(TypeError, match=r"smoothing must be a name \(laplace"):
            resolve_smoothing(value)

    check_each([None, 1.0, Lidstone], check)


def sparse_counts(n_tables: int = 400) -> np.ndarray:
    """Few rows for each of many parents' states, more for some."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.array([60.0, 20.0, 1.0, 0.1]), (n_tables // 20, 20))
    rows = rng.geometric(0.05, shares.shape[:2])
    return rng.multinomial(rows, shares).astype(float)


def test_a_marginal_is_preserved_to_less_than_a_row() -> None:
    counts = sparse_counts()
    found = MarginalPreserving().estimate(counts)
    np.testing.assert_allclose(found.sum(axis=-1), 1.0)
    rows = counts.sum(axis=-1, keepdims=True)
    expected = counts.sum(axis=(0, 1))
    assert np.abs((rows * found).sum(axis=(0, 1)) - expected).max() < 1.0
    shifted = (rows * Lidstone(1.0).estimate(counts)).sum(axis=(0, 1))
    assert np.abs(shifted - expected).max() > 100.0


def test_the_priors_weight_is_that_of_the_most_probable_left_out_rows() -> None:
    counts = sparse_counts(40)
    floor = 1.0 / (counts.sum() + 1.0)

    def fixed(table: np.ndarray, weight: float) -> np.ndarray:
        rows = table.sum(axis=-1, keepdims=True)
        sums = (table / (rows + weight)).reshape(-1, 4).sum(axis=0)
        mean = (1 - floor) * sums / sums.sum() + floor / 4
        return (table + weight * mean) / (rows + weight)

    def left_out(weight: float) -> float:
        total = 0.0
        for place in zip(*np.nonzero(counts), strict=True):
            fewer = counts.copy()
            fewer[place] -= 1.0
            total += counts[place] * np.log(fixed(fewer, weight)[place])
        return total

    best = max((2.0**k for k in range(-3, 11)), key=left_out)
    np.testing.assert_allclose(
        MarginalPreserving().estimate(counts), fixed(counts, best)
    )


def test_a_marginal_preserving_rule_without_parents_or_rows_is_nearly_even() -> None:
    rule = MarginalPreserving(2.0)
    assert rule.estimate(np.array([3.0, 1.0])).tolist() == [4 / 6, 2 / 6]
    assert (rule.estimate(np.zeros((2, 4))) == 0.25).all()
    assert np.isfinite(rule.estimate(np.array([[1.0, 0.0], [0.0, 0.0]]))).all()
    with pytest.raises(ValueError, match="floor_rows must be a number > 0"):
        MarginalPreserving(0)


def test_a_fixed_distribution_looks_at_no_counts() -> None:
    rule = FixedDistribution(np.array([0.3, 0.7]))
    found = rule.estimate(np.array([[5.0, 0.0], [0.0, 9.0]]))
    np.testing.assert_array_equal(found, [[0.3, 0.7], [0.3, 0.7]])


def test_parameters_of_a_rule_are_those_of_its_estimator() -> None:
    rule = Lidstone(0.5)
    model = NaiveBayesClassifier(smoothing=rule)
    assert model.get_params()["smoothing__alpha"] == 0.5
    assert model.set_params(smoothing__alpha=0.25).smoothing == Lidstone(0.25)
    assert rule.alpha == 0.5
    named = clone(NaiveBayesClassifier()).set_params(smoothing__alpha=2.0)
    assert named.smoothing == Lidstone(2.0)
    both = named.set_params(smoothing="backoff", smoothing__m=3.0)
    assert clone(both).smoothing == Backoff(3.0)
    with pytest.raises(ValueError, match="no parameter 'alpha'; its parameters are m"):
        both.set_params(smoothing__alpha=1.0)
