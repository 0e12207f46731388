"""Class trees in a model: what they add, whose it is, and their rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import bayleaf
from bayleaf.data.codes import Codes
from bayleaf.data.tables.frames import to_columns
from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.models.support.class_trees import ClassTrees
from offenders import check_each

Fitted = tuple[bayleaf.AveragedKDBClassifier, pd.DataFrame, NDArray[np.object_]]


def conjunctions(
    n_rows: int, n_classes: int = 2
) -> tuple[pd.DataFrame, NDArray[np.object_]]:
    """A table whose classes are conjunctions, with a missing cell here and there."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], size=n_rows),
            "size": rng.choice(["s", "m", "l", "xl"], size=n_rows),
            "x": rng.normal(size=n_rows),
            "y": rng.normal(size=n_rows),
        }
    )
    holds = (X["colour"] == "red") & (X["x"] > 0) & X["size"].isin(["s", "m"])
    late = (X["colour"] != "red") & (X["y"] > 0.5) & (X["x"] < -0.3)
    # With two classes one of them is either conjunction, which no sum can say.
    y = np.where(holds, "yes", np.where(late, "late" if n_classes > 2 else "yes", "no"))
    y = np.where(rng.random(n_rows) < 0.03, "no", y).astype(object)
    X.loc[rng.random(n_rows) < 0.05, "x"] = np.nan
    return X, y


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request: pytest.FixtureRequest) -> Fitted:
    X, y = conjunctions(1500, request.param)
    # Without parents, so that conjunctions are left for the trees.
    model = bayleaf.AveragedKDBClassifier(
        n_networks=3, max_parents=0, random_state=0
    ).fit(X, y)
    assert model.n_trees_ > 0
    return model, X, y


def _model(classifier: bayleaf.AveragedKDBClassifier) -> AveragedKDBModel:
    model = classifier.model_
    assert isinstance(model, AveragedKDBModel)
    return model


def _trees(classifier: bayleaf.AveragedKDBClassifier) -> ClassTrees:
    trees = _model(classifier).trees
    assert trees is not None
    return trees


def _walked(trees: ClassTrees, row: list[int], cards: tuple[int, ...]) -> list[float]:
    """What trees add to the classes of one row, node by node."""
    added = [0.0] * trees.n_classes
    for root, label in zip(trees.roots.tolist(), trees.classes.tolist(), strict=True):
        node = root
        while trees.features[node] >= 0:
            feature = int(trees.features[node])
            if row[feature] >= cards[feature]:
                break
            state = int(trees.states[node])
            ordered = trees.is_ordered[feature]
            is_left = row[feature] <= state if ordered else row[feature] == state
            node = int(trees.children[node]) + (not is_left)
        added[label] += float(trees.values[node])
    return added


def _codes(classifier: bayleaf.AveragedKDBClassifier, n_rows: int = 200) -> Codes:
    """Random rows, some of whose states are unknown."""
    rng = np.random.default_rng(1)
    cards = _model(classifier).domain.cards[:-1]
    columns = [rng.integers(card + 1, size=n_rows) for card in cards]
    return Codes.from_columns(columns, cards)


def test_trees_add_what_a_walk_finds(fitted: Fitted) -> None:
    classifier, _, _ = fitted
    trees, codes = _trees(classifier), _codes(classifier)
    scores = np.zeros((codes.n_rows, trees.n_classes))
    trees.add(codes, scores)
    rows = np.stack([codes.column(i) for i in range(len(codes.cards))], axis=1)
    expected = [_walked(trees, row, codes.cards) for row in rows.tolist()]
    np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_contributions_with_trees_add_up(fitted: Fitted) -> None:
    classifier, X, _ = fitted
    labels = classifier.classes_.tolist()
    log_odds = classifier.predict_log_proba(X[:200])
    found = classifier.explain(X[:200], of=labels[-1], against=labels[0])
    for row, explanation in enumerate(found):
        total = explanation.prior + sum(term.contribution for term in explanation.terms)
        odds = log_odds[row, -1] - log_odds[row, 0]
        assert total == pytest.approx(odds, abs=1e-10)


def test_rules_that_hold_add_what_trees_add(fitted: Fitted) -> None:
    classifier, X, _ = fitted
    model, trees = _model(classifier), _trees(classifier)
    codes = classifier.encoder_.transform(to_columns(X[:200])).codes
    columns = [codes.column(i) for i in range(codes.n_variables)]
    scores = np.zeros((200, trees.n_classes))
    trees.add(codes, scores)
    told = np.zeros_like(scores)
    labels = classifier.classes_.tolist()
    rules = classifier.rules(None)
    for rule in rules:
        told[:, labels.index(rule.label)] += rule.nats * rule.rule.holds(columns)
    np.testing.assert_allclose(told, scores, atol=1e-10)
    assert len(rules) <= model.trees.n_parameters
    strengths = [abs(rule.nats) * rule.rows for rule in rules]
    assert strengths == sorted(strengths, reverse=True)
    assert "rows)" in str(rules[0])
    assert rules[0].to_dict()["nats"] == rules[0].nats


def test_rows_of_rules_are_counts(fitted: Fitted) -> None:
    classifier, X, _ = fitted
    codes = classifier.encoder_.transform(to_columns(X)).codes
    columns = [codes.column(i) for i in range(codes.n_variables)]
    for rule in classifier.rules(5):
        assert rule.rows == np.count_nonzero(rule.rule.holds(columns))


def test_a_file_keeps_trees_bit_by_bit(fitted: Fitted, tmp_path) -> None:
    classifier, X, _ = fitted
    classifier.save(tmp_path / "model.json")
    loaded = bayleaf.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), classifier.predict_proba(X))
    assert [str(r) for r in loaded.rules()] == [str(r) for r in classifier.rules()]


def test_trees_that_make_no_sense_are_refused(fitted: Fitted) -> None:
    def check(case: Any) -> None:
        name, turn = case
        classifier, _, _ = fitted
        trees = _trees(classifier)
        changed = {name: turn(getattr(trees, name))}
        with pytest.raises(ValueError, match="class tree"):
            _check(trees, changed, _model(classifier).domain.cards)

    check_each(
        [
            ("values", lambda values: np.full_like(values, np.nan)),
            ("values", lambda values: values + 1.0),
            ("rows", lambda rows: rows - 1e9),
            ("features", lambda features: features + 100),
            ("children", lambda children: children * 0),
            ("classes", lambda classes: classes + 9),
            ("classes", lambda classes: classes[1:]),
            ("is_ordered", lambda is_ordered: is_ordered[1:]),
        ],
        check,
    )


def _check(trees: ClassTrees, changed: dict[str, Any], cards: tuple[int, ...]) -> None:
    wrong = replace(trees, **changed)
    wrong.check_content()
    wrong.check_fit(cards)


def test_no_trees_where_they_are_not_asked_for() -> None:
    X, y = conjunctions(1500)
    model = bayleaf.AveragedKDBClassifier(
        n_networks=3, max_parents=0, class_trees=False, random_state=0
    ).fit(X, y)
    assert model.n_trees_ == 0
    assert model.rules() == []
