"""Logarithms of sums of exponentials."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayleaf.inference.log_sums import log_sum_exp

NO = -math.inf


def test_sums_of_exponentials_need_no_range() -> None:
    values = np.array([[1000.0, 1000.0], [NO, -1000.0], [NO, NO]])
    found = log_sum_exp(values, axis=1)
    assert found.tolist() == pytest.approx([1000.0 + math.log(2), -1000.0, NO])


def test_an_empty_sum_is_zero() -> None:
    assert log_sum_exp(np.zeros((2, 0)), axis=1).tolist() == [NO, NO]


@pytest.mark.parametrize("n_terms", [3, 9, 40])
def test_a_sum_does_not_depend_on_its_neighbours(n_terms: int) -> None:
    values = np.random.default_rng(0).normal(size=(2, n_terms, 60)) * 10
    together = log_sum_exp(values, axis=1)
    for i in range(60):
        np.testing.assert_array_equal(
            log_sum_exp(values[:, :, i : i + 1].copy(), axis=1)[:, 0], together[:, i]
        )
