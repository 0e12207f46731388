"""The shape of the tail of weights is found."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.inference.approximate.importance_sampling import pareto_k


@pytest.mark.parametrize("shape", [0.3, 0.7, 1.5])
def test_the_shape_of_pareto_weights_is_found(shape) -> None:
    uniforms = np.random.default_rng(0).random(40_000)
    assert pareto_k(-shape * np.log(uniforms)) == pytest.approx(shape, abs=0.12)


def test_equal_weights_have_no_tail() -> None:
    assert pareto_k(np.full(1000, -700.0)) == 0.0


def test_bounded_weights_have_no_heavy_tail() -> None:
    uniforms = np.random.default_rng(0).random(10_000)
    assert pareto_k(np.log(uniforms)) == 0.0


def test_weights_of_zero_count_as_small() -> None:
    log_weights = np.full(1000, -np.inf)
    log_weights[:400] = 0.0
    assert pareto_k(log_weights) == 0.0
