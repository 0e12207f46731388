"""Hierarchies grow where held-out rows ask for it, and no further."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.latent.architecture_growth import Judge, deal_folds, grow_architecture
from bayleaf.latent.batch_mixture import BatchOptions, learn_batch
from bayleaf.models.mixture_banks import mixture_log_posteriors
from offenders import check_each

Floats = NDArray[np.float64]


def _batch(rows: Codes, architecture: tuple[int, ...], others: Codes) -> Floats:
    rng = np.random.default_rng(0)
    options = BatchOptions(max_iter=60)
    banks = learn_batch(rows, architecture, options, rng).banks
    return mixture_log_posteriors((banks,), others)


def _rows(seed: int, n_rows: int, *, parity: bool) -> Codes:
    """Three features; the class repeats the first or the parity of two, mostly."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(2, size=(3, n_rows))
    label = np.where(rng.random(n_rows) < 0.05, c, a ^ b if parity else a)
    return Codes.from_columns([a, b, c, label], (2, 2, 2, 2))


def test_one_expert_is_enough_where_features_speak_alone() -> None:
    growth = grow_architecture(
        _rows(0, 100, parity=False), _batch, np.random.default_rng(0)
    )
    assert growth.architecture == ()
    assert list(growth.log_losses) == [(), (2,), (4,), (2, 2)]


def test_parity_asks_for_gates() -> None:
    growth = grow_architecture(
        _rows(0, 100, parity=True), _batch, np.random.default_rng(0)
    )
    assert growth.architecture != ()
    losses = growth.log_losses
    assert losses[growth.architecture] == min(losses.values())
    assert losses[growth.architecture] < losses[()] - 0.3


def _made_up(target: tuple[int, ...]) -> tuple[list[tuple[int, ...]], Judge]:
    """A judge by whom architectures near one are best, and what it was asked."""
    asked: list[tuple[int, ...]] = []

    def judge(rows: Codes, architecture: tuple[int, ...], others: Codes) -> Floats:
        asked.append(architecture)
        far = sum(
            abs(one - other)
            for one, other in itertools.zip_longest(architecture, target, fillvalue=0)
        )
        return np.full((others.n_rows, 2), -float(far))

    return asked, judge


def test_growth_reaches_what_each_step_brings_nearer() -> None:
    def check(target: tuple[int, ...]) -> None:
        asked, judge = _made_up(target)
        codes = _rows(1, 30, parity=False)
        growth = grow_architecture(codes, judge, np.random.default_rng(0))
        assert growth.architecture == target
        # Five folds each, and nothing twice.
        assert set(Counter(asked).values()) == {5}

    check_each([(), (2,), (3, 2), (2, 2, 2, 2), (6,)], check)


def test_the_number_of_experts_is_limited() -> None:
    asked, judge = _made_up((50,))
    codes = _rows(1, 30, parity=False)
    growth = grow_architecture(
        codes,
        judge,
        np.random.default_rng(0),
        max_experts=8,
    )
    assert growth.architecture == (8,)
    assert max(int(np.prod(shape)) for shape in asked) == 8


def test_the_loss_is_the_mean_by_weight() -> None:
    codes = _rows(2, 20, parity=False)
    weights = np.random.default_rng(0).integers(1, 4, size=20).astype(float)
    codes = Codes.from_columns(
        [codes.column(i) for i in range(4)], codes.cards, weights
    )

    def judge(rows: Codes, architecture: tuple[int, ...], others: Codes) -> Floats:
        return np.log(np.tile([0.25, 0.75], (others.n_rows, 1)))

    growth = grow_architecture(codes, judge, np.random.default_rng(0))
    own = np.where(codes.column(3) == 1, 0.75, 0.25)
    expected = -(weights @ np.log(own)) / weights.sum()
    assert growth.log_losses[()] == pytest.approx(expected, rel=1e-12)


def test_folds_weigh_the_same_in_each_class() -> None:
    spread = Codes.from_columns(
        [np.arange(3000) % 2, np.repeat([0, 1, 2], 1000)],
        (2, 3),
        np.random.default_rng(0).random(3000),
    )
    folds = deal_folds(spread, 5, np.random.default_rng(0))
    for label in range(3):
        inside = spread.column(1) == label
        weights = np.bincount(folds[inside], spread.weights[inside], minlength=5)
        np.testing.assert_allclose(weights, weights.mean(), rtol=0.02)


def test_a_single_row_holds_nothing_out() -> None:
    codes = Codes.from_columns([np.array([0]), np.array([1])], (2, 2))
    growth = grow_architecture(codes, _batch, np.random.default_rng(0))
    assert growth.architecture == ()


def test_the_seed_decides_the_folds() -> None:
    codes = _rows(4, 50, parity=True)
    one, same, other = (
        deal_folds(codes, 5, np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    assert (one == same).all()
    assert (one != other).any()
