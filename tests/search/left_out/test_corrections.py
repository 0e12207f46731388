"""Curves that correct scores: their optimum, and when they are kept."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime
from scipy.special import log_softmax
from tests.oracles.boosted_trees import grown_tree

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable, numeric_variable
from bayleaf.native.class_trees import Growth, grow_class_trees
from bayleaf.search.left_out.corrections import (
    Correction,
    _CurveTask,
    learn_class_trees,
    learn_correction,
)
from bayleaf.search.left_out.left_out_scores import LeftOutRows
from bayleaf.search.left_out.linear_families import linear_families
from offenders import check_each

Floats = NDArray[np.float64]
N_STATES = 60


def _rows(
    seed: int, n_rows: int = 3000, n_classes: int = 2
) -> tuple[LeftOutRows, list[Variable], NDArray[np.int64]]:
    """A number, a name, and classes that lean on both."""
    rng = np.random.default_rng(seed)
    number = rng.integers(N_STATES, size=n_rows)
    name = rng.integers(4, size=n_rows)
    pulls = np.stack(
        [np.cos(number / 9.0 + c) + 0.7 * (name == c) for c in range(n_classes)]
    )
    classes = (pulls + rng.gumbel(size=pulls.shape)).argmax(axis=0)
    variables = [
        numeric_variable("number", range(N_STATES - 1)),
        Variable("name", ("a", "b", "c", "d")),
    ]
    codes = Codes.from_columns([number, name, classes], [N_STATES, 4, n_classes])
    return LeftOutRows(codes), variables, classes


def _learned(
    rows: LeftOutRows, variables: list[Variable], scores: Floats
) -> Correction | None:
    counts = [
        np.bincount(rows.codes.column(i), minlength=v.n_states) * 1.0
        for i, v in enumerate(variables)
    ]
    numbers = linear_families(rows.codes, variables, counts, np.random.default_rng(0))
    return learn_correction(scores, rows, variables, numbers)


def _loss(scores: Floats, own: NDArray[np.int64]) -> float:
    return -float(log_softmax(scores, axis=1)[np.arange(len(own)), own].mean())


@pytest.mark.parametrize("n_classes", [2, 4])
def test_what_scores_lack_is_found(n_classes: int) -> None:
    rows, variables, own = _rows(0, n_classes=n_classes)
    plain = np.zeros((len(own), n_classes))
    found = _learned(rows, variables, plain)
    assert found is not None
    corrected = np.array(plain)
    for feature, curve in zip(found.features, found.curves, strict=True):
        corrected += curve[rows.codes.column(int(feature))]
        np.testing.assert_allclose(curve.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(
        log_softmax(corrected, axis=1),
        log_softmax(found.scores, axis=1),
        atol=1e-10,
    )
    fresh, _, others = _rows(1, n_classes=n_classes)
    held_out = np.zeros((len(others), n_classes))
    for feature, curve in zip(found.features, found.curves, strict=True):
        held_out += curve[fresh.codes.column(int(feature))]
    assert _loss(held_out, others) < _loss(np.zeros_like(held_out), others) - 0.05


def test_scores_that_lack_nothing_mostly_stay() -> None:
    rows, variables, own = _rows(2, n_classes=3)
    columns = [rows.codes.column(0), rows.codes.column(1)]
    kept = 0
    for seed in range(8):
        noise = np.random.default_rng(100 + seed).integers(3, size=len(own))
        codes = Codes.from_columns([*columns, noise], [N_STATES, 4, 3])
        found = _learned(LeftOutRows(codes), variables, np.zeros((len(own), 3)))
        kept += found is not None
        if found is not None:
            assert max(np.abs(curve).max() for curve in found.curves) < 0.2
    # One in six passes a standard error by chance.
    assert kept <= 3


def test_few_rows_are_not_corrected() -> None:
    rows, variables, own = _rows(3, 900)
    assert _learned(rows, variables, np.zeros((len(own), 2))) is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gradient_is_that_of_the_loss(n_classes: int) -> None:
    rng = np.random.default_rng(4)
    task = _CurveTask(
        rng.normal(size=(n_classes, 50)),
        rng.normal(size=(50, 3)),
        rng.integers(n_classes, size=50),
        rng.random(50) + 0.5,
    )
    point = task.start + rng.normal(size=len(task.start)) * 0.3
    _, gradient = task.penalised(point, 2.0)
    expected = approx_fprime(point, lambda p: task.penalised(p, 2.0)[0], 1e-7)
    np.testing.assert_allclose(gradient, expected, atol=1e-4)


def test_two_classes_are_pulled_as_more_are() -> None:
    rng = np.random.default_rng(5)
    task = _CurveTask(
        rng.normal(size=(2, 50)),
        rng.normal(size=(50, 3)),
        rng.integers(2, size=50),
        np.ones(50),
    )
    point = np.append(1.3, rng.normal(size=3))
    curves = point[1:, None] @ task.shares
    logs = log_softmax(1.3 * task.scores.T + task.design @ curves, axis=1)
    loss = -logs[np.arange(50), task.own].sum()
    loss += 7.0 / 2 * ((curves**2).sum() + 0.3**2)
    assert task.penalised(point, 7.0)[0] == pytest.approx(loss)


Whole = NDArray[np.int64]


def _tree_loss(scores: Floats, own: Whole) -> float:
    return -float(log_softmax(scores, axis=1)[np.arange(len(own)), own].mean())


def test_a_tree_is_that_of_exhaustive_search() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        n_rows, n_classes = int(rng.integers(20, 200)), int(rng.integers(2, 5))
        cards = rng.integers(2, 9, size=4).tolist()
        is_ordered = (rng.random(4) < 0.5).tolist()
        codes = np.stack([rng.integers(card, size=n_rows) for card in cards], axis=1)
        own = rng.integers(n_classes, size=n_rows)
        scores = rng.normal(size=(n_rows, n_classes))
        found = scores.copy()
        grow_class_trees(
            codes.astype(np.uint16),
            np.array(cards),
            np.array(is_ordered),
            own,
            np.ones(n_rows),
            found,
            n_rows,
            Growth(1, 1, 5, 0.3, 1.0, 0.5),
        )
        for label in range(1 if n_classes == 2 else 0, n_classes):
            leaves = grown_tree(
                codes, cards, is_ordered, own, scores, label, 5, 0.3, 1.0, 0.5
            )
            steps = sum(leaf.rows * leaf.value for leaf in leaves)
            # Slopes are whole parts of a number that is small next to the
            # sum of weights.
            np.testing.assert_allclose(
                found[:, label] - scores[:, label], steps, atol=1e-6
            )

    check_each(range(30), check)


def _table(
    seed: int, n_rows: int = 2000, noise: float = 0.05
) -> tuple[LeftOutRows, list[Variable], Whole]:
    """Three names and a number; the class is a conjunction of two of them."""
    rng = np.random.default_rng(seed)
    names = [rng.integers(3, size=n_rows) for _ in range(3)]
    number = rng.integers(40, size=n_rows)
    holds = (names[0] == 1) & (number > 20) | (names[1] == 2) & (number <= 10)
    own = np.where(rng.random(n_rows) < noise, ~holds, holds).astype(np.int64)
    variables = [Variable(name, ("a", "b", "c")) for name in "xyz"]
    variables.append(numeric_variable("number", range(39)))
    return (
        LeftOutRows(Codes.from_columns([*names, number, own], [3, 3, 3, 40, 2])),
        variables,
        own,
    )


def test_conjunctions_that_scores_lack_are_found() -> None:
    rows, variables, own = _table(0)
    plain = np.zeros((len(own), 2))
    found = learn_class_trees(plain, rows, variables)
    assert found is not None
    assert _tree_loss(found.scores, own) < 0.3 < _tree_loss(plain, own)


def test_noise_grows_no_trees_that_cost() -> None:
    def check(seed: int) -> None:
        rows, variables, own = _table(seed, noise=0.5)
        plain = np.zeros((len(own), 2))
        found = learn_class_trees(plain, rows, variables)
        assert found is None or _tree_loss(found.scores, own) < _tree_loss(plain, own)

    check_each(range(5), check)


def test_few_rows_grow_no_trees() -> None:
    rows, variables, own = _table(0, n_rows=200)
    assert learn_class_trees(np.zeros((len(own), 2)), rows, variables) is None


def test_threads_change_no_bit() -> None:
    rows, variables, own = _table(1)
    plain = np.random.default_rng(0).normal(size=(len(own), 2))
    one, two = (learn_class_trees(plain, rows, variables, n) for n in (1, 2))
    assert one is not None
    assert two is not None
    for mine, other in zip(one.nodes, two.nodes, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(one.scores, two.scores)


def test_held_out_scores_are_of_trees_that_did_not_see_the_row() -> None:
    """Labels of one fold do not matter for the scores of that fold."""
    rows, variables, own = _table(2, n_rows=900)
    found = learn_class_trees(np.zeros((900, 2)), rows, variables)
    assert found is not None
    everywhere = _tree_loss(found.scores, own)
    codes = rows.codes
    columns = [codes.column(i) for i in range(4)]
    turned = own.copy()
    turned[:2] = 1 - turned[:2]
    other = LeftOutRows(Codes.from_columns([*columns, turned], codes.cards))
    again = learn_class_trees(np.zeros((900, 2)), other, variables)
    assert again is not None
    assert everywhere < 0.4
    np.testing.assert_allclose(again.scores[:2], found.scores[:2], atol=0.5)
