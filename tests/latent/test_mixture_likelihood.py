"""The likelihood of mixtures equals its formula, and the gradient its differences."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime

from bayleaf.data.codes import Codes
from bayleaf.latent import mixture_likelihood
from bayleaf.latent.mixture_likelihood import Layout, MixtureLikelihood
from offenders import check_each

Floats = NDArray[np.float64]

CARDS = (2, 3, 4)
N_CLASSES = 3
ARCHITECTURES = [(), (2,), (3, 2), (2, 1, 2)]


def _rows(seed: int, n_rows: int = 25) -> Codes:
    """Random rows with holes and unequal weights, some of them zero."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(card + 1, size=n_rows) for card in CARDS]
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=n_rows)
    classes = rng.integers(N_CLASSES, size=n_rows)
    return Codes.from_columns([*columns, classes], (*CARDS, N_CLASSES), weights)


def _choice(logs: Floats, columns: list[int], codes: Codes, row: int) -> list[float]:
    """Posterior of a naive Bayes classifier, by its formula."""
    offsets = np.cumsum([0, *CARDS])
    joints = []
    for column in columns:
        joint = math.exp(logs[-1, column])
        for feature, card in enumerate(CARDS):
            state = int(codes.column(feature)[row])
            if state < card:
                joint *= math.exp(logs[offsets[feature] + state, column])
        joints.append(joint)
    return [joint / sum(joints) for joint in joints]


def _own_shares(
    logs: Floats, architecture: tuple[int, ...], codes: Codes, row: int
) -> list[float]:
    """Path weight times probability of the true class, of each expert."""
    first, n_nodes = 0, 1
    paths = [1.0]
    for n_outputs in architecture:
        below = []
        for node in range(n_nodes):
            columns = [first + node * n_outputs + j for j in range(n_outputs)]
            gate = _choice(logs, columns, codes, row)
            below += [paths[node] * weight for weight in gate]
        first += n_nodes * n_outputs
        n_nodes *= n_outputs
        paths = below
    found = []
    for node in range(n_nodes):
        columns = [first + node * N_CLASSES + c for c in range(N_CLASSES)]
        classes = _choice(logs, columns, codes, row)
        found.append(paths[node] * classes[int(codes.column(3)[row])])
    return found


def test_the_objective_equals_its_formula() -> None:
    def check(architecture: tuple[int, ...]) -> None:
        codes = _rows(1)
        likelihood = MixtureLikelihood(codes, architecture, 0.7)
        point = likelihood.random_start(1.0, np.random.default_rng(0))
        logs = likelihood.normalized(point)
        expected = 0.7 * logs.sum()
        for row in range(codes.n_rows):
            own = sum(_own_shares(logs, architecture, codes, row))
            expected += codes.weights[row] * math.log(own)
        assert likelihood.objective(point)[0] == pytest.approx(expected, rel=1e-12)

    check_each(ARCHITECTURES, check)


def test_the_gradient_equals_finite_differences() -> None:
    def check(case: tuple[bool, tuple[int, ...]]) -> None:
        naive_experts, architecture = case
        likelihood = MixtureLikelihood(
            _rows(2), architecture, 0.7, naive_experts=naive_experts
        )
        rng = np.random.default_rng(0)
        likelihood.log_own = np.log(rng.random(likelihood.log_own.shape))
        point = likelihood.random_start(1.0, rng)
        slopes = approx_fprime(point, lambda p: likelihood.objective(p)[0], 1e-6)
        np.testing.assert_allclose(likelihood.objective(point)[1], slopes, atol=2e-4)

    check_each(itertools.product([True, False], ARCHITECTURES[1:]), check)


def test_rows_are_shared_by_path_weight_and_own_class() -> None:
    def check(architecture: tuple[int, ...]) -> None:
        likelihood = MixtureLikelihood(_rows(3), architecture, 1.0)
        point = likelihood.random_start(1.0, np.random.default_rng(0))
        logs = likelihood.normalized(point)
        merged = likelihood.codes
        shares = np.array(
            [_own_shares(logs, architecture, merged, r) for r in range(merged.n_rows)]
        )
        np.testing.assert_allclose(
            likelihood.responsibilities(logs),
            shares / shares.sum(axis=1, keepdims=True),
            rtol=1e-12,
        )

    check_each(ARCHITECTURES, check)


def test_experts_of_other_kinds_are_weighed_by_the_gates() -> None:
    codes = _rows(4)
    likelihood = MixtureLikelihood(codes, (2,), 1e-9, naive_experts=False)
    likelihood.log_own = np.log(
        np.random.default_rng(1).random(likelihood.log_own.shape)
    )
    # A gate without opinion takes the mean of both experts.
    point = np.zeros(likelihood.layout.shape).ravel()
    own = np.exp(likelihood.log_own).mean(axis=1)
    expected = likelihood.codes.weights @ np.log(own)
    assert likelihood.objective(point)[0] == pytest.approx(expected, abs=1e-6)


def test_blocks_of_rows_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = MixtureLikelihood(_rows(5), (2, 2), 1.0)
    point = whole.random_start(1.0, np.random.default_rng(0))
    monkeypatch.setattr(mixture_likelihood, "_BLOCK", 7)
    parts = MixtureLikelihood(_rows(5), (2, 2), 1.0)
    np.testing.assert_allclose(
        parts.random_start(1.0, np.random.default_rng(0)), point, rtol=1e-12
    )
    value, gradient = parts.objective(point)
    assert value == pytest.approx(whole.objective(point)[0], rel=1e-12)
    np.testing.assert_allclose(gradient, whole.objective(point)[1], atol=1e-10)


def test_a_start_without_noise_is_naive_bayes_below_undecided_gates() -> None:
    codes = _rows(6)
    likelihood = MixtureLikelihood(codes, (2,), 1.0)
    start = likelihood.random_start(0.0, np.random.default_rng(0))
    gates, experts = likelihood.layout.banks(likelihood.normalized(start))
    np.testing.assert_allclose(gates.log_prior, math.log(0.5))
    np.testing.assert_allclose(gates.log_table[:, 0, 0], gates.log_table[:, 0, 1])
    counts = np.bincount(codes.column(3), codes.weights) / 2 + 1.0
    np.testing.assert_allclose(np.exp(experts.log_prior[0]), counts / counts.sum())
    np.testing.assert_array_equal(experts.log_prior[0], experts.log_prior[1])


def test_banks_hold_distributions() -> None:
    layout = Layout(CARDS, (2, 3, N_CLASSES))
    table = np.random.default_rng(0).normal(size=layout.shape)
    banks = layout.banks(layout.normalized(table))
    assert [bank.log_prior.shape for bank in banks] == [(1, 2), (2, 3), (6, 3)]
    for bank in banks:
        np.testing.assert_allclose(np.exp(bank.log_prior).sum(axis=1), 1.0)
        sums = np.add.reduceat(np.exp(bank.log_table), bank.offsets[:-1], axis=0)
        np.testing.assert_allclose(sums, 1.0)
