"""Weights of pieces: deepest ones that count for hardly anything get none."""

from __future__ import annotations

import numpy as np

from bayleaf.search.left_out.piece_weights import weigh_pieces
from bayleaf.search.left_out.weights import LogProbabilities


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
    all_kept = weigh_pieces(logs, even, learn=True, scale=False)
    found = weigh_pieces(logs, even, learn=True, scale=False, shape=(2, 3))
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
