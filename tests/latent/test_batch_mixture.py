"""Mixtures learned from all rows at once: steps climb, weights are repetitions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import approx_fprime

from bayleaf.data.codes import Codes
from bayleaf.latent import batch_mixture
from bayleaf.latent.batch_mixture import (
    Ascent,
    BatchMixture,
    BatchOptions,
    Layout,
    MixtureLikelihood,
    learn_batch,
)
from bayleaf.models.class_model import log_normalize
from bayleaf.models.hierarchical_mixture_model import HierarchicalMixtureModel
from offenders import check_each
from property.networks import domain_of

Floats = NDArray[np.float64]

CARDS = (2, 3, 2, 3)
QUICK = BatchOptions(max_iter=30)


def _codes(columns: Any, weights: Any = None) -> Codes:
    table = [np.asarray(column) for column in columns]
    given = None if weights is None else np.asarray(weights, dtype=np.float64)
    return Codes.from_columns(table, CARDS, given)


def _rows(seed: int, n_rows: int = 60) -> NDArray[np.int64]:
    """A class that is told by the sum of two features, with holes; (4, n_rows)."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(card, size=n_rows) for card in CARDS[:-1]]
    columns.append((columns[0] + columns[1]) % 3)
    for column, card in zip(columns[:-1], CARDS, strict=False):
        column[rng.random(n_rows) < 0.1] = card
    return np.array(columns)


def _learn(
    codes: Codes, seed: int = 0, architecture: tuple[int, ...] = (2, 2)
) -> BatchMixture:
    return learn_batch(codes, architecture, QUICK, np.random.default_rng(seed))


def _bits(mixture: BatchMixture) -> list[bytes]:
    tables = [(bank.log_prior, bank.log_table) for bank in mixture.banks]
    return [table.tobytes() for table in itertools.chain.from_iterable(tables)]


@st.composite
def _tables(draw: st.DrawFn) -> Codes:
    """Random rows, holes and weights."""
    n_rows = draw(st.integers(1, 25))
    columns = [
        draw(st.lists(st.integers(0, top), min_size=n_rows, max_size=n_rows))
        for top in (*CARDS[:-1], CARDS[-1] - 1)
    ]
    weight = st.one_of(st.integers(1, 4), st.floats(1e-3, 1e4), st.just(0))
    weights = draw(st.lists(weight, min_size=n_rows - 1, max_size=n_rows - 1))
    return _codes(columns, [1.0, *weights])


ANY_START = given(
    _tables(),
    st.sampled_from([(), (2,), (3,), (2, 2), (2, 1, 2)]),
    st.floats(0.01, 3.0),
    st.integers(0, 1000),
)


def objectives_never_fall(
    codes: Codes, architecture: tuple[int, ...], pseudo_count: float, seed: int
) -> None:
    options = BatchOptions(pseudo_count=pseudo_count, max_iter=15, tol=0.0)
    found = learn_batch(codes, architecture, options, np.random.default_rng(seed))
    assert np.isfinite(found.objectives).all()
    assert (np.diff(found.objectives) >= 0.0).all()


@settings(max_examples=25)
@ANY_START
def test_no_step_lowers_the_objective(
    codes: Codes, architecture: tuple[int, ...], pseudo_count: float, seed: int
) -> None:
    objectives_never_fall(codes, architecture, pseudo_count, seed)


@pytest.mark.slow
@settings(max_examples=100)
@ANY_START
def test_no_step_lowers_the_objective_from_many_starts(
    codes: Codes, architecture: tuple[int, ...], pseudo_count: float, seed: int
) -> None:
    objectives_never_fall(codes, architecture, pseudo_count, seed)


def test_the_log_likelihood_is_that_of_the_model() -> None:
    def check(architecture: tuple[int, ...]) -> None:
        codes = _codes(_rows(0), np.random.default_rng(0).integers(3, size=60))
        found = _learn(codes, architecture=architecture)
        model = HierarchicalMixtureModel(domain_of(CARDS), architecture, (found.banks,))
        proba = log_normalize(model.class_log_scores(codes.without_last()))
        own = proba[np.arange(60), codes.column(3)]
        assert found.log_likelihood == pytest.approx(codes.weights @ own, rel=1e-10)

    check_each([(), (4,), (2, 2)], check)


def test_learning_tells_the_classes_that_one_naive_bayes_cannot() -> None:
    codes = _codes(_rows(1, 300))
    one, many = _learn(codes, architecture=()), _learn(codes, architecture=(4,))
    assert many.log_likelihood > one.log_likelihood + 50


@pytest.mark.parametrize("architecture", [(2,), (4,)])
def test_exclusive_or_is_learned_from_every_start(
    architecture: tuple[int, ...],
) -> None:
    table = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    codes = Codes.from_columns([np.array(c) for c in table], (2, 2, 2), np.full(4, 9.0))
    domain = domain_of((2, 2, 2))
    for seed in range(30):
        options = BatchOptions()
        found = learn_batch(codes, architecture, options, np.random.default_rng(seed))
        model = HierarchicalMixtureModel(domain, architecture, (found.banks,))
        scores = model.class_log_scores(codes.without_last())
        assert scores.argmax(axis=1).tolist() == table[-1]


def test_a_weight_of_two_is_a_row_that_occurs_twice() -> None:
    rows = _rows(2)
    weights = np.random.default_rng(1).integers(4, size=60)
    repeated = _codes(np.repeat(rows, weights, axis=1))
    assert _bits(_learn(_codes(rows, weights))) == _bits(_learn(repeated))


def test_the_order_of_rows_is_of_no_importance() -> None:
    rows = _rows(3)
    shuffled = rows[:, np.random.default_rng(0).permutation(60)]
    assert _bits(_learn(_codes(rows))) == _bits(_learn(_codes(shuffled)))


def test_the_seed_decides_the_bits() -> None:
    codes = _codes(_rows(4))
    assert _bits(_learn(codes, 1)) == _bits(_learn(codes, 1))
    assert _bits(_learn(codes, 1)) != _bits(_learn(codes, 2))


def test_two_experts_come_to_differ() -> None:
    experts = _learn(_codes(_rows(5, 300)), architecture=(2,)).banks[-1]
    assert np.abs(experts.log_table[:, 0] - experts.log_table[:, 1]).max() > 1.0


def test_steps_are_told() -> None:
    told: list[float] = []
    found = learn_batch(
        _codes(_rows(6)),
        (2,),
        QUICK,
        np.random.default_rng(0),
        lambda step, value: told.append(value),
    )
    assert tuple(told) == found.objectives[1:]


def test_rows_without_weight_are_refused() -> None:
    with pytest.raises(ValueError, match="no rows with a positive weight"):
        _learn(_codes(_rows(0), np.zeros(60)))


def test_options_out_of_range_are_named() -> None:
    def check(case: tuple[str, Any, str]) -> None:
        name, value, sentence = case
        with pytest.raises(ValueError, match=sentence):
            BatchOptions(**{name: value})

    check_each(
        [
            ("pseudo_count", 0.0, "pseudo_count must be a number above 0, got 0.0"),
            ("pseudo_count", "1", "pseudo_count must be a number above 0, got '1'"),
            ("start_spread", float("nan"), "start_spread must be a number above 0"),
            ("tol", -1.0, "tol must be a number of at least 0, got -1.0"),
            ("max_iter", 1.5, "max_iter must be an integer of at least 1, got 1.5"),
            ("max_iter", 0, "max_iter must be an integer of at least 1, got 0"),
        ],
        check,
    )


# ---- the likelihood equals its formula, and the gradient its differences

UNEVEN_CARDS = (2, 3, 4)
N_CLASSES = 3
ARCHITECTURES = [(), (2,), (3, 2), (2, 1, 2)]


def _uneven_rows(seed: int, n_rows: int = 25) -> Codes:
    """Random rows with holes and unequal weights, some of them zero."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(card + 1, size=n_rows) for card in UNEVEN_CARDS]
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=n_rows)
    classes = rng.integers(N_CLASSES, size=n_rows)
    return Codes.from_columns([*columns, classes], (*UNEVEN_CARDS, N_CLASSES), weights)


def _choice(logs: Floats, columns: list[int], codes: Codes, row: int) -> list[float]:
    """Posterior of a naive Bayes classifier, by its formula."""
    offsets = np.cumsum([0, *UNEVEN_CARDS])
    joints = []
    for column in columns:
        joint = math.exp(logs[-1, column])
        for feature, card in enumerate(UNEVEN_CARDS):
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
        codes = _uneven_rows(1)
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
            _uneven_rows(2), architecture, 0.7, naive_experts=naive_experts
        )
        rng = np.random.default_rng(0)
        likelihood.log_own = np.log(rng.random(likelihood.log_own.shape))
        point = likelihood.random_start(1.0, rng)
        slopes = approx_fprime(point, lambda p: likelihood.objective(p)[0], 1e-6)
        np.testing.assert_allclose(likelihood.objective(point)[1], slopes, atol=2e-4)

    check_each(itertools.product([True, False], ARCHITECTURES[1:]), check)


def test_rows_are_shared_by_path_weight_and_own_class() -> None:
    def check(architecture: tuple[int, ...]) -> None:
        likelihood = MixtureLikelihood(_uneven_rows(3), architecture, 1.0)
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
    codes = _uneven_rows(4)
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
    whole = MixtureLikelihood(_uneven_rows(5), (2, 2), 1.0)
    point = whole.random_start(1.0, np.random.default_rng(0))
    monkeypatch.setattr(batch_mixture, "_BLOCK", 7)
    parts = MixtureLikelihood(_uneven_rows(5), (2, 2), 1.0)
    np.testing.assert_allclose(
        parts.random_start(1.0, np.random.default_rng(0)), point, rtol=1e-12
    )
    value, gradient = parts.objective(point)
    assert value == pytest.approx(whole.objective(point)[0], rel=1e-12)
    np.testing.assert_allclose(gradient, whole.objective(point)[1], atol=1e-10)


def test_a_start_without_noise_is_naive_bayes_below_undecided_gates() -> None:
    codes = _uneven_rows(6)
    likelihood = MixtureLikelihood(codes, (2,), 1.0)
    start = likelihood.random_start(0.0, np.random.default_rng(0))
    gates, experts = likelihood.layout.banks(likelihood.normalized(start))
    np.testing.assert_allclose(gates.log_prior, math.log(0.5))
    np.testing.assert_allclose(gates.log_table[:, 0, 0], gates.log_table[:, 0, 1])
    counts = np.bincount(codes.column(3), codes.weights) / 2 + 1.0
    np.testing.assert_allclose(np.exp(experts.log_prior[0]), counts / counts.sum())
    np.testing.assert_array_equal(experts.log_prior[0], experts.log_prior[1])


def test_banks_hold_distributions() -> None:
    layout = Layout(UNEVEN_CARDS, (2, 3, N_CLASSES))
    table = np.random.default_rng(0).normal(size=layout.shape)
    banks = layout.banks(layout.normalized(table))
    assert [bank.log_prior.shape for bank in banks] == [(1, 2), (2, 3), (6, 3)]
    for bank in banks:
        np.testing.assert_allclose(np.exp(bank.log_prior).sum(axis=1), 1.0)
        sums = np.add.reduceat(np.exp(bank.log_table), bank.offsets[:-1], axis=0)
        np.testing.assert_allclose(sums, 1.0)


# ---- steps that raise the likelihood


def _ascent(
    tol: float, max_iter: int = 500, scale: float = 1.0, progress: Any = None
) -> Ascent:
    """Steps from a random start, rows and prior weighing `scale` times as much."""
    codes = _codes(_rows(8), np.full(60, scale))
    likelihood = MixtureLikelihood(codes, (2,), scale)
    start = np.random.default_rng(0).normal(size=likelihood.layout.shape).ravel()
    return likelihood.maximize(start, max_iter, tol, progress)


def test_steps_end_at_the_top() -> None:
    found = _ascent(1e-13)
    assert found.converged
    likelihood = MixtureLikelihood(_codes(_rows(8)), (2,), 1.0)
    value, slopes = likelihood.objective(found.point)
    assert value == pytest.approx(found.objectives[-1], rel=1e-12)
    assert np.abs(slopes).max() < 1e-2
    again = likelihood.maximize(found.point, 500, 1e-6)
    assert again.converged
    assert again.objectives[-1] == pytest.approx(value, rel=1e-9)


def test_steps_are_limited_and_reported() -> None:
    told: list[tuple[int, float]] = []
    found = _ascent(0.0, 7, progress=lambda *step: told.append(step))
    assert not found.converged
    assert told == list(enumerate(found.objectives))[1:]
    assert len(told) == 7


def test_a_gain_below_the_tolerance_ends_the_steps() -> None:
    loose, tight = _ascent(1e-2), _ascent(1e-9)
    assert loose.converged
    assert loose.objectives == tight.objectives[: len(loose.objectives)]
    losses = -np.array(loose.objectives) / 60
    gains = -np.diff(losses) / np.maximum(losses[:-1], 1.0)
    assert (gains[:-1] > 1e-2).all()
    assert gains[-1] <= 1e-2


def test_the_unit_of_weights_is_of_no_importance() -> None:
    def check(scale: float) -> None:
        expected, found = _ascent(1e-9), _ascent(1e-9, scale=scale)
        assert found.point.tolist() == expected.point.tolist()
        assert [value / scale for value in found.objectives] == list(
            expected.objectives
        )

    check_each([2.0**900, 2.0**10, 2.0**-900], check)
