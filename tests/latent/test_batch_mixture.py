"""Mixtures learned from all rows at once: steps climb, weights are repetitions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.latent.batch_mixture import BatchMixture, BatchOptions, learn_batch
from bayleaf.models.class_model import log_normalize
from bayleaf.models.hierarchical_mixture_model import HierarchicalMixtureModel
from offenders import check_each
from property.networks import domain_of

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


def test_no_step_leaves_the_start() -> None:
    found = learn_batch(
        _codes(_rows(7)), (2,), BatchOptions(max_iter=0), np.random.default_rng(0)
    )
    assert len(found.objectives) == 1
    assert not found.converged


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
            ("max_iter", 1.5, "max_iter must be an integer of at least 0, got 1.5"),
        ],
        check,
    )
