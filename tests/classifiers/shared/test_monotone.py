"""Monotone features: no violation, proper models, refusals by name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.data.codes import Codes
from bayleaf.datasets import load_heart
from offenders import check_each

MODELS = ("nb", "tan", "kdb", "aode", "a2de", "auto")
SINGLE = ("nb", "tan", "kdb")
UP_DOWN = {"up": 1, "down": -1}
# As far as log-odds of pooled states may differ by rounding.
ROUNDING = 1e-12


def _table(seed: int = 0, n_rows: int = 80) -> tuple[pd.DataFrame, np.ndarray]:
    """Two numbers with a direction and much noise, a number and text without."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    up = rng.integers(12, size=n_rows) + y * rng.integers(3, size=n_rows)
    down = rng.integers(12, size=n_rows) - y * rng.integers(3, size=n_rows)
    frame = pd.DataFrame(
        {
            "up": up + 0.5,
            "other": rng.normal(size=n_rows) + up / 6,
            "down": down + 0.5,
            "word": np.array(list("pqr"))[(up + y) % 3],
            "kind": np.array(list("st"))[rng.integers(2, size=n_rows)],
        }
    )
    return frame, np.array(["no", "yes"])[y]


def _model(name: str, **parameters: Any) -> Any:
    """A classifier that cuts numbers into six intervals, whatever the class."""
    return CLASSIFIERS[name](
        discretizer="equal_frequency", random_state=0, **parameters
    )


def _worst_step(model: Any, feature: str, rows: Codes, direction: int) -> float:
    """Least change of the second class's log-odds from a state to the next.

    In all rows of the codes, one state of the feature after the other.
    """
    domain = model.model_.domain
    place = domain.index(feature)
    columns = [rows.column(v) for v in range(rows.n_variables)]
    odds = []
    for state in range(domain[place].n_known_states):
        columns[place] = np.full(rows.n_rows, state, dtype=np.uint16)
        log_proba = model._predictor().log_proba(
            Codes.from_columns(columns, domain.cards[:-1])
        )
        odds.append(log_proba[:, 1] - log_proba[:, 0])
    return float((direction * np.diff(odds, axis=0)).min())


def _grid(model: Any) -> Codes:
    """All rows of all states of the features, missing cells included."""
    cards = model.model_.domain.cards[:-1]
    rows = itertools.product(*(range(card + 1) for card in cards))
    columns = list(np.array(list(rows), dtype=np.uint16).T)
    return Codes.from_columns(columns, cards)


def _random_rows(model: Any, n_rows: int, missing: float = 0.1) -> Codes:
    """Rows of states drawn at random, some of them missing."""
    rng = np.random.default_rng(0)
    cards = model.model_.domain.cards[:-1]
    columns = [
        np.where(rng.random(n_rows) < missing, card, rng.integers(card, size=n_rows))
        for card in cards
    ]
    return Codes.from_columns([c.astype(np.uint16) for c in columns], cards)


@pytest.mark.parametrize("name", ["nb", "tan", "kdb", "aode", "a2de"])
def test_no_step_of_the_full_grid_goes_the_wrong_way(name: str) -> None:
    model = _model(name, monotone=UP_DOWN).fit(*_table())
    free = _model(name).fit(*_table())
    grid = _grid(model)
    assert grid.n_rows > 1000
    for feature, direction in UP_DOWN.items():
        assert _worst_step(model, feature, grid, direction) > -ROUNDING
        assert _worst_step(free, feature, grid, direction) < -0.01


def test_no_step_of_averaged_kdb_goes_the_wrong_way() -> None:
    model = _model("auto", monotone=UP_DOWN).fit(*_table())
    free = _model("auto").fit(*_table())
    for feature, direction in UP_DOWN.items():
        rows = _random_rows(model, 2000)
        assert _worst_step(model, feature, rows, direction) > -ROUNDING
        assert _worst_step(free, feature, rows, direction) < -0.01


def test_curves_and_trees_of_averaged_kdb_keep_to_the_direction() -> None:
    X, y = _table(n_rows=1500)
    holds = (X.word == "p") & (X.kind == "s") & ((X.up > 6) | (X.other > 1))
    y = np.where(holds | ((X.word == "q") & (X.kind == "t")), "yes", y)
    # Without parents, so that conjunctions are left for the trees.
    few = {"random_state": 0, "n_networks": 2, "max_parents": 0}
    model = CLASSIFIERS["auto"](monotone=UP_DOWN, **few).fit(X, y)
    free = CLASSIFIERS["auto"](**few).fit(X, y)
    assert model.n_trees_ > 0
    assert "up" in " ".join(map(str, free.rules(None)))
    assert "up" not in " ".join(map(str, model.rules(None)))
    rows = _random_rows(model, 500)
    for feature, direction in UP_DOWN.items():
        assert _worst_step(model, feature, rows, direction) > -ROUNDING


@pytest.mark.parametrize("name", MODELS)
def test_any_table_gives_a_monotone_model(name: str) -> None:
    def check(seed: int) -> None:
        model = _model(name, monotone=UP_DOWN).fit(*_table(seed, 50))
        rows = _random_rows(model, 500)
        for feature, direction in UP_DOWN.items():
            assert _worst_step(model, feature, rows, direction) > -ROUNDING

    check_each([1, 2, 3], check)


@pytest.mark.few(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_hundred_thousand_pairs_of_published_tables_keep_the_direction(
    name: str, load_table: Callable[[str], Any]
) -> None:
    asked = {
        "heart": {"age": 1, "maximum_heart_rate_achieved": -1, "oldpeak": 1},
        "adult": {"age": 1, "education-num": 1, "capital-gain": 1},
    }
    for table, monotone in asked.items():
        X = load_table(table).to_pandas()
        y = X.pop("class")
        # Many intervals, so that there is much to pool.
        model = _model(name, monotone=monotone).fit(X, y)
        domain = model.model_.domain
        steps = sum(domain[domain.index(c)].n_states - 1 for c in monotone)
        # Summing cells out in all networks of A2DE takes minutes.
        missing = 0.0 if name == "a2de" else 0.1
        rows = _random_rows(model, 100_000 // steps, missing)
        for feature, direction in monotone.items():
            assert _worst_step(model, feature, rows, direction) > -ROUNDING


@pytest.mark.parametrize("name", ["tan", "kdb"])
def test_with_complete_rows_monotone_features_have_parents_and_no_children(
    name: str,
) -> None:
    complete = {"missing": "error", "unknown": "error"}
    model = _model(name, monotone=UP_DOWN, **complete).fit(*_table())
    arcs = [(a, b) for a, b in model.edges_ if a != "class"]
    assert {"up", "down"} <= {child for _, child in arcs}
    assert not {"up", "down"} & {parent for parent, _ in arcs}
    cards = model.model_.domain.cards[:-1]
    full = np.array(list(itertools.product(*map(range, cards))), dtype=np.uint16)
    for feature, direction in UP_DOWN.items():
        rows = Codes.from_columns(list(full.T), cards)
        assert _worst_step(model, feature, rows, direction) > -ROUNDING


def test_otherwise_a_monotone_feature_depends_on_the_class_alone() -> None:
    def check(name: str) -> None:
        model = _model(name, monotone=UP_DOWN).fit(*_table())
        touched = [arc for arc in model.edges_ if {"up", "down"} & set(arc)]
        assert sorted(touched) == [("class", "down"), ("class", "up")]

    check_each(MODELS, check)


@pytest.mark.parametrize("name", MODELS)
def test_no_direction_changes_no_bit(name: str) -> None:
    def check(nothing: dict[str, int]) -> None:
        X, y = _table()
        free, same = _model(name).fit(X, y), _model(name, monotone=nothing).fit(X, y)
        np.testing.assert_array_equal(free.predict_proba(X), same.predict_proba(X))
        assert free.log_likelihood_ == same.log_likelihood_

    check_each([{}, {"up": 0}], check)


def test_a_direction_that_the_rows_follow_changes_no_bit_of_naive_bayes() -> None:
    X = pd.DataFrame({"up": [0.5, 1.5, 2.5, 3.5] * 3 + [2.5, 3.5] * 4})
    y = ["no", "no", "yes", "yes"] * 3 + ["yes", "yes"] * 4
    free, same = _model("nb").fit(X, y), _model("nb", monotone={"up": 1}).fit(X, y)
    np.testing.assert_array_equal(free.predict_proba(X), same.predict_proba(X))


@pytest.mark.parametrize("name", SINGLE)
def test_tables_stay_distributions_and_the_network_agrees(name: str) -> None:
    X, y = _table()
    model = _model(name, monotone=UP_DOWN).fit(X, y)
    for cpd in model.network_.cpds:
        np.testing.assert_allclose(cpd.probabilities.sum(axis=-1), 1.0, atol=1e-12)
    evidence = {"up": X.up[3], "word": X.word[3]}
    row = X.iloc[[3]].assign(other=np.nan, down=np.nan, kind=None)
    found = model.network_.query(evidence, "class")["class"]
    np.testing.assert_allclose(
        [found["no"], found["yes"]], model.predict_proba(row)[0], atol=1e-12
    )


@pytest.mark.parametrize("name", SINGLE)
def test_the_log_likelihood_is_that_of_the_pooled_tables(name: str) -> None:
    X, y = _table()
    model = _model(name, monotone=UP_DOWN).fit(X, y)
    log_joint = model.predict_joint_log_proba(X)
    own = (y == "yes").astype(int)
    total = log_joint[np.arange(len(y)), own].sum()
    assert model.log_likelihood_ == pytest.approx(total)


@pytest.mark.parametrize("name", MODELS)
def test_contributions_add_up_to_the_log_odds(name: str) -> None:
    X, y = _table()
    model = _model(name, monotone=UP_DOWN).fit(X, y)
    log_proba = model.predict_log_proba(X[:5])
    told = model.explain(X[:5], of="yes", against="no")
    odds = [own.prior + sum(term.contribution for term in own.terms) for own in told]
    np.testing.assert_allclose(odds, log_proba[:, 1] - log_proba[:, 0], atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_predicts_the_same_and_knows_its_directions(
    name: str, tmp_path: Path
) -> None:
    X, y = _table()
    model = _model(name, monotone=UP_DOWN).fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = bayleaf.load(tmp_path / "model.json")
    assert loaded.monotone == UP_DOWN
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert "P('yes') never falls as up grows and never rises as down grows" in str(
        loaded.summary()
    )


@pytest.mark.parametrize("name", MODELS)
def test_weight_two_is_a_row_twice(name: str) -> None:
    X, y = _table(n_rows=40)
    weights = np.where(np.arange(40) % 3, 1.0, 2.0)
    twice = np.repeat(np.arange(40), weights.astype(int))
    model = _model(name, monotone=UP_DOWN)
    weighed = model.fit(X, y, weights).predict_proba(X)
    repeated = model.fit(X.iloc[twice], y[twice]).predict_proba(X)
    tolerance = 1e-12 if name != "auto" else 0.05
    np.testing.assert_allclose(weighed, repeated, atol=tolerance)


@pytest.mark.parametrize("name", ["nb", "tan", "aode", "a2de"])
def test_batches_of_whole_numbers_give_the_model_of_all_rows(name: str) -> None:
    X, y = _table()
    X = pd.DataFrame({"up": X.up.astype(int) % 5, "word": X.word, "kind": X.kind})
    kind = CLASSIFIERS[name]
    whole = kind(monotone={"up": 1}).fit(X, y)
    parts = kind(monotone={"up": 1}).partial_fit(X[:40], y[:40], classes=["no", "yes"])
    parts.partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(
        parts.predict_proba(X), whole.predict_proba(X), atol=1e-12
    )


def test_whole_numbers_of_few_values_follow_their_size() -> None:
    X = pd.DataFrame({"size": [10, 9, 2, 10, 9, 2, 2, 9] * 4})
    y = ["yes", "no", "yes", "yes", "yes", "no", "no", "no"] * 4
    model = CLASSIFIERS["nb"](monotone={"size": 1}).fit(X, y)
    assert model.model_.domain[0].kind == "nominal"
    second = model.predict_proba(pd.DataFrame({"size": [2, 9, 10]}))[:, 1]
    assert (np.diff(second) >= -ROUNDING).all()


def test_ordered_categories_follow_their_order() -> None:
    rng = np.random.default_rng(0)
    sizes = np.array(["S", "M", "L", "XL"])[rng.integers(4, size=60)]
    y = np.where((sizes == "M") | (sizes == "XL"), "yes", "no")
    X = pd.DataFrame({"size": sizes})
    model = CLASSIFIERS["nb"](
        ordered_features={"size": ["S", "M", "L", "XL"]}, monotone={"size": 1}
    ).fit(X, y)
    grid = pd.DataFrame({"size": ["S", "M", "L", "XL"]})
    second = model.predict_proba(grid)[:, 1]
    assert (np.diff(second) >= -ROUNDING).all()
    assert second[1] == pytest.approx(second[2])


@pytest.mark.parametrize("name", ["nb", "aode", "auto"])
def test_another_prior_and_calibration_keep_the_direction(name: str) -> None:
    model = _model(name, monotone=UP_DOWN, calibration="leave_one_out")
    model = model.fit(*_table()).with_class_prior([0.9, 0.1])
    rows = _random_rows(model, 300)
    assert _worst_step(model, "up", rows, 1) > -ROUNDING


def test_leave_one_out_scores_are_refused_in_a_sentence() -> None:
    model = _model("nb", monotone=UP_DOWN).fit(*_table())
    with pytest.raises(AttributeError, match="with monotone features has no exact"):
        _ = model.loo_score_


@pytest.mark.parametrize("name", ["nb", "kdb", "aode", "a2de"])
def test_the_smoothing_rule_may_be_chosen_by_leaving_rows_out(name: str) -> None:
    model = _model(name, monotone=UP_DOWN, smoothing="auto").fit(*_table())
    assert model.selection_ is not None
    assert _worst_step(model, "up", _random_rows(model, 200), 1) > -ROUNDING


def test_one_class_has_nothing_to_order() -> None:
    X, _ = _table()
    for name in MODELS:
        model = _model(name, monotone=UP_DOWN).fit(X, ["yes"] * len(X))
        assert (model.predict_proba(X) == 1.0).all()


def test_what_cannot_be_monotone_is_refused_by_name() -> None:
    def check(case: Any) -> None:
        (asked, message), name = case
        X, y = _table()
        X["id"] = [f"row {i}" for i in range(len(X))]
        with pytest.raises((ValueError, TypeError), match=re.escape(message)):
            _model(name, monotone=asked).fit(X, y)

    check_each(
        itertools.product(
            [
                (
                    {"upp": 1},
                    "monotone names 'upp', which is no column; did you mean up?",
                ),
                ({"word": 1}, "column 'word', whose values have no order"),
                ({"id": 1}, "column 'id', which is no feature of the model (left out"),
                ({"up": 2}, "monotone of 'up' must be +1"),
                ({"up": True}, "monotone of 'up' must be +1"),
                ({"up": "+"}, "monotone of 'up' must be +1"),
                (["up"], "monotone must map names of columns to +1 or -1"),
            ],
            MODELS,
        ),
        check,
    )


def test_more_than_two_classes_are_refused() -> None:
    def check(name: str) -> None:
        X, _ = _table()
        with pytest.raises(
            ValueError, match="the second of two classes moves, but there"
        ):
            _model(name, monotone=UP_DOWN).fit(X, ["a", "b", "c", "c"] * 20)

    check_each(MODELS, check)


@pytest.mark.parametrize(
    "more", [{"numeric": "gaussian"}, {"objective": "conditional"}]
)
def test_tables_that_are_not_counts_are_refused(more: dict[str, str]) -> None:
    (setting,) = more
    with pytest.raises(ValueError, match=f"which {setting}="):
        _model("nb", monotone=UP_DOWN, **more).fit(*_table())


def test_required_arcs_of_monotone_features_are_refused() -> None:
    def check(case: Any) -> None:
        (edge, message), name = case
        model = _model(name, monotone=UP_DOWN, required_edges=[edge])
        with pytest.raises(ValueError, match=message):
            model.fit(*_table())

    check_each(
        itertools.product(
            [
                (("up", "word"), "has no children"),
                (("word", "up"), "on the class alone"),
            ],
            ["tan", "kdb", "auto"],
        ),
        check,
    )


@pytest.mark.parametrize("name", sorted({*CLASSIFIERS} - {*MODELS}))
def test_other_classifiers_have_no_such_parameter(name: str) -> None:
    with pytest.raises(TypeError, match="monotone"):
        CLASSIFIERS[name](monotone={})


def test_a_model_without_directions_says_nothing_of_them() -> None:
    heart = load_heart()
    assert "monotone" not in str(CLASSIFIERS["nb"]().fit(heart.X, heart.y).summary())
