"""Mixtures within classes by expectation maximisation."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from bayleaf.cpds.smoothing import (
    Backoff,
    Dirichlet,
    Lidstone,
    MaximumLikelihood,
    MEstimate,
    Smoothing,
)
from bayleaf.data.codes import Codes
from bayleaf.latent.expectation_maximisation import EMOptions
from bayleaf.latent.latent_class_em import LatentClassFit, learn_latent_class
from offenders import check_each
from oracles.coded_tables import random_codes
from property.for_all import for_all

incomplete_codes = partial(random_codes, (3, 2, 4, 2), missing=0.15)

RULES: list[Smoothing] = [
    Lidstone(1.0),
    Lidstone(0.01),
    Dirichlet(2.0),
    MEstimate(3.0),
    Backoff(1.5),
]


def _expected_counts(codes: Codes, fit: LatentClassFit) -> tuple[list[Any], Any, float]:
    """Expected counts of each table and the log-likelihood, row by row."""
    counts = [np.zeros_like(table) for table in fit.tables]
    component_counts = np.zeros_like(fit.weights)
    log_likelihood = 0.0
    for row in range(codes.n_rows):
        own = int(codes.column(codes.n_variables - 1)[row])
        joint = fit.weights[own].copy()
        states = [int(codes.column(k)[row]) for k in range(len(fit.tables))]
        for state, table in zip(states, fit.tables, strict=True):
            if state < table.shape[2]:
                joint = joint * table[own, :, state]
        weight = float(codes.weights[row])
        log_likelihood += weight * math.log(joint.sum())
        shares = weight * joint / joint.sum()
        component_counts[own] += shares
        for state, count in zip(states, counts, strict=True):
            if state < count.shape[2]:
                count[own, :, state] += shares
    return counts, component_counts, log_likelihood


def _bits(fit: LatentClassFit) -> bytes:
    return b"".join(table.tobytes() for table in (fit.weights, *fit.tables))


@for_all(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 30),
    cards=st.lists(st.integers(1, 4), min_size=2, max_size=5).map(tuple),
    missing=st.sampled_from([0.0, 0.2, 0.9]),
    n_components=st.integers(1, 4),
    rule=st.sampled_from(RULES),
    few=20,
    many=60,
)
def test_the_objective_never_falls(
    seed: int,
    n_rows: int,
    cards: tuple[int, ...],
    missing: float,
    n_components: int,
    rule: Smoothing,
) -> None:
    codes = random_codes(cards, n_rows, seed, missing=missing, weights="fractions")
    options = EMOptions(n_restarts=1, max_iter=40, tol=0.0)
    fit = learn_latent_class(codes, n_components, rule, options, [seed])
    slack = 1e-12 * max(1.0, abs(fit.objectives[0]))
    assert np.diff(fit.objectives).min(initial=0.0) >= -slack
    for table in (fit.weights, *fit.tables):
        np.testing.assert_allclose(table.sum(axis=-1), 1.0, rtol=1e-12)


def test_the_end_is_a_fixed_point_of_a_literal_step() -> None:
    def check(rule: Smoothing) -> None:
        codes = incomplete_codes(40, 3, weights="fractions")
        options = EMOptions(n_restarts=1, max_iter=500, tol=1e-10)
        fit = learn_latent_class(codes, 3, rule, options, [3])
        counts, component_counts, log_likelihood = _expected_counts(codes, fit)
        assert fit.log_likelihood == pytest.approx(log_likelihood, rel=1e-12)
        for count, table in zip(counts, fit.tables, strict=True):
            np.testing.assert_allclose(rule.estimate(count), table, atol=1e-6)
        if isinstance(rule, Lidstone | Dirichlet):
            shares = rule.estimate(component_counts)
            np.testing.assert_allclose(shares, fit.weights, atol=1e-6)

    check_each(RULES, check)


def test_one_component_is_naive_bayes() -> None:
    def check(rule: Smoothing) -> None:
        codes = incomplete_codes(40, 5, weights="fractions")
        fit = learn_latent_class(codes, 1, rule, EMOptions(), [0])
        np.testing.assert_array_equal(fit.weights, 1.0)
        for feature, table in enumerate(fit.tables):
            states, own = codes.column(feature), codes.column(codes.n_variables - 1)
            counts = np.zeros((codes.cards[-1], codes.cards[feature] + 1))
            np.add.at(counts, (own, states), codes.weights)
            expected = rule.estimate(counts[:, :-1])
            np.testing.assert_allclose(table[:, 0], expected, rtol=1e-12)

    check_each([Lidstone(0.7), Dirichlet(2.0), MEstimate(3.0)], check)


def test_components_that_generated_the_rows_are_found() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.random(4000) < 0.3
    columns = [np.where(rng.random(4000) < 0.9, hidden, ~hidden) for _ in range(6)]
    codes = Codes.from_columns(
        [*(c.astype(np.intp) for c in columns), np.zeros(4000, dtype=np.intp)],
        [2] * 6 + [1],
    )
    fit = learn_latent_class(codes, 2, Lidstone(1.0), EMOptions(), [1])
    assert fit.converged
    np.testing.assert_allclose(fit.weights, [[0.7, 0.3]], atol=0.03)
    for table in fit.tables:
        np.testing.assert_allclose(table[0], [[0.9, 0.1], [0.1, 0.9]], atol=0.05)


def test_of_several_starts_the_one_with_the_best_objective_is_kept() -> None:
    codes = incomplete_codes(80, 7, weights="fractions")
    ends = []
    for n_restarts in range(1, 7):
        options = EMOptions(n_restarts=n_restarts)
        fit = learn_latent_class(codes, 3, Lidstone(0.1), options, [7])
        ends.append(fit.objectives[-1])
    assert ends == sorted(ends)
    assert ends[-1] > ends[0]


def test_threads_order_and_repeated_rows_change_no_bit() -> None:
    codes = incomplete_codes(60, 11)
    rule, options = Lidstone(1.0), EMOptions(n_restarts=4)
    expected = _bits(learn_latent_class(codes, 3, rule, options, [2]))
    threaded = learn_latent_class(codes, 3, rule, options, [2], 2)
    assert _bits(threaded) == expected
    order = np.random.default_rng(0).permutation(60)
    assert _bits(learn_latent_class(codes.rows(order), 3, rule, options, [2])) == (
        expected
    )
    twice = Codes.from_blocks(
        codes.narrow, codes.wide, codes.slots, codes.cards, np.full(60, 2.0)
    )
    repeated = codes.rows(np.repeat(np.arange(60), 2))
    assert _bits(learn_latent_class(twice, 3, rule, options, [2])) == _bits(
        learn_latent_class(repeated, 3, rule, options, [2])
    )


def test_the_heaviest_component_of_each_class_comes_first() -> None:
    fit = learn_latent_class(
        incomplete_codes(40, 13), 4, Lidstone(1.0), EMOptions(), [0]
    )
    assert (np.diff(fit.weights, axis=1) <= 0).all()


def test_a_rule_without_a_prior_makes_the_tables_of_the_expected_counts() -> None:
    codes, rule = incomplete_codes(200, 17), MaximumLikelihood()
    options = EMOptions(n_restarts=1, max_iter=500, tol=1e-10)
    climbed = learn_latent_class(codes, 2, Dirichlet(1.0), options, [5])
    fit = learn_latent_class(codes, 2, rule, options, [5])
    counts, component_counts, _ = _expected_counts(codes, climbed)
    np.testing.assert_allclose(fit.weights, rule.estimate(component_counts), rtol=1e-9)
    for table, count in zip(fit.tables, counts, strict=True):
        np.testing.assert_allclose(table, rule.estimate(count), rtol=1e-9)
    log_likelihood = _expected_counts(codes, fit)[2]
    assert fit.log_likelihood == pytest.approx(log_likelihood, rel=1e-12)


def test_climbing_ends_after_the_most_steps() -> None:
    options = EMOptions(n_restarts=1, max_iter=2, tol=0.0)
    fit = learn_latent_class(incomplete_codes(40, 19), 3, Lidstone(1.0), options, [0])
    assert (fit.n_iter, fit.converged) == (2, False)
