"""The fewest cells that flip a prediction are those that trying all sets finds."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf.classifiers import CLASSIFIERS
from bayleaf.cpds.smoothing import MaximumLikelihood
from bayleaf.data.codes import Codes
from bayleaf.explain import (
    FewestCells,
    counterfactuals,
    robustness,
    robustness_of_rows,
)
from bayleaf.models.predictor import Predictor
from covering import pairwise
from offenders import check_each
from oracles.changed_rows import by_all_sets
from oracles.small_averages import average_of_many, heavy, with_tree
from oracles.small_tables import classifier, small_table

KINDS = ("nb", "tan", "kdb", "aode", "auto", "hnb")


def flips(model: Any, codes: Codes, found: FewestCells) -> bool:
    """Whether the changes told lead to the class told, and not to the old one."""
    predictor = model._predictor()
    domain = predictor.encoder.domain
    columns = [codes.column(v).copy() for v in range(len(domain))]
    for name, (_, new) in found.changes.items():
        feature = domain.index(name)
        labels = [domain[feature].label(s) for s in range(domain.cards[feature] + 1)]
        columns[feature][:] = labels.index(new)
    label = predictor.predict(Codes.from_columns(columns, domain.cards))[0]
    return bool(label == found.becomes != predictor.predict(codes)[0])


def check(model: Any, X: Any, n_rows: int) -> None:
    """Compare both numbers of some rows, and what flips them."""
    predictor = model._predictor()
    for place in range(n_rows):
        codes = predictor.encode(X.iloc[[place]])
        told = robustness(predictor, codes)
        for found in (told.wrong, told.missing):
            expected = by_all_sets(predictor, codes, found.kind)
            assert (found.at_least, found.at_most) == (expected, expected)
            assert len(found.changes) == (expected or 0)
            assert expected is None or flips(model, codes, found)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_all_sets_of_cells_find_no_smaller_one_whatever_the_model(kind: str) -> None:
    X, y = small_table(3, n_classes=3)
    check(classifier(kind).fit(X, y), X, 4)


def check_kind(kind: str, missing: float, n_classes: int, n_rows: int) -> None:
    """Compare the numbers of some rows under a small classifier."""
    X, y = small_table(n_classes, n_classes=n_classes, missing=missing)
    check(classifier(kind).fit(X, y), X, n_rows)


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_is_that_of_all_sets(kind: str) -> None:
    cases = [row for row in pairwise(KINDS, (0.0, 0.3), (2, 3)) if row[0] == kind]
    check_each(cases, lambda case: check_kind(*case, n_rows=8))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_many_rows_is_that_of_all_sets(kind: str) -> None:
    cases = itertools.product([kind], (0.0, 0.3), (2, 3))
    check_each(cases, lambda case: check_kind(*case, n_rows=21))


@pytest.mark.parametrize("kind", ["nb", "tan", "kdb"])
def test_a_loss_and_a_missing_state_are_heeded(kind: str) -> None:
    X, y = small_table(1, n_classes=3, missing=0.2)
    loss = [[0, 6, 1], [1, 0, 2], [3, 1, 0]]
    check(classifier(kind, loss=loss, missing="state").fit(X, y), X, 8)


def test_tables_that_do_not_sum_to_one_are_read_as_the_model_reads_them() -> None:
    # Without any cell the classes tie, though the states of one sum to more than 1.
    X = [["a", "u"], ["b", "v"], ["a", "v"], ["b", "u"]] + [["a", "u"]] * 4
    model = classifier("tan", smoothing=MaximumLikelihood(floor=0.1))
    model.fit(X, ["no"] * 4 + ["yes"] * 4)
    found = robustness(model, ["a", "u"])
    assert found.prediction == "yes"
    assert (found.missing.at_least, found.missing.becomes) == (2, "no")


def test_rows_that_no_class_makes_possible_flip_nothing() -> None:
    X = pd.DataFrame({"a": ["a", "a", "b", "b"], "u": ["u", "u", "v", "v"]})
    predictor = classifier("nb").fit(X, ["no", "no", "yes", "yes"])._predictor()
    network = predictor.model.network
    for name in ("a", "u"):
        network = network.with_table(name, np.eye(2))
    sure = replace(predictor, model=replace(predictor.model, network=network))
    found = robustness(sure, {"a": "a", "u": "u"})
    assert (found.wrong.at_least, found.wrong.becomes) == (2, "yes")
    changed = counterfactuals(sure, {"a": "a", "u": "u"})
    assert [len(one.changes) for one in changed] == [2]


@pytest.mark.parametrize("kind", ["tan", "kdb"])
def test_models_of_many_features_are_searched_as_all_sets_are(kind: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = pd.DataFrame((rng.random((200, 9)) < 0.25 + 0.5 * y[:, None]).astype(int))
    X = X.astype(str).rename(columns=str).mask(rng.random(X.shape) < 0.05)
    check(classifier(kind).fit(X, y), X, 5)


def test_ties_are_decided_as_the_prediction_decides_them() -> None:
    # Without evidence both classes are equally probable, and the first is chosen.
    X = [["a", "u"], ["b", "u"], ["a", "v"], ["b", "v"]] * 2
    model = classifier("nb").fit(X, ["no", "yes", "no", "yes"] * 2)
    low = robustness(model, ["a", "u"])
    high = robustness(model, ["b", "u"])
    assert low.prediction == "no"
    assert (low.missing.at_least, high.missing.at_least) == (None, 1)
    assert (low.wrong.at_least, high.wrong.at_least) == (1, 1)


def test_only_the_features_asked_for_may_change() -> None:
    X, y = small_table(2)
    model = classifier("tan").fit(X, y)
    told = robustness_of_rows(model, X.iloc[:10], features=["height", "soil"])
    names = {n for one in told for n in (*one.wrong.changes, *one.missing.changes)}
    assert names == {"height", "soil"}


def test_a_spent_budget_leaves_both_bounds() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = (rng.random((300, 14)) < 0.1 + 0.8 * y[:, None]).astype(int)
    model = classifier("aode").fit(X, y)
    sure = X[np.argmax(np.abs(X.sum(axis=1) - 7))]
    found = robustness(model, sure, budget=500).wrong
    assert not found.exact
    assert found.at_least == 3
    assert found.at_most is not None
    assert found.at_most >= 3
    assert "at least 3 wrong cells" in str(found)
    assert not found.bounded


def test_tables_are_counted_by_number_of_cells() -> None:
    X, y = small_table(2)
    model = classifier("nb").fit(X, y)
    told = robustness_of_rows(model, X)
    assert all(sum(c.values()) == len(X) for c in told.distribution.values())
    assert told[3] == robustness(model, X.iloc[[3]])
    ones = sum(one.wrong.at_least == 1 for one in told)
    assert told.distribution["wrong"]["1"] == ones
    assert f"1: {ones} rows" in str(told)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ["heigth"]}, "did you mean height"),
        ({"features": "height"}, "must be a list"),
        ({"budget": 0}, "budget must be an integer >= 1"),
    ],
)
def test_what_cannot_be_is_named(options: dict[str, Any], message: str) -> None:
    X, y = small_table(4)
    model = classifier("nb").fit(X, y)
    with pytest.raises(ValueError, match=message):
        robustness(model, X.iloc[0], **options)


@pytest.mark.few(1)
@pytest.mark.parametrize("is_heavy", [False, True])
@pytest.mark.parametrize(
    ("n_networks", "n_rows"), [(16, 8), pytest.param(64, 40, marks=pytest.mark.slow)]
)
def test_the_number_of_an_average_is_that_of_all_sets(
    n_networks: int, n_rows: int, is_heavy: bool
) -> None:
    model, X = average_of_many(n_networks)
    predictor = model._predictor()
    predictor = heavy(predictor) if is_heavy else predictor
    for place in range(n_rows):
        codes = predictor.encode(X.iloc[[place]])
        told = robustness(predictor, codes)
        for found in (told.wrong, told.missing):
            expected = by_all_sets(predictor, codes, found.kind)
            assert (found.at_least, found.at_most) == (expected, expected)


def random_case(kind: str, rng: np.random.Generator) -> tuple[Predictor, Any]:
    """A classifier of a random small table, with random costs and temperature."""
    n_rows, n_classes = 60, int(rng.integers(2, 4))
    y = rng.permutation(np.arange(n_rows) % n_classes)
    columns: dict[str, Any] = {"x": np.round(rng.normal(size=n_rows) + y, 1)}
    for v in range(int(rng.integers(2, 6))):
        shifted = (y * rng.random() + rng.integers(4, size=n_rows)).astype(int)
        columns[f"f{v}"] = [f"s{state}" for state in shifted % int(rng.integers(2, 5))]
    X = pd.DataFrame(columns).mask(rng.random((n_rows, len(columns))) < 0.1)
    predictor = (
        classifier(kind.removesuffix("+"), random_state=0).fit(X, y)._predictor()
    )
    if kind.endswith("+"):
        predictor = with_tree(heavy(predictor), (0, 1, 2))
    loss = rng.integers(1, 5, size=(n_classes, n_classes)) * (1 - np.eye(n_classes))
    loss = loss if rng.random() < 0.5 else None
    return replace(predictor, loss=loss, temperature=float(rng.uniform(0.5, 2))), X


def by_pairs(predictor: Predictor, codes: Codes, kind: str) -> int | None:
    """The least number of cells up to two, by scoring every pair of changes."""
    domain = predictor.encoder.domain
    own = [int(codes.column(v)[0]) for v in range(len(domain))]
    rows = {tuple(own): 0}
    for size in (1, 2):
        for row in [row for row, n in rows.items() if n == size - 1]:
            for v, variable in enumerate(domain):
                known = variable.n_known_states
                states = [known] if kind == "missing" else range(known)
                for state in states if own[v] < known else ():
                    rows.setdefault((*row[:v], state, *row[v + 1 :]), size)
    changed = Codes.from_columns(list(np.array(list(rows)).T), domain.cards)
    flips = predictor.predict(changed) != predictor.predict(codes)
    return min(np.array(list(rows.values()))[flips].tolist(), default=None)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("n_tables", "n_rows"),
    [
        (1, 3),
        pytest.param(4, 5, marks=pytest.mark.slow),
        pytest.param(9, 7, marks=[pytest.mark.slow, pytest.mark.long]),
    ],
)
@pytest.mark.parametrize(
    "kind", ["nb", "tan", "kdb", "aode", "auto", "auto+", "hnb", "mixture"]
)
def test_the_fewest_changes_are_those_of_all_pairs(
    kind: str, n_tables: int, n_rows: int
) -> None:
    rng = np.random.default_rng(n_tables)
    for _ in range(n_tables):
        predictor, X = random_case(kind, rng)
        for place in range(n_rows):
            codes = predictor.encode(X.iloc[[place]])
            told = robustness(predictor, codes)
            for found in (told.wrong, told.missing):
                expected = by_pairs(predictor, codes, found.kind)
                if expected is None:
                    assert found.at_least is None or found.at_least > 2
                else:
                    assert (found.at_least, found.at_most) == (expected, expected)
            expected = by_pairs(predictor, codes, "wrong")
            ways = counterfactuals(predictor, codes, n=1, max_changes=2)
            assert ways.exact
            assert [len(one.changes) for one in ways] == [expected] * len(ways)
            assert bool(len(ways)) == (expected is not None)
