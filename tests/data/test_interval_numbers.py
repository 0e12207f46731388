"""Weights of distinct numbers."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.data.interval_numbers import weight_by_value


@pytest.mark.parametrize("scale", [1.0, 7.0, 1e-3], ids=["whole", "steps", "fractions"])
def test_each_distinct_value_has_the_sum_of_the_weights_of_its_rows(
    scale: float,
) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(-9, 9, 300) * scale + 0.0
    one = np.float64(0.3)
    for weights in (
        np.broadcast_to(one, 300),
        rng.integers(1, 4, 300).astype(float),
        rng.random(300),
    ):
        distinct, sums = weight_by_value(values, weights)
        assert distinct.tolist() == sorted(set(values.tolist()))
        expected = [weights[values == value].sum() for value in distinct]
        assert sums.tolist() == pytest.approx(expected, rel=1e-15)
