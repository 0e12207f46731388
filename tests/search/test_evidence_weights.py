"""Weights of evidence: right gradient, least loss, alike for any number of threads."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

from bayleaf.counts.threads import run_tasks
from bayleaf.search import evidence_team_kernels
from bayleaf.search.evidence_weights import (
    PENALTIES,
    Evidence,
    learn_evidence_weights,
)


def _evidence(n_rows: int = 900, n_threads: int = 1, *, repeats: int = 1) -> Evidence:
    rng = np.random.default_rng(0)
    own = rng.integers(3, size=n_rows)
    values = rng.normal(size=(n_rows, 3, 6))
    # Piece 1 tells of the class, piece 2 repeats it, the others are noise.
    values[np.arange(n_rows), own, 1] += 1.0
    values[:, :, 2] = values[:, :, 1]
    weights = rng.integers(1, 3, n_rows).astype(float)
    return Evidence(
        np.concatenate([values] * repeats).astype(np.float32),
        np.tile(own, repeats),
        np.tile(weights, repeats),
        n_threads,
    )


def test_the_gradient_is_that_of_the_loss() -> None:
    evidence = _evidence(60)
    ranges = [(3, 20), (31, 60)]
    at = np.random.default_rng(1).random(9)
    error = check_grad(
        lambda p: evidence.loss(p, ranges)[0], lambda p: evidence.loss(p, ranges)[1], at
    )
    assert error < 1e-4


@pytest.mark.parametrize("penalty", [0.5, 16.0])
@pytest.mark.parametrize("work", [0.0, np.inf])
def test_the_descent_ends_where_a_general_minimiser_does(
    penalty: float, work: float
) -> None:
    values = _evidence(60).values.copy()
    # Evidence for the wrong class: its weight ends at the bound.
    values[:, :, 3] = -3 * values[:, :, 1]
    evidence = replace(_evidence(60), values=values, work=work)
    ranges = [(0, 20), (25, 60)]
    centre = np.concatenate([[1.0], np.full(5, 0.3), np.zeros(3)])
    pull = np.concatenate([np.full(6, penalty), np.ones(3)])

    def objective(p: Any) -> Any:
        loss, gradient = evidence.loss(p, ranges)
        off = p - centre
        return loss + pull @ off**2 / 2, gradient + pull * off

    bounds = [(0.0, None)] * 6 + [(None, None)] * 3
    expected = minimize(objective, centre, jac=True, bounds=bounds, tol=1e-14)
    found = evidence.descent(ranges, centre, centre, penalty, (200, 1e-15)).lead()
    assert penalty > 1 or expected.x[3] == 0.0
    np.testing.assert_allclose(found, expected.x, atol=2e-4)
    assert objective(found)[0] == pytest.approx(expected.fun, rel=1e-9)


def test_repeated_evidence_shares_one_weight_and_noise_gets_little() -> None:
    found = learn_evidence_weights(_evidence(), 0.5)
    assert found.pieces.min() >= 0
    assert found.pieces[0] == pytest.approx(found.pieces[1], abs=1e-4)
    assert found.pieces[:2].sum() == pytest.approx(1.0, abs=0.25)
    assert found.pieces[2:].max() < 0.2
    assert found.penalty in PENALTIES


def test_the_loss_is_below_that_of_even_weights() -> None:
    evidence = _evidence()
    even = np.concatenate([[1.0], np.full(5, 0.5), np.zeros(3)])
    found = learn_evidence_weights(evidence, 0.5)
    learned = np.concatenate([[found.prior], found.pieces, found.biases])
    whole = [(0, evidence.n_rows)]
    assert evidence.loss(learned, whole)[0] < evidence.loss(even, whole)[0]


def test_threads_change_no_bit() -> None:
    one = learn_evidence_weights(_evidence(2500), 0.5)
    two = learn_evidence_weights(_evidence(2500, n_threads=2), 0.5)
    np.testing.assert_array_equal(one.pieces, two.pieces)
    np.testing.assert_array_equal(one.biases, two.biases)
    assert (one.prior, one.penalty) == (two.prior, two.penalty)


def test_few_rows_are_pulled_towards_the_centre() -> None:
    found = learn_evidence_weights(_evidence(5), 0.5)
    assert found.penalty == PENALTIES[0]
    np.testing.assert_allclose(found.pieces, 0.5, atol=0.1)


def test_a_helping_thread_changes_no_bit() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3000, 3, 40)).astype(np.float32)
    own, weights = rng.integers(3, size=3000), rng.random(3000)
    start = np.concatenate([np.ones(40) / 40, np.zeros(3)])
    found = []
    for n_threads in (1, 2, 2, 2, 4):
        evidence = Evidence(values, own, weights)
        descent = evidence.descent(
            [(0, 700), (1100, 3000)], start, start, 1.0, (60, 1e-9)
        )
        end, _ = run_tasks([descent.lead, descent.help_out], n_threads)
        found.append(end)
    assert not np.array_equal(found[0], start)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_halves_of_the_rows_give_what_all_of_them_give() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(501, 2, 6)).astype(np.float32)
    evidence = Evidence(values, rng.integers(2, size=501), np.ones(501))
    start = np.concatenate([np.ones(6), np.zeros(2)])
    halves, whole = (
        replace(evidence, work=work)
        .descent([(0, 501)], start, start, 1.0, (200, 1e-15))
        .lead()
        for work in (np.inf, 0.0)
    )
    np.testing.assert_allclose(halves, whole, atol=1e-6)


def test_a_descent_that_is_interrupted_lets_its_helper_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evidence = _evidence(3000)
    start = np.concatenate([[1.0], np.full(5, 0.5), np.zeros(3)])
    descent = evidence.descent([(0, 3000)], start, start, 1.0, (60, 1e-9))
    helped = threading.Event()

    def help_out() -> None:
        helped.set()
        descent.help_out()

    def interrupted(*_: object) -> None:
        assert helped.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(evidence_team_kernels, "lead", interrupted)
    # A helper that waits for ever would keep this from coming back.
    with pytest.raises(KeyboardInterrupt):
        run_tasks([descent.lead, help_out], 2)
