"""Counterfactuals flip the prediction, are minimal, and none is overlooked."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from bayleaf.classifiers import CLASSIFIERS
from bayleaf.data.codes import Codes
from bayleaf.explain import Counterfactuals, counterfactuals
from bayleaf.explain.row_probability import row_log_probabilities
from bayleaf.models.predictor import Predictor
from offenders import check_each
from oracles.small_tables import classifier, small_table
from timing import least_work

Changes = frozenset[tuple[int, int]]


def single(predictor: Predictor, row: list[int]) -> Codes:
    """One row of codes."""
    cards = predictor.encoder.domain.cards
    return Codes.from_columns([np.array([state]) for state in row], cards)


def label_of(predictor: Predictor, row: list[int]) -> Any:
    """The label chosen for one row."""
    return predictor.predict(single(predictor, row))[0]


def brute_force(
    predictor: Predictor, row: list[int], max_changes: int, target: Any = None
) -> list[Changes]:
    """All minimal sets of changes, one row at a time, in the order asked for."""
    before = label_of(predictor, row)
    cards = predictor.encoder.domain.cards
    present = [i for i, state in enumerate(row) if state < cards[i]]
    found: list[tuple[int, float, Changes]] = []
    for size in range(1, max_changes + 1):
        for features in itertools.combinations(present, size):
            choices = [[s for s in range(cards[i]) if s != row[i]] for i in features]
            for states in itertools.product(*choices):
                changed = list(row)
                for feature, state in zip(features, states, strict=True):
                    changed[feature] = state
                after = label_of(predictor, changed)
                changes = frozenset(zip(features, states, strict=True))
                done = after != before if target is None else after == target
                if done and not any(smaller < changes for *_, smaller in found):
                    codes = single(predictor, changed)
                    score = row_log_probabilities(predictor.model, codes)[0]
                    found.append((size, -score, changes))
    found.sort(key=lambda item: item[:2])
    return [changes for *_, changes in found]


def as_changes(predictor: Predictor, found: Counterfactuals) -> list[Changes]:
    """Counterfactuals as sets of codes."""
    domain = predictor.encoder.domain
    result = []
    for item in found:
        pairs = set()
        for name, (_, new) in item.changes.items():
            feature = domain.index(name)
            labels = [domain[feature].label(s) for s in range(domain.cards[feature])]
            pairs.add((feature, labels.index(new)))
        result.append(frozenset(pairs))
    return result


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_minimal_changes_are_found_and_nothing_else(
    kind: str, n_classes: int
) -> None:
    X, y = small_table(3, n_classes=n_classes)
    model = classifier(kind).fit(X, y)
    predictor = model._predictor()
    for place in range(2):
        row = [int(c) for c in predictor.encode(X.iloc[[place]]).narrow[:, 0]]
        found = counterfactuals(model, X.iloc[[place]], n=1000, max_changes=3)
        expected = brute_force(predictor, row, 3)
        assert set(as_changes(predictor, found)) == set(expected)
        assert [len(c.changes) for c in found] == [len(c) for c in expected]
        scores = [(len(c.changes), -c.log_probability) for c in found]
        assert all(a <= (b[0], b[1] + 1e-9) for a, b in itertools.pairwise(scores))


@pytest.mark.parametrize("kind", ["nb", "tan"])
def test_missing_cells_stay_missing_and_the_rest_is_searched(kind: str) -> None:
    X, y = small_table(5, missing=0.3)
    model = classifier(kind).fit(X, y)
    predictor = model._predictor()
    for place in range(5):
        codes = predictor.encode(X.iloc[[place]])
        row = [int(c) for c in codes.narrow[:, 0]]
        found = counterfactuals(model, X.iloc[[place]], n=1000)
        assert set(as_changes(predictor, found)) == set(brute_force(predictor, row, 3))


def test_a_search_that_ends_early_returns_what_a_greedy_one_finds() -> None:
    X, y = small_table(3, n_classes=3)
    model = classifier("nb").fit(X, y)
    predictor, n_found = model._predictor(), 0
    for place in range(2):
        row = [int(c) for c in predictor.encode(X.iloc[[place]]).narrow[:, 0]]
        labels = [None, *set(model.classes_) - {label_of(predictor, row)}]
        for target in labels:
            found = counterfactuals(model, X.iloc[place], target=target, budget=1)
            expected = brute_force(predictor, row, 3, target)
            ways = as_changes(predictor, found)
            assert set(ways) <= set(expected)
            assert len(ways) == len(set(ways))
            assert ways or found.exact or not expected
            n_found += bool(ways)
    assert n_found == 6


def test_the_class_aimed_at_is_reached() -> None:
    X, y = small_table(1, n_classes=3)
    model = classifier("nb").fit(X, y)
    predictor = model._predictor()
    before = model.predict(X.iloc[[0]])[0]
    target = next(label for label in model.classes_ if label != before)
    row = [int(c) for c in predictor.encode(X.iloc[[0]]).narrow[:, 0]]
    found = counterfactuals(model, X.iloc[[0]], n=1000, target=target)
    assert set(as_changes(predictor, found)) == set(
        brute_force(predictor, row, 3, target)
    )
    assert all(item.prediction == target for item in found)


def test_a_loss_decides_what_counts_as_a_flip() -> None:
    X, y = small_table(1)
    model = classifier("nb", loss=[[0, 20], [1, 0]]).fit(X, y)
    plain = classifier("nb").fit(X, y).predict(X)
    differs = np.flatnonzero(model.predict(X) != plain)
    assert len(differs)
    for place in differs[:5].tolist():
        found = counterfactuals(model, X.iloc[[place]])
        assert found.prediction != plain[place]
        assert all(item.prediction != found.prediction for item in found)


def test_immutable_features_are_left_alone() -> None:
    X, y = small_table(2)
    model = classifier("nb").fit(X, y)
    free = counterfactuals(model, X.iloc[0], n=100)
    assert any("height" in item.changes for item in free)
    bound = counterfactuals(model, X.iloc[0], n=100, immutable=["height"])
    assert not any("height" in item.changes for item in bound)


def test_numbers_move_in_the_direction_allowed_and_are_told_as_intervals() -> None:
    X, y = small_table(2)
    model = classifier("nb").fit(X, y)
    low = X["height"].idxmin()
    up = counterfactuals(model, X.loc[low], n=100, direction={"height": "up"})
    assert any("height" in item.changes for item in up)
    down = counterfactuals(model, X.loc[low], n=100, direction={"height": "down"})
    assert not any("height" in item.changes for item in down)
    old, new = next(i.changes["height"] for i in up if "height" in i.changes)
    assert old.startswith("<= ")
    assert new.startswith(("> ", "("))


def test_only_allowed_states_are_taken() -> None:
    X, y = small_table(4)
    model = classifier("nb", discretizer="equal_frequency").fit(X, y)
    row = {"wet": "no", "windy": "no", "soil": "clay", "height": -2.0}
    found = counterfactuals(
        model, row, n=1000, max_changes=4, allowed={"soil": ["sand"], "windy": []}
    )
    assert len(found)
    assert not any("windy" in item.changes for item in found)
    soils = {item.changes["soil"][1] for item in found if "soil" in item.changes}
    assert soils <= {"sand"}


def test_it_is_said_when_there_is_none() -> None:
    X, y = small_table(4)
    model = classifier("nb").fit(X, y)
    found = counterfactuals(model, X.iloc[0], immutable=list(X.columns))
    assert not len(found)
    assert str(found) == "no way to another class: none within 3 changes"


def test_the_order_of_models_without_a_joint_is_said() -> None:
    X, y = small_table(4)
    for kind in ("auto", "mixture"):
        found = counterfactuals(classifier(kind).fit(X, y), X.iloc[0])
        assert "independent marginals" in found.basis
    assert "joint" in counterfactuals(classifier("nb").fit(X, y), X.iloc[0]).basis


def test_the_marginals_of_models_without_a_joint_are_distributions() -> None:
    X, y = small_table(6)
    for kind in ("auto", "mixture"):
        model = classifier(kind).fit(X, y).model_
        cards = model.domain.cards[:-1]
        for feature, card in enumerate(cards):
            columns = [np.full(card, own) for own in cards]
            columns[feature] = np.arange(card)
            logs = row_log_probabilities(model, Codes.from_columns(columns, cards))
            assert np.exp(logs).sum() == pytest.approx(1.0)


def test_trying_all_triples_of_36_features_is_little_next_to_scoring_them() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(300, 36))
    y = X[:, :12].sum(axis=1) + rng.normal(size=300) > 6
    model = classifier("nb").fit(X, y)
    counterfactuals(model, X[0])
    n_changes = sum(math.comb(36, size) for size in (1, 2, 3))
    changed = np.repeat(X[:1], n_changes, axis=0)
    scoring = least_work(lambda: model.predict_proba(changed))
    assert least_work(lambda: counterfactuals(model, X[0], n=5)) < 50 * scoring
    # Thousands of changes may do, so that many are compared as sets too.
    assert least_work(lambda: counterfactuals(model, X[0], n=10_000)) < 150 * scoring


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"immutable": ["heigth"]}, "did you mean height"),
    ({"direction": {"soil": "up"}}, "feature 'soil' has no order"),
    ({"direction": {"height": "left"}}, "must be 'up' or 'down', got 'left'"),
    ({"allowed": {"soil": ["mud"]}}, "variable 'soil' has no state 'mud'"),
    ({"target": "c7"}, "target must be one of the classes"),
    ({"n": 0}, "n must be an integer >= 1"),
    ({"immutable": "age"}, "must be a list of features"),
]


def test_what_cannot_be_is_named() -> None:
    X, y = small_table(4)
    model = classifier("nb").fit(X, y)

    def check(case: tuple[dict[str, Any], str]) -> None:
        options, message = case
        with pytest.raises(ValueError, match=message):
            counterfactuals(model, X.iloc[0], **options)

    check_each(REFUSED, check)


def test_the_class_of_the_row_itself_is_no_target() -> None:
    X, y = small_table(4)
    model = classifier("nb").fit(X, y)
    own = model.predict(X.iloc[[0]])[0]
    with pytest.raises(ValueError, match=r"predicted as .* already"):
        counterfactuals(model, X.iloc[0], target=own)
