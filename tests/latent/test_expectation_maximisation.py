"""Steps end by one rule, which neither the number of rows nor a constant changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.latent.expectation_maximisation import (
    Climb,
    EMOptions,
    best_climb,
    climb,
    warn_of_limit,
)
from offenders import check_each


@dataclass(frozen=True)
class _Coin:
    """Heads and tails, some tosses not seen; `constant` is what no step changes."""

    heads: float
    tails: float
    unseen: float
    constant: float = 0.0

    @property
    def total_weight(self) -> float:
        return self.heads + self.tails + self.unseen

    def expect(self, p: float) -> tuple[float, float]:
        logs = self.heads * math.log(p) + self.tails * math.log(1 - p)
        return self.heads + self.unseen * p, logs + self.constant

    def totals(self, expected: float) -> list[NDArray[np.float64]]:
        return [np.array([expected, self.total_weight - expected])]

    def fitted(self, p: float, totals: Sequence[NDArray[np.float64]]) -> float:
        return float(totals[0][0] / totals[0].sum())

    def log_prior(self, p: float) -> float:
        return 0.0

    def probabilities(self, p: float) -> list[NDArray[np.float64]]:
        return [np.array([p, 1 - p])]


def _steps(coin: _Coin, tol: float, max_iter: int = 10_000) -> Climb[float, float]:
    return climb(coin, 0.01, EMOptions(1, max_iter, tol))


def test_the_end_is_the_share_of_what_was_seen() -> None:
    found = _steps(_Coin(30, 10, 60), 1e-20)
    assert found.converged
    assert found.parameters == pytest.approx(0.75)
    assert found.expected == pytest.approx(75.0)
    assert found.log_likelihood == found.objectives[-1]
    assert (np.diff(found.objectives) >= -1e-12).all()


def test_the_number_of_rows_does_not_change_the_number_of_steps() -> None:
    def check(times: float) -> None:
        few = _steps(_Coin(3, 1, 6), 1e-6)
        many = _steps(_Coin(3 * times, times, 6 * times), 1e-6)
        assert len(many.objectives) == len(few.objectives)

    check_each([1e-3, 10.0, 1e5], check)


def test_what_no_step_changes_does_not_end_the_steps() -> None:
    plain = _steps(_Coin(30, 10, 60), 1e-6)
    shifted = _steps(_Coin(30, 10, 60, constant=-1e6), 1e-6)
    assert len(shifted.objectives) == len(plain.objectives)


def test_two_small_steps_in_a_row_end_the_steps() -> None:
    def check(tol: float) -> None:
        coin = _Coin(3, 1, 96)
        points: list[float] = []
        expect = coin.expect
        object.__setattr__(
            coin,
            "expect",
            lambda p: points.append(p) or expect(p),  # each step asks
        )
        found = _steps(coin, tol)
        assert len(points) == len(found.objectives)
        is_small = np.abs(np.diff(points)) <= tol
        is_small &= np.diff(found.objectives) <= tol * coin.total_weight
        both = is_small[1:] & is_small[:-1]
        assert both.tolist() == [False] * (len(both) - 1) + [True]

    check_each([1e-3, 1e-5, 1e-8], check)


def test_quasi_newton_steps_are_far_fewer_than_plain_ones() -> None:
    found = _steps(_Coin(3, 1, 996), 1e-9)
    assert found.parameters == pytest.approx(0.75, abs=1e-8)
    assert found.n_iter < 20  # plain steps leave 0.996 of the way each


def test_only_the_best_of_short_climbs_goes_on() -> None:
    coin, starts = _Coin(30, 10, 60), [0.2, 0.7, 0.3]
    options = EMOptions(3, 100, 1e-9)
    found = best_climb(coin, [lambda p=p: p for p in starts], options, n_trial_steps=1)
    assert found.objectives[0] == coin.expect(0.7)[1]
    assert found.parameters == pytest.approx(0.75, abs=1e-6)
    assert (np.diff(found.objectives) >= -1e-12).all()


def test_the_limit_of_steps_is_warned_of() -> None:
    warn_of_limit(True, 5)
    with pytest.warns(RuntimeWarning, match="max_iter=5 before it converged"):
        warn_of_limit(False, 5)


def test_steps_are_limited() -> None:
    found = _steps(_Coin(3, 1, 96), 0.0, max_iter=5)
    assert (len(found.objectives), found.converged) == (6, False)


def test_the_first_of_the_best_ends_is_kept() -> None:
    coin = _Coin(30, 10, 0)
    starts = [0.2, 0.9, 0.3]
    found = best_climb(
        coin, [lambda p=p: p for p in starts], EMOptions(3, 100, 1e-6), n_threads=2
    )
    assert found.objectives[0] == coin.expect(0.2)[1]
