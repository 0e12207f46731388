"""Conditional fits climb, keep to their gradient, and stay networks."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds import Lidstone, learn_table_cpds
from bayleaf.data.codes import Codes
from bayleaf.graph.dag import DAG
from bayleaf.latent.conditional_likelihood import (
    ConditionalFit,
    _ConditionalTask,
    fit_conditionally,
)
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each
from property.networks import domain_of

CARDS = [2, 3, 2, 3]
GRAPHS = {
    "naive": DAG(((3,), (3,), (3,), ())),
    "tree": DAG(((3,), (3, 0), (3, 1), ())),
    "full": DAG(((3,), (3, 0), (3, 0, 1), ())),
}


def _rows(seed: int, n_rows: int, holes: float = 0.0) -> Codes:
    """Features of which two repeat each other, so that naive Bayes counts twice."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    first = (rng.random(n_rows) < 0.2 + 0.25 * y).astype(int)
    second = np.where(rng.random(n_rows) < 0.8, first, rng.integers(3, size=n_rows))
    third = np.where(rng.random(n_rows) < 0.7, first, 1 - first)
    columns = [first, second, third]
    for column, card in zip(columns, CARDS):
        column[rng.random(n_rows) < holes] = card
    return Codes.from_columns([*columns, y], CARDS)


def _generative(graph: DAG, codes: Codes) -> BayesianNetwork:
    cpds, _ = learn_table_cpds(RowCounts(codes), graph.families, Lidstone(1.0))
    return BayesianNetwork(domain_of(CARDS), graph, tuple(cpds))


def _fit(graph: DAG, codes: Codes, **options: Any) -> ConditionalFit:
    return fit_conditionally(_generative(graph, codes), codes, **options)


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_the_gradient_equals_finite_differences(holes: float) -> None:
    def check(name: str) -> None:
        codes = _rows(1, 40, holes)
        network = _generative(GRAPHS[name], codes)
        task = _ConditionalTask(network, codes, 0.7, (), None, 10_000)
        point = task.start + np.random.default_rng(0).normal(size=task.start.shape) / 3
        expected = approx_fprime(point, lambda w: task.loss_and_gradient(w)[0], 1e-6)
        found = task.loss_and_gradient(point)[1]
        np.testing.assert_allclose(found, expected, atol=2e-4)

    check_each(GRAPHS, check)


def test_the_classes_become_more_probable_in_a_network_of_the_same_structure() -> None:
    def check(case: tuple[float, str]) -> None:
        holes, name = case
        codes = _rows(2, 300, holes)
        fit = _fit(GRAPHS[name], codes)
        assert fit.after > fit.before
        assert fit.network.dag == GRAPHS[name]
        for cpd in fit.network.cpds:
            np.testing.assert_allclose(cpd.probabilities.sum(axis=-1), 1.0, atol=1e-12)

    check_each(itertools.product([0.0, 0.2], GRAPHS), check)


def test_a_strong_pull_keeps_the_generative_tables() -> None:
    codes = _rows(3, 200)
    start = _generative(GRAPHS["tree"], codes)
    near = fit_conditionally(start, codes, pull=1e9).network
    for found, expected in zip(near.cpds, start.cpds, strict=True):
        np.testing.assert_allclose(
            found.probabilities, expected.probabilities, atol=1e-6
        )


def test_a_weaker_pull_fits_the_training_classes_better() -> None:
    codes = _rows(4, 200)
    fits = [_fit(GRAPHS["naive"], codes, pull=pull).after for pull in (100.0, 1.0, 0.0)]
    assert fits == sorted(fits)
    assert fits[0] < fits[-1]


def test_fixed_tables_stay_as_they_are() -> None:
    codes = _rows(5, 200)
    start = _generative(GRAPHS["naive"], codes)
    fit = fit_conditionally(start, codes, fixed=(3, 0))
    assert fit.network.cpds[3] is start.cpds[3]
    assert fit.network.cpds[0] is start.cpds[0]
    assert (fit.network.cpds[1].probabilities != start.cpds[1].probabilities).any()


def test_a_weight_counts_like_repeated_rows_in_any_order() -> None:
    codes = _rows(6, 30, 0.1)
    weights = np.random.default_rng(6).integers(1, 4, size=30)
    start = _generative(GRAPHS["tree"], codes)
    weighted = replace(codes, weights=weights.astype(float), unit_weights=False)
    order = np.random.default_rng(7).permutation(np.repeat(np.arange(30), weights))
    one = fit_conditionally(start, weighted)
    two = fit_conditionally(start, codes.rows(order))
    assert one.after == two.after
    for found, expected in zip(one.network.cpds, two.network.cpds, strict=True):
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)


def test_tables_with_zeros_are_fitted_where_they_are_not_zero() -> None:
    codes = _rows(8, 100)
    start = _generative(GRAPHS["naive"], codes)
    table = np.array([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]])
    fit = fit_conditionally(start.with_table(2, table), codes)
    assert np.isfinite(fit.after)
    assert fit.after >= fit.before
