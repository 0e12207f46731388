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
from bayleaf.datasets import load_heart
from bayleaf.explain import (
    FewestCells,
    counterfactuals,
    robustness,
    robustness_of_rows,
)
from bayleaf.explain.certificates import pair_search
from bayleaf.explain.certificates.interactions import interactions_of
from bayleaf.explain.certificates.margins import margins_of
from bayleaf.explain.change_sets import ChangeSets, with_changes
from bayleaf.models.predictor import Predictor
from covering import pairwise
from offenders import check_each
from oracles.small_averages import average_of_many, heavy, with_tree
from oracles.small_tables import classifier, small_table

KINDS = ("nb", "tan", "kdb", "aode", "auto", "hnb")


def by_all_sets(predictor: Predictor, codes: Codes, kind: str) -> int | None:
    """The least number of cells, by scoring every row that differs in cells."""
    domain = predictor.encoder.domain
    own = [int(codes.column(v)[0]) for v in range(len(domain))]
    options = []
    for state, variable in zip(own, domain, strict=True):
        n_known = variable.n_known_states
        others = [n_known] if kind == "missing" else list(range(n_known))
        options.append([state] if state >= n_known else sorted({state, *others}))
    rows = np.array(list(itertools.product(*options)))
    changed = Codes.from_columns(list(rows.T), domain.cards)
    flips = predictor.predict(changed) != predictor.predict(codes)
    sizes = (rows != own).sum(axis=1)[flips]
    return int(sizes.min()) if len(sizes) else None


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


@pytest.mark.parametrize("kind", ["nb", "tan", "kdb"])
def test_no_set_of_changes_falls_below_its_bound(kind: str) -> None:
    X, y = small_table(5, n_classes=3, missing=0.2)
    predictor = classifier(kind).fit(X, y)._predictor()
    domain = predictor.encoder.domain
    for place in range(6):
        codes = predictor.encode(X.iloc[[place]])
        own = [int(codes.column(v)[0]) for v in range(len(domain))]
        pairs = [(v, s) for v, c in enumerate(domain.cards) for s in range(c + 1)]
        pairs = [(v, s) for v, s in pairs if s != own[v] < domain.cards[v]]
        features, states = np.array(pairs).T
        bounds = margins_of(predictor, codes, features, states)
        assert bounds is not None
        for size in (0, 1, 2):
            for chosen in itertools.combinations(range(len(pairs)), size):
                row = list(own)
                for v, s in (pairs[i] for i in chosen):
                    row[v] = s
                if sum(a != b for a, b in zip(row, own, strict=True)) < size:
                    continue
                changed = Codes.from_columns([np.array([s]) for s in row], domain.cards)
                logs = predictor.log_proba(changed)[0]
                least = bounds.start - bounds.gains[list(chosen)].sum(axis=0)
                assert (logs[bounds.chosen] - logs >= least - 1e-9).all()


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
        ({"budget": 0}, "budget must be a whole number >= 1"),
    ],
)
def test_what_cannot_be_is_named(options: dict[str, Any], message: str) -> None:
    X, y = small_table(4)
    model = classifier("nb").fit(X, y)
    with pytest.raises(ValueError, match=message):
        robustness(model, X.iloc[0], **options)


def changes_of(predictor: Predictor, codes: Codes) -> ChangeSets:
    """All changes of a row's known cells, also to missing ones."""
    domain = predictor.encoder.domain
    own = [int(codes.column(v)[0]) for v in range(len(domain))]
    pairs = [(v, s) for v, c in enumerate(domain.cards) for s in range(c + 1)]
    features, states = np.array([(v, s) for v, s in pairs if s != own[v]]).T
    return ChangeSets(features, states)


@pytest.mark.parametrize(
    ("n_networks", "n_sets"), [(16, 80), pytest.param(64, 500, marks=pytest.mark.slow)]
)
def test_no_changes_of_an_average_take_more_than_their_triples_allow(
    n_networks: int, n_sets: int
) -> None:
    check_triples(*average_of_many(n_networks), n_sets)


@pytest.mark.slow
def test_no_changes_of_an_average_of_heart_take_more_than_their_triples() -> None:
    X, y = load_heart(return_X_y=True)
    X = X.to_pandas()
    check_triples(classifier("auto", n_networks=64).fit(X, y), X, 300)


def check_triples(model: Any, X: pd.DataFrame, n_sets: int) -> None:
    """Compare random sets of changes with the bounds by features, pairs and triples."""
    rng = np.random.default_rng(0)
    fitted = model._predictor()
    assert fitted.model.linear is not None
    for predictor, place in ((fitted, 0), (heavy(fitted), 70)):
        codes = predictor.encode(X.iloc[[place]])
        changes = changes_of(predictor, codes)
        bounds = interactions_of(predictor, codes, changes)
        assert bounds is not None
        by_feature = [np.flatnonzero(changes.features == v) for v in range(X.shape[1])]
        for size in (1, 2, 3, 4, 6):
            picked = [rng.permutation(X.shape[1])[:size] for _ in range(n_sets)]
            sets = np.array([[rng.choice(by_feature[v]) for v in p] for p in picked])
            logs = predictor.log_proba(with_changes(codes, changes, sets))
            chosen = bounds.margins.chosen
            left = logs[:, [chosen]] - logs
            falls = bounds.margins.gains[sets].sum(axis=1)
            for one, other in itertools.combinations(sets.T, 2):
                falls = falls + bounds.pairs[one, other]
            for triple in itertools.combinations(changes.features[sets].T, 3):
                falls = falls + bounds.triples[triple]
            assert (left >= bounds.margins.start - falls - 1e-9).all()
            if size < 3:
                assert np.allclose(left, bounds.margins.start - falls)


@pytest.mark.parametrize("is_heavy", [False, True])
@pytest.mark.parametrize(
    ("n_networks", "n_rows", "least_bounded"),
    [(16, 12, 1), pytest.param(64, 40, 5, marks=pytest.mark.slow)],
)
def test_the_number_of_an_average_is_that_of_all_sets(
    monkeypatch: pytest.MonkeyPatch,
    n_networks: int,
    n_rows: int,
    least_bounded: int,
    is_heavy: bool,
) -> None:
    monkeypatch.setattr(pair_search, "_LEAST_SETS", 0)
    model, X = average_of_many(n_networks)
    predictor = model._predictor()
    predictor = heavy(predictor) if is_heavy else predictor
    bounded = 0
    for place in range(n_rows):
        codes = predictor.encode(X.iloc[[place]])
        told = robustness(predictor, codes)
        for found in (told.wrong, told.missing):
            expected = by_all_sets(predictor, codes, found.kind)
            assert (found.at_least, found.at_most) == (expected, expected)
            bounded += found.bounded
    assert bounded > least_bounded


def test_trees_over_two_features_are_bounded_and_larger_ones_are_not() -> None:
    model, X = average_of_many(16)
    plain = model._predictor()
    codes = plain.encode(X.iloc[[3]])
    for features, is_bounded in (((1, 2), True), ((1, 2, 5), False)):
        predictor = with_tree(plain, features)
        changed = predictor.log_proba(codes) != plain.log_proba(codes)
        assert changed.any()
        bounds = interactions_of(predictor, codes, changes_of(predictor, codes))
        assert (bounds is not None) == is_bounded
