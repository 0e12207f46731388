"""Native passes over rows against plain Python."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from bayleaf.native import latents as native
from native.cases.latents import CASES
from oracles import latent_rows

PASSES = [name for name in vars(latent_rows) if name in CASES and name.islower()]


def _changed(argument: Any) -> list[np.ndarray]:
    """Arrays that a pass may have written to."""
    if isinstance(argument, native.PackedColumns):
        return [argument.columns, np.array(argument.n_codes)]
    return [argument] if isinstance(argument, np.ndarray) else []


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_does_what_looking_at_one_row_after_another_does(name: str) -> None:
    for seed in range(12):
        fast = CASES[name](np.random.default_rng(seed))
        slow = deepcopy(fast)
        found = getattr(native, name)(*fast)
        expected = getattr(latent_rows, name)(*slow)
        if expected is not None:
            # Sums of logarithms are not taken in the same way.
            assert found == pytest.approx(expected, rel=1e-12)
        pairs = [
            pair
            for own, other in zip(fast, slow, strict=True)
            for pair in zip(_changed(own), _changed(other), strict=True)
        ]
        assert pairs
        for own, other in pairs:
            np.testing.assert_array_equal(own, other)


def test_weights_of_rows_and_one_weight_for_all_mean_the_same() -> None:
    rng = np.random.default_rng(0)
    packed, runs, n_runs, _ = CASES["PackedRuns"](rng)
    counts = np.zeros((2, n_runs, *packed.n_codes[:2]))
    one = native.PackedRuns(packed, runs, n_runs, np.full(1, 0.75))
    each = native.PackedRuns(packed, runs, n_runs, np.full(len(runs), 0.75))
    for rows, own in zip((one, each), counts, strict=True):
        native.count_cells(rows, 0, 1, own)
    np.testing.assert_array_equal(*counts)


def test_runs_and_nodes_that_are_none_are_refused() -> None:
    packed = native.PackedColumns(np.zeros((2, 3), dtype=np.uint16), [1, 1])
    runs, weights = np.array([0, 1, 6], dtype=np.int32), np.ones(1)
    with pytest.raises(ValueError, match="runs must be from 0 to 5, got 0 to 6"):
        native.PackedRuns(packed, runs, 6, weights)
    rows = native.PackedRuns(packed, runs, 7, weights)
    with pytest.raises(ValueError, match="2 classes do not make up 7 runs"):
        native.add_gains(rows, 0, 1, np.zeros((3, 1, 1, 2)), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="2 columns and 1 nodes"):
        native.PackedColumns(packed.columns, [1])
    with pytest.raises(IndexError):
        native.count_cells(rows, 0, 2, np.zeros((7, 1, 1)))


def test_a_map_to_codes_that_a_node_lacks_is_refused() -> None:
    packed = native.PackedColumns(np.zeros((3, 4), dtype=np.uint16), [2, 2, 0])
    padded = np.array([[0, 3], [0, 0]])
    with pytest.raises(ValueError, match="leads to a state that a table lacks"):
        native.latent_codes(packed, 0, 1, padded, 2, 3)
    assert packed.n_codes == [2, 2, 0]
    native.latent_codes(packed, 0, 1, padded, 2, 4)
    assert packed.n_codes == [2, 2, 4]


def test_packed_rows_find_their_addresses_anew_when_unpickled() -> None:
    arguments = CASES["count_cells"](np.random.default_rng(1))
    other = pickle.loads(pickle.dumps(arguments))
    assert other[0].address != arguments[0].address
    native.count_cells(*arguments)
    native.count_cells(*other)
    np.testing.assert_array_equal(arguments[-1], other[-1])
