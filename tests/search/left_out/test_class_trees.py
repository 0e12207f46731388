"""Class trees: their growth, when they are kept, and what they then say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from tests.oracles.boosted_trees import grown_tree

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable, numeric_variable
from bayleaf.native.class_trees import Growth, grow_class_trees
from bayleaf.search.left_out.cells import LeftOutRows
from bayleaf.search.left_out.class_trees import learn_class_trees
from offenders import check_each

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def _loss(scores: Floats, own: Whole) -> float:
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
    assert _loss(found.scores, own) < 0.3 < _loss(plain, own)


def test_noise_grows_no_trees_that_cost() -> None:
    def check(seed: int) -> None:
        rows, variables, own = _table(seed, noise=0.5)
        plain = np.zeros((len(own), 2))
        found = learn_class_trees(plain, rows, variables)
        assert found is None or _loss(found.scores, own) < _loss(plain, own)

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
    everywhere = _loss(found.scores, own)
    codes = rows.codes
    columns = [codes.column(i) for i in range(4)]
    turned = own.copy()
    turned[:2] = 1 - turned[:2]
    other = LeftOutRows(Codes.from_columns([*columns, turned], codes.cards))
    again = learn_class_trees(np.zeros((900, 2)), other, variables)
    assert again is not None
    assert everywhere < 0.4
    np.testing.assert_allclose(again.scores[:2], found.scores[:2], atol=0.5)
