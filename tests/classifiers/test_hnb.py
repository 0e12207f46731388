"""Hierarchical naive Bayes finds, prints and uses latent variables."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import bayleaf
from bayleaf import HNBClassifier, NaiveBayesClassifier
from bayleaf.classifiers.hnb import SELECTIONS
from bayleaf.cpds.smoothing import resolve_smoothing
from bayleaf.data.tables.frames import to_columns
from bayleaf.datasets import load_heart, load_mushroom, load_vote, make_monks
from bayleaf.latent.hierarchical_parameters import class_children_codes
from offenders import check_each

SEARCHES = ("algorithm3", "top_pairs", "hill_climbing", "significance")
X, Y = load_heart(return_X_y=True)


def _concept(seed: int, n_rows: int = 5000) -> tuple[pd.DataFrame, Any]:
    """Example 1 of Langseth and Nielsen (2006): a conjunction and a near copy."""
    rng = np.random.default_rng(seed)
    a1, a2 = rng.integers(2, size=(2, n_rows))
    a3 = np.where(rng.random(n_rows) < 0.99, a2, 1 - a2)
    frame = pd.DataFrame({"A1": a1, "A2": a2, "A3": a3}).astype(str)
    return frame, (a1 & a2).astype(str)


@pytest.mark.parametrize("search", SEARCHES)
def test_predictions_are_those_of_the_expanded_network(search: str) -> None:
    model = HNBClassifier(search=search, significance_level=0.001, random_state=0).fit(
        X, Y
    )
    codes = model.encoder_.transform(to_columns(X)).codes
    network = model.network_
    names = network.domain.names
    table = {
        str(names[v]): [network.domain[v].states[k] for k in codes.column(v)]
        for v in range(13)
    }
    found = network.posterior_table(table, names[-1])
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-9)


def test_the_near_copy_is_proposed_before_the_concept() -> None:
    def check(seed: int) -> None:
        frame, y = _concept(seed)
        model = HNBClassifier(
            search="significance", pair_score="mutual_information", random_state=0
        )
        model.fit(frame, y)
        first = model.search_trace_[0].candidates[0]
        assert (first.left, first.right) == (1, 2)
        copied = model.tree_.latents[0]
        np.testing.assert_array_equal(copied.states, [[0, 0], [1, 1]])
        assert (model.predict(frame) == y).all()

    check_each(range(20), check)


def test_without_latents_it_is_naive_bayes() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(3, size=(300, 4))).astype(str)
    y = rng.integers(2, size=300)
    hierarchical = HNBClassifier(
        search="significance", significance_level=1e-9, random_state=0
    )
    naive = NaiveBayesClassifier(smoothing="dirichlet")
    np.testing.assert_array_equal(
        hierarchical.fit(frame, y).predict_proba(frame),
        naive.fit(frame, y).predict_proba(frame),
    )
    assert hierarchical.latents_ == []


@pytest.mark.parametrize("search", SEARCHES)
def test_holes_in_training_and_prediction_are_summed_out(search: str) -> None:
    frame = load_heart().frame.to_pandas()
    rng = np.random.default_rng(3)
    y = frame.pop("disease")
    holed = frame.mask(rng.random(frame.shape) < 0.15)
    model = HNBClassifier(search=search, random_state=0).fit(holed, y)
    proba = model.predict_proba(holed)
    assert (model.predict(holed) == y).mean() > 0.75
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)


def test_tables_learned_by_em_have_the_log_likelihood_of_what_is_known() -> None:
    frame = load_heart().frame.to_pandas()
    y = frame.pop("disease")
    holed = frame.mask(np.random.default_rng(5).random(frame.shape) < 0.2)
    model = HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    ).fit(holed, y)
    assert model.tree_.latents
    codes = model._training_codes
    nodes, own = model.tree_.node_codes(codes), codes.column(13)
    expected = np.log(model.model_.prior)[own].sum()
    for node, table in model.model_.class_tables.items():
        known = nodes[node] < table.shape[1]
        expected += np.log(table[own[known], nodes[node][known]]).sum()
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-12)


def test_complete_rows_give_the_same_tables_by_em_as_by_counting() -> None:
    one, two = (
        HNBClassifier(estimation=e, random_state=0).fit(X, Y)
        for e in ("em", "counting")
    )
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_conditional_tables_fit_the_training_classes_better() -> None:
    own = np.searchsorted(["absent", "present"], np.asarray(Y))
    logs = [
        HNBClassifier(objective=p, random_state=0)
        .fit(X, Y)
        .predict_log_proba(X)[range(270), own]
        for p in ("generative", "conditional")
    ]
    assert logs[1].mean() > logs[0].mean()


@pytest.mark.parametrize("direction", [*SELECTIONS[:2], "backward_before"])
def test_selection_keeps_children_that_help(direction: str) -> None:
    frame, y = _concept(0, 600)
    # Not the seed of the concept, whose features the noise would repeat.
    rng = np.random.default_rng(1)
    for j in range(4):
        frame[f"noise{j}"] = rng.integers(4, size=600).astype(str)
    model = HNBClassifier(feature_selection=direction, random_state=0).fit(frame, y)
    used = model.model_.used_children
    leaves = {leaf for node in used for leaf in model.tree_.leaves(node)}
    assert not leaves & {3, 4, 5, 6}
    assert (model.predict(frame) == y).mean() > 0.98


def test_files_give_the_same_model_back(tmp_path: Path) -> None:
    model = HNBClassifier(search="significance", random_state=0).fit(X, Y)
    assert model.latents_
    model.save(tmp_path / "a.json")
    again = bayleaf.load(tmp_path / "a.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.rules() == model.rules() == str(model)
    assert again.tree_.cards == model.tree_.cards
    again.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_pair_of_too_many_cells_is_skipped_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="max_cells") as caught:
        HNBClassifier(max_cells=3, random_state=0).fit(X, Y)
    assert any("chest_pain" in str(warning.message) for warning in caught)


def test_parameters_out_of_range_are_refused() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        options, message = case
        with pytest.raises(ValueError, match=message):
            HNBClassifier(**options, random_state=0).fit(X, Y)

    check_each(
        [
            ({"search": "best"}, "search must be one of"),
            ({"pair_score": "g2"}, "pair_score must be one of"),
            ({"wrapper_score": "auc"}, "wrapper_score must be one of"),
            ({"estimation": "map"}, "estimation must be one of"),
            ({"feature_selection": "sideways"}, "feature_selection"),
            ({"significance_level": 0.0}, "significance_level"),
            ({"significance_level": 1.0}, "significance_level"),
            ({"n_candidates": 0}, "n_candidates"),
            ({"score_folds": 1}, "score_folds"),
            ({"score_folds": 300}, "score_folds"),
            ({"loss": [[0, 1]]}, "loss"),
            ({"loss": [[1, 1], [1, 0]]}, "loss"),
        ],
        check,
    )


def _tree(model: HNBClassifier) -> list[tuple[int, int, list]]:
    return [
        (each.left, each.right, each.states.tolist()) for each in model.tree_.latents
    ]


def _columns_below(model: HNBClassifier) -> list[list[str]]:
    """The columns below each latent variable, as `latents` takes them."""
    names = model.encoder_.domain.names
    nodes = range(model.tree_.n_features, len(model.tree_.cards))
    return [[names[leaf] for leaf in model.tree_.leaves(node)] for node in nodes]


def _noisy_table(seed: int) -> tuple[pd.DataFrame, Any]:
    """Columns of which some depend on two others and the class; cells are missing."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(150, 400))
    columns = [rng.integers(rng.integers(2, 5), size=n_rows) for _ in range(4)]
    y = (columns[0] + columns[1] + (rng.random(n_rows) < 0.2)) % 2
    columns += [(columns[v] + y + (rng.random(n_rows) < 0.3)) % 3 for v in range(3)]
    frame = pd.DataFrame({f"v{i}": own for i, own in enumerate(columns)}).astype(str)
    frame["size"] = rng.normal(size=n_rows) + y * columns[2]
    return frame.mask(rng.random(frame.shape) < 0.1 * (seed % 2)), y.astype(str)


TABLES = {
    "heart": (X, Y),
    "vote": load_vote(return_X_y=True),
    "mushroom": load_mushroom(return_X_y=True),
    **{f"noisy{seed}": _noisy_table(seed) for seed in range(30)},
}
QUICK = ("heart", "noisy0")
SLOW = ("vote", "mushroom", "noisy1", "noisy2", "noisy3")
SEARCHED = [
    pytest.param(
        t,
        s,
        marks=[pytest.mark.slow] * (t not in QUICK)
        + [pytest.mark.long] * (t not in QUICK + SLOW),
    )
    for t, s in itertools.product(TABLES, SEARCHES)
    # It finds no latent variable there.
    if (t, s) != ("vote", "algorithm3")
]


@pytest.mark.few(6)
@pytest.mark.parametrize(("table", "search"), SEARCHED)
def test_given_latents_that_a_search_found_make_its_model(
    table: str, search: str
) -> None:
    rows, labels = TABLES[table]
    weights = np.random.default_rng(len(labels)).integers(0, 3, len(labels))
    fit = (rows, labels, weights)
    model = HNBClassifier(search=search, significance_level=0.001, random_state=0)
    if search == "algorithm3":
        # Its subsets lack a part of the rows each, by which states are grouped.
        model.set_params(n_candidates=1)
    searched = clone(model).fit(*fit)
    latents = _columns_below(searched)
    assert latents
    for again in ("given", search):
        found = clone(model).set_params(search=again, latents=latents).fit(*fit)
        assert _tree(found) == _tree(searched)
        assert found.rules() == searched.rules()
        for one, other in zip(found.network_.cpds, searched.network_.cpds, strict=True):
            assert one.parents == other.parents
            np.testing.assert_array_equal(one.probabilities, other.probabilities)
        np.testing.assert_array_equal(
            found.predict_joint_log_proba(rows), searched.predict_joint_log_proba(rows)
        )
    # Tests of pairs that were given are those of the search.
    (first,) = found.search_trace_[0].candidates
    accepted = searched.search_trace_[0].accepted
    assert (first.statistic, first.negative_log_p) == pytest.approx(
        (accepted.statistic, accepted.negative_log_p)
    )


def test_tables_of_a_fitted_structure_are_learned_from_other_rows() -> None:
    first, second = slice(0, 135), slice(135, 270)
    model = HNBClassifier(
        search="significance", significance_level=0.01, random_state=0
    ).fit(X.slice(0, 135), Y[first])
    latents = _tree(model)
    assert latents
    again = model.fit_parameters(X.slice(0, 135), Y[first]).predict_proba(X)
    model.fit_parameters(X.slice(135), Y[second])
    assert _tree(model) == latents
    assert np.abs(model.predict_proba(X) - again).max() > 0.01
    flat = class_children_codes(model.tree_, model._training_codes)
    rule, classes = resolve_smoothing("dirichlet"), flat.column(flat.n_variables - 1)
    scores = np.log(rule.estimate(np.bincount(classes).astype(float)))
    scores = np.tile(scores, (135, 1))
    for child in range(flat.n_variables - 1):
        table = np.zeros((2, flat.cards[child]))
        np.add.at(table, (classes, flat.column(child)), 1.0)
        scores += np.log(rule.estimate(table))[:, flat.column(child)].T
    searched = model.predict_log_proba(X.slice(135))
    np.testing.assert_allclose(
        searched[:, 1] - searched[:, 0], scores[:, 1] - scores[:, 0]
    )
    assert sum(state.n for state in model.latents_[0].states) == 135
    with pytest.raises(NotFittedError):
        HNBClassifier().fit_parameters(X, Y)


def test_the_same_rows_give_the_same_tables_again() -> None:
    model = HNBClassifier(calibration="leave_one_out", random_state=0).fit(X, Y)
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.fit_parameters(X, Y).predict_proba(X), before)


@pytest.mark.parametrize("search", SEARCHES)
def test_required_pairs_are_joined_and_forbidden_ones_never(search: str) -> None:
    # What a search of all rows joins first.
    forbidden = ["chest_pain", "exercise_induced_angina"]
    required = ["age", "sex"], ["sex", "serum_cholesterol"]
    model = HNBClassifier(
        search=search,
        required_joins=required,
        forbidden_joins=[forbidden],
        random_state=0,
    ).fit(X, Y)
    below = _columns_below(model)
    for pair in required:
        assert any(set(pair) <= set(columns) for columns in below)
    assert not any(set(forbidden) <= set(columns) for columns in below)
    assert "age" in model.rules()


def test_latents_that_contradict_each_other_are_refused_by_name() -> None:
    def check(case: tuple[dict[str, Any], type[Exception], str]) -> None:
        options, error, message = case
        with pytest.raises(error, match=message):
            HNBClassifier(**options, random_state=0).fit(X, Y)

    check_each(
        [
            ({"search": "given"}, ValueError, "needs latents or required_joins"),
            ({"latents": "age"}, TypeError, "latents must be a list of lists"),
            ({"latents": None}, TypeError, "latents must be a list of lists"),
            ({"latents": {"L1": ["age", "sex"]}}, TypeError, "list of lists of names"),
            ({"latents": [["age", "height"]]}, ValueError, "latents names 'height'"),
            ({"latents": [[]]}, ValueError, r"latents contains \[\], but"),
            ({"latents": [["age"]]}, ValueError, "joins two"),
            ({"latents": [["age", "sex"]] * 2}, ValueError, "name each once"),
            ({"latents": [["age", "sex"], ["L1", "st_slope"]]}, ValueError, "'L1'"),
            ({"latents": [["age", "disease"]]}, ValueError, "names 'disease', which"),
            ({"latents": [["age", "sex", "st_slope"]]}, ValueError, "inner ones first"),
            (
                {"latents": [["age", "sex"], ["sex", "st_slope"]]},
                ValueError,
                "latents puts 'sex' below two latent variables, the second without age",
            ),
            ({"latents": [["age", "age"]]}, ValueError, "joins two"),
            (
                {"latents": [["age", "sex"]], "forbidden_joins": [["sex", "age"]]},
                ValueError,
                "latents puts sex, age below one latent variable",
            ),
            (
                {
                    "required_joins": [["age", "sex"], ["sex", "st_slope"]],
                    "forbidden_joins": [["age", "st_slope"]],
                },
                ValueError,
                "required_joins puts age, st_slope below",
            ),
            ({"required_joins": [["age", "age"]]}, ValueError, "with itself"),
            ({"forbidden_joins": [["age", "age"]]}, ValueError, "with itself"),
            ({"required_joins": [["age"]]}, TypeError, "must be a list of pairs"),
            ({"required_joins": iter([["age", "sex"]])}, TypeError, "a list of pairs"),
            ({"required_joins": [["age", "height"]]}, ValueError, "required_joins nam"),
            ({"forbidden_joins": [["age", "height"]]}, ValueError, "forbidden_joins n"),
            (
                {"search": "given", "latents": [["age", "sex"]], "max_cells": 3},
                ValueError,
                "given latent variable over 'age' and 'sex' has",
            ),
        ],
        check,
    )


def test_columns_that_joins_name_are_checked_before_the_table_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = X.append_column("disease", pa.array(Y))
    pq.write_table(rows, tmp_path / "rows.parquet")
    for module in ("base.learn_rows", "stored_tables.spill_table"):
        monkeypatch.setattr(f"bayleaf.classifiers.shared.{module}", None)
    model = HNBClassifier(forbidden_joins=[["age", "heart_rate"]])
    with pytest.raises(ValueError, match="did you mean maximum_heart_rate"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="did you mean maximum_heart_rate"):
        model.fit(tmp_path / "rows.parquet", target="disease")


def test_latents_join_constants_and_parts_of_dates_but_no_left_out_columns() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(3, size=(90, 2))).astype(str)
    frame[2], frame[3] = "same", [f"n{i}" for i in range(90)]
    model = HNBClassifier(search="given", latents=[[0, 2], [2, 0, 1]])
    found = model.fit(frame, rng.integers(2, size=90))
    assert found.latents_[0].children == (0, 2)
    assert found.latents_[1].children == (1, "L1")
    days = pd.date_range("2020-01-01", periods=90)
    table = pd.DataFrame({"day": days, "sex": frame[0]})
    model = HNBClassifier(search="given", latents=[["day: month", "sex"]])
    found = model.fit(table, rng.integers(2, size=90))
    assert found.latents_[0].children == ("day: month", "sex")
    for name in ("latents", "required_joins", "forbidden_joins"):
        model = HNBClassifier(**{name: [[0, 3]]})
        with pytest.raises(ValueError, match=rf"{name} names column 3,.* \(left out"):
            model.fit(frame, rng.integers(2, size=90))


def test_calibration_and_choice_of_smoothing_leave_rows_out() -> None:
    model = HNBClassifier(
        smoothing="auto", calibration="leave_one_out", random_state=0
    ).fit(X, Y)
    assert model.temperature_ != 1.0
    assert model.selection_.best.smoothing is model.smoothing_


def test_left_out_scores_equal_refitting_the_tables() -> None:
    model = HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    ).fit(X, Y)
    assert model.tree_.latents
    flat = class_children_codes(model.tree_, model._training_codes)
    frame = pd.DataFrame(
        {f"x{v}": flat.column(v).astype(str) for v in range(flat.n_variables - 1)}
    )
    naive = NaiveBayesClassifier(smoothing="dirichlet").fit(frame, Y)
    assert float(model.loo_score_) == pytest.approx(float(naive.loo_score_), rel=1e-12)


@pytest.mark.parametrize("search", SEARCHES)
def test_all_rows_of_the_first_monks_problem_give_its_concept(search: str) -> None:
    table = make_monks(1)
    model = HNBClassifier(search=search, random_state=0).fit(table.X, table.y)
    report = model.latents_[0]
    assert report.children == ("a1", "a2")
    told = [[str(rule) for rule in state.rules] for state in report.states]
    assert told == [["a1 = a2"], ["a1 != a2"]]


def test_the_trace_tells_of_every_round() -> None:
    model = HNBClassifier(search="hill_climbing", random_state=0).fit(X, Y)
    accepted = [step.accepted for step in model.search_trace_]
    assert len([step for step in accepted if step]) == len(model.tree_.latents)
    assert accepted[-1] is None
    for step in model.search_trace_:
        assert all(c.negative_log_p >= 0 and c.n_states >= 1 for c in step.candidates)


def test_the_summary_names_the_latent_variables() -> None:
    model = HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    ).fit(X, Y)
    remarks = model.summary().remarks
    assert "L4 joins chest_pain and exercise_induced_angina: 8 joint states in 3" in (
        remarks
    )
    assert isinstance(model.is_regular(), bool)


def test_an_explanation_names_the_rule_that_fired() -> None:
    model = HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    ).fit(X, Y)
    text = " ".join(str(model.explain(X.slice(0, 1))[0]).split())
    assert "by L4: chest_pain = asymptomatic and exercise_induced_angina = no" in text


@pytest.fixture(scope="module")
def four_latents() -> HNBClassifier:
    """A model with nested latent variables."""
    return HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    ).fit(X, Y)


def test_transform_gives_the_posteriors_of_the_network(
    four_latents: HNBClassifier,
) -> None:
    frame = X.to_pandas().astype(object)
    rng = np.random.default_rng(0)
    frame = frame.mask(rng.random(frame.shape) < 0.3)
    found = four_latents.transform(frame)
    network = four_latents.network_
    codes = four_latents.encoder_.transform(to_columns(frame)).codes
    table = {
        name: [None if code >= len(states) else states[code] for code in column]
        for name, states, column in (
            (str(network.names[v]), network.variables[v].states, codes.column(v))
            for v in range(codes.n_variables)
        )
    }
    reports = four_latents.latents_
    expected = [network.posterior_table(table, report.name) for report in reports]
    np.testing.assert_allclose(found, np.concatenate(expected, axis=1), atol=1e-12)


def test_in_complete_rows_transform_gives_the_state_whose_rule_holds(
    four_latents: HNBClassifier,
) -> None:
    codes = four_latents.encoder_.transform(to_columns(X)).codes
    columns = four_latents.tree_.node_codes(codes)
    states = [s for report in four_latents.latents_ for s in report.states]
    holds = [sum(rule.holds(columns) for rule in state.rules) for state in states]
    np.testing.assert_array_equal(four_latents.transform(X), np.transpose(holds))


def test_transform_follows_the_conventions_of_scikit_learn(
    four_latents: HNBClassifier,
) -> None:
    names = four_latents.get_feature_names_out()
    assert names.tolist()[:5] == ["L1_1", "L1_2", "L1_3", "L2_1", "L2_2"]
    frame = clone(four_latents).set_output(transform="pandas").fit_transform(X, Y)
    assert frame.columns.tolist() == names.tolist()
    np.testing.assert_array_equal(frame, four_latents.transform(X))
    with pytest.raises(ValueError, match="input_features is not equal"):
        four_latents.get_feature_names_out(["a"] * 13)
    with pytest.raises(NotFittedError):
        HNBClassifier().transform(X)
    both = make_pipeline(clone(four_latents), LogisticRegression()).fit(X, Y)
    assert both.score(X, Y) > 0.75


def test_without_latents_transform_gives_no_columns() -> None:
    table = make_monks(3)
    model = HNBClassifier(search="significance", significance_level=1e-300)
    assert model.fit(table.X, table.y).transform(table.X).shape == (len(table.y), 0)
    assert str(model.latents_).startswith("no latent variables")


def test_latents_are_a_table_of_states_meanings_and_shares_of_rows(
    four_latents: HNBClassifier,
) -> None:
    table = four_latents.latents_.to_arrow()
    *_, last = table.to_pylist()
    share = pytest.approx(141 / 270)
    assert last == {
        "latent": "L4",
        "children": ["chest_pain", "exercise_induced_angina"],
        "state": 3,
        "meaning": "chest_pain != asymptomatic",
        "share": share,
    }
    assert four_latents.latents_.to_pandas().groupby("latent").share.sum().eq(1).all()
    text = str(four_latents.latents_)
    assert "L4 joins chest_pain and exercise_induced_angina" in text
    assert "state 3, 52.2 % of rows: chest_pain != asymptomatic" in text


def _with_bic(**parameters: Any) -> HNBClassifier:
    return HNBClassifier(search="bic", random_state=0, **parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"latents": [["age", "sex"]]}, "latents is about latent variables that are"),
        ({"required_joins": [("age", "sex")]}, "required_joins is about"),
        ({"feature_selection": "forward"}, "feature_selection is about"),
        ({"estimation": "counting"}, "estimation='counting' needs to count"),
        ({"objective": "conditional"}, "objective='conditional' needs to count"),
        ({"smoothing": "auto"}, "smoothing='auto' needs to count"),
    ],
)
def test_bic_refuses_what_needs_rules_or_counts(
    parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        _with_bic(**parameters).fit(X, Y)


def test_bic_refuses_batches() -> None:
    with pytest.raises(ValueError, match="search='bic' needs all rows at once"):
        _with_bic().partial_fit(X, Y, classes=np.unique(Y))


def _small() -> tuple[pd.DataFrame, Any]:
    """Two near copies and a column that depends on the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    a = rng.integers(2, size=300)
    b, c = (
        np.where(rng.random(300) < 0.9, v, rng.integers(2, size=300)) for v in (a, y)
    )
    return pd.DataFrame({"a": a, "b": b, "c": c}).astype(str), y


def test_a_model_found_by_bic_is_the_same_from_its_file(tmp_path: Path) -> None:
    frame, y = _small()
    model = _with_bic(calibration="leave_one_out").fit(frame, y)
    model.save(tmp_path / "model.bayleaf")
    loaded = bayleaf.load(tmp_path / "model.bayleaf")
    missing = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.3)
    for rows in (frame, missing):
        assert (loaded.predict_proba(rows) == model.predict_proba(rows)).all()
        assert (loaded.transform(rows) == model.transform(rows)).all()


def test_a_model_found_by_bic_answers_as_its_network() -> None:
    frame, y = _small()
    model = _with_bic().fit(frame, y)
    assert list(model.get_feature_names_out()) == ["L1_1", "L1_2"]
    network, rows = model.network_, frame.iloc[:20].to_dict("list")
    for name, found in (
        (network.domain.names[-1], model.predict_proba(frame.iloc[:20])),
        ("L1", model.transform(frame.iloc[:20])),
    ):
        expected = network.posterior_table(rows, name)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    for explanation in model.explain(frame.iloc[:20]):
        terms = sum(term.contribution for term in explanation.terms)
        assert explanation.log_odds == pytest.approx(explanation.prior + terms)


def test_latent_variables_found_by_bic_have_no_rules() -> None:
    frame, y = _small()
    model = _with_bic().fit(frame, y)
    assert str(model) == "L1 with 2 states is above a, b"
    assert not hasattr(model, "latents_")
    with pytest.raises(AttributeError, match="have distributions, not rules"):
        model.rules()
    assert not hasattr(model.set_params(search="top_pairs").fit(frame, y), "score_")
