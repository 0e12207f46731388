"""Weights of pieces: deepest ones that count for hardly anything get none."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import check_grad, minimize
from scipy.special import logsumexp

from bayleaf.native.search import weights_descents
from bayleaf.search.left_out.component_weights import (
    PENALTIES,
    LogProbabilities,
    fit_component_weights,
    learn_weights,
)
from offenders import check_each
from systems import need
from timing import check_interrupted


def _log_probabilities(
    n_rows: int = 900, n_threads: int = 1, *, repeats: int = 1
) -> LogProbabilities:
    rng = np.random.default_rng(0)
    own = rng.integers(3, size=n_rows)
    values = rng.normal(size=(n_rows, 3, 6))
    # Piece 1 tells of the class, piece 2 repeats it, the others are noise.
    values[np.arange(n_rows), own, 1] += 1.0
    values[:, :, 2] = values[:, :, 1]
    weights = rng.integers(1, 3, n_rows).astype(float)
    return LogProbabilities(
        np.concatenate([values] * repeats).astype(np.float32),
        np.tile(own, repeats),
        np.tile(weights, repeats),
        n_threads,
    )


def test_the_gradient_is_that_of_the_loss() -> None:
    logs = _log_probabilities(60)
    ranges = [(3, 20), (31, 60)]
    at = np.random.default_rng(1).random(9)
    error = check_grad(
        lambda p: logs.loss(p, ranges)[0],
        lambda p: logs.loss(p, ranges)[1],
        at,
    )
    assert error < 1e-4


@pytest.mark.parametrize("penalty", [0.5, 16.0])
def test_the_descent_ends_where_a_general_minimiser_does(penalty: float) -> None:
    values = _log_probabilities(60).values.copy()
    # LogProbabilities for the wrong class: its weight ends at the bound.
    values[:, :, 3] = -3 * values[:, :, 1]
    logs = replace(_log_probabilities(60), values=values)
    ranges = [(0, 20), (25, 60)]
    centre = np.concatenate([[1.0], np.full(5, 0.3), np.zeros(3)])
    pull = np.concatenate([np.full(6, penalty), np.ones(3)])

    def objective(p: Any) -> Any:
        loss, gradient = logs.loss(p, ranges)
        off = p - centre
        return loss + pull @ off**2 / 2, gradient + pull * off

    bounds = [(0.0, None)] * 6 + [(None, None)] * 3
    expected = minimize(objective, centre, jac=True, bounds=bounds, tol=1e-14)
    penalties = np.array([penalty])
    (found,) = logs.descend(ranges, centre[None], centre[None], penalties, (200, 1e-15))
    assert penalty > 1 or expected.x[3] == 0.0
    np.testing.assert_allclose(found, expected.x, atol=2e-4)
    assert objective(found)[0] == pytest.approx(expected.fun, rel=1e-9)


def test_repeated_columns_share_one_weight_and_noise_gets_little() -> None:
    found = learn_weights(_log_probabilities(), np.full(5, 0.5))
    assert found.pieces.min() >= 0
    assert found.pieces[0] == pytest.approx(found.pieces[1], abs=1e-4)
    assert found.pieces[:2].sum() == pytest.approx(1.0, abs=0.25)
    assert found.pieces[2:].max() < 0.2
    assert found.penalty in PENALTIES


def test_the_loss_is_below_that_of_even_weights() -> None:
    logs = _log_probabilities()
    even = np.concatenate([[1.0], np.full(5, 0.5), np.zeros(3)])
    found = learn_weights(logs, np.full(5, 0.5))
    learned = np.concatenate([[found.prior], found.pieces, found.biases])
    whole = [(0, logs.n_rows)]
    assert logs.loss(learned, whole)[0] < logs.loss(even, whole)[0]


def test_threads_change_no_bit() -> None:
    one = learn_weights(_log_probabilities(2500), np.full(5, 0.5))
    two = learn_weights(_log_probabilities(2500, n_threads=2), np.full(5, 0.5))
    np.testing.assert_array_equal(one.pieces, two.pieces)
    np.testing.assert_array_equal(one.biases, two.biases)
    assert (one.prior, one.penalty) == (two.prior, two.penalty)


def test_few_rows_are_pulled_towards_the_centre() -> None:
    found = learn_weights(_log_probabilities(5), np.full(5, 0.5))
    assert found.penalty == PENALTIES[0]
    np.testing.assert_allclose(found.pieces, 0.5, atol=0.1)


def test_the_loss_is_that_of_the_softmax() -> None:
    def check(case: tuple[int, int]) -> None:
        n_classes, n_weights = case
        rng = np.random.default_rng(n_weights)
        # Scores far apart, so that exponentials below the smallest number occur.
        values = rng.normal(size=(501, n_classes, n_weights)) * 10 ** rng.uniform(
            -3, 3, size=(501, 1, 1)
        )
        own, weights = rng.integers(n_classes, size=501), rng.random(501)
        logs = LogProbabilities(values.astype(np.float32), own, weights)
        parameters = np.append(rng.random(n_weights), rng.normal(size=n_classes))
        rows = np.r_[3:200, 260:501]
        scores = logs.log_scores(parameters[:n_weights]) + parameters[n_weights:]
        losses = logsumexp(scores, axis=1) - scores[np.arange(501), own]
        found, _ = logs.loss(parameters, [(3, 200), (260, 501)])
        # Contrasts are rounded to single precision.
        assert found == pytest.approx(weights[rows] @ losses[rows], rel=1e-6)

    check_each(itertools.product([2, 3, 7], [1, 8, 41]), check)


def test_the_loss_of_a_row_is_right_to_the_last_digits() -> None:
    apart = np.concatenate([[0.0], 10.0 ** np.linspace(-8, 3.3, 200)])
    values = np.zeros((len(apart), 2, 1), dtype=np.float32)
    values[:, 1, 0] = apart
    for own in (0, 1):
        logs = LogProbabilities(values, np.full(len(apart), own), np.ones(len(apart)))
        ways = values[:, 1, 0].astype(float) * (1 - 2 * own)
        for row, expected in enumerate(np.logaddexp(0.0, ways)):
            found, _ = logs.loss(np.array([1.0, 0.0, 0.0]), [(row, row + 1)])
            assert found == pytest.approx(expected, rel=1e-15, abs=5e-16)


def test_descents_side_by_side_end_where_single_ones_do() -> None:
    logs = _log_probabilities(700)
    rng = np.random.default_rng(0)
    starts, centres = rng.random((2, 6, 9))
    penalties = np.array([0.5, 1.0, 4.0, 16.0, 64.0, 256.0])

    def descend(chosen: slice) -> Any:
        ranges, patience = [(0, 300), (400, 700)], (40, 1e-5)
        at = starts[chosen], centres[chosen], penalties[chosen]
        return logs.descend(ranges, *at, patience)

    single = [descend(slice(i, i + 1)) for i in range(6)]
    np.testing.assert_array_equal(descend(slice(None)), np.concatenate(single))


def _descent(n_rows: int, n_weights: int, n_threads: int) -> tuple[Any, ...]:
    """Arguments of native descents; the fifth holds where they are."""
    rng = np.random.default_rng(0)
    logs = rng.normal(size=(n_rows, 3, n_weights)).astype(np.float32)
    own, weights = rng.integers(3, size=n_rows), rng.random(n_rows)
    ranges = np.array([[0, n_rows // 3], [n_rows // 2, n_rows]])
    start = np.concatenate([np.ones(n_weights) / n_weights, np.zeros(3)])
    parameters = np.stack([start, start])
    pulls = np.ones_like(parameters) * [[1.0], [4.0]]
    aim = parameters.copy(), pulls, 60, 0.0, n_threads
    return logs, own, weights, ranges, parameters, *aim


def _descended(n_threads: int) -> NDArray[np.float64]:
    arguments = _descent(3000, 40, n_threads)
    weights_descents(*arguments)
    assert not np.array_equal(arguments[4], arguments[5])
    found: NDArray[np.float64] = arguments[4]
    return found


def test_helping_threads_change_no_bit() -> None:
    expected = _descended(1)
    for n_threads in (2, 2, 2, 4, 32):
        np.testing.assert_array_equal(_descended(n_threads), expected)


def test_a_forked_process_descends_with_threads_of_its_own() -> None:
    need("fork")
    expected = _descended(2)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(_descended(2), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("first", [-1, 2001])
def test_rows_outside_the_table_are_refused(first: int) -> None:
    logs, own, weights, _, *others = _descent(2000, 8, 2)
    with pytest.raises(ValueError, match="range of rows"):
        weights_descents(logs, own, weights, np.array([[first, 2001]]), *others)


def test_classes_outside_the_table_are_refused() -> None:
    logs, own, *others = _descent(2000, 8, 2)
    own[17] = 3
    with pytest.raises(ValueError, match="class"):
        weights_descents(logs, own, *others)


def _interrupt_descents(n_times: int, n_rows: int = 30_000) -> None:
    """Press Ctrl-C at random times; fails where no end comes soon."""
    rng = np.random.default_rng(0)
    arguments = _descent(n_rows, 200, 2)
    parameters, centre = arguments[4:6]

    def descend() -> None:
        while True:
            parameters[:] = centre
            weights_descents(*arguments)

    for delay in rng.uniform(0.0, 0.1, size=n_times):
        check_interrupted(descend, delay)


@pytest.mark.usefixtures("ctrl_c")
def test_a_descent_ends_at_once_when_interrupted() -> None:
    _interrupt_descents(2, 10_000)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.usefixtures("ctrl_c")
def test_fifty_interruptions_end_in_time_and_do_no_harm() -> None:
    _interrupt_descents(50)
    np.testing.assert_array_equal(_descended(2), _descended(1))


def test_deepest_pieces_of_hardly_any_weight_get_none() -> None:
    rng = np.random.default_rng(0)
    own = rng.integers(2, size=4000)
    # Two features of three depths, and one more piece.
    values = rng.normal(size=(4000, 2, 8))
    values[np.arange(4000), own, 2] += 0.5
    values[np.arange(4000), own, 4] += 1.0
    values[np.arange(4000), own, 6] += 0.1
    logs = LogProbabilities(values.astype(np.float32), own, np.ones(4000))
    even = np.array([1.0, *np.full(6, 1 / 3), 0.0])
    all_kept = fit_component_weights(logs, even, learn=True, scale=False)
    found = fit_component_weights(logs, even, learn=True, scale=False, shape=(2, 3))
    before = all_kept.weights[1:7].reshape(2, 3)
    after = found.weights[1:7].reshape(2, 3)
    slight = before < 0.05 * before.sum(axis=1, keepdims=True)
    expected = before.copy()
    for feature in range(2):
        for depth in (2, 1, 0):
            if not slight[feature, depth]:
                break
            expected[feature, depth] = 0.0
    np.testing.assert_array_equal(after, expected)
    assert (before != after).any()
    # A slight piece before a deeper one that counts is kept.
    assert before[0, 0] == after[0, 0]
    assert found.weights[7] == all_kept.weights[7]
    scores = logs.log_scores(found.weights) + found.biases
    np.testing.assert_array_equal(found.scores, scores)
