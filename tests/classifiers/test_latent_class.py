"""Mixtures within classes as classifiers and as densities."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import (
    LatentClassNBClassifier,
    NaiveBayesClassifier,
    UnknownValuesWarning,
)
from bayleaf.cpds.smoothing import Lidstone, MaximumLikelihood, MEstimate
from contract.tables import mixed_frame, nominal_frame
from offenders import check_each


def _parity(n_rows: int = 400) -> tuple[pd.DataFrame, list[str]]:
    """Two columns that tell the class only together, and one that tells nothing."""
    rng = np.random.default_rng(0)
    bits = rng.integers(2, size=(n_rows, 3))
    frame = pd.DataFrame(np.array(["n", "y"])[bits], columns=["a", "b", "c"])
    return frame, np.array(["even", "odd"])[bits[:, 0] ^ bits[:, 1]].tolist()


@pytest.mark.parametrize("rule", ["laplace", "dirichlet", "m_estimate", Lidstone(0.2)])
def test_one_component_is_naive_bayes(rule: Any) -> None:
    frame, y = nominal_frame(missing=0.1)
    one = LatentClassNBClassifier(n_components=1, smoothing=rule, random_state=0).fit(
        frame, y
    )
    naive = NaiveBayesClassifier(smoothing=rule).fit(frame, y)
    np.testing.assert_allclose(
        one.predict_joint_log_proba(frame),
        naive.predict_joint_log_proba(frame),
        rtol=1e-12,
    )
    assert one.network_.dag.parents == naive.network_.dag.parents
    assert one.components() == "one component: naive Bayes"


def test_components_learn_what_columns_tell_only_together() -> None:
    frame, y = _parity()
    naive = NaiveBayesClassifier().fit(frame, y)
    mixture = LatentClassNBClassifier(n_components=2, random_state=0).fit(frame, y)
    assert naive.score(frame, y) < 0.7
    assert mixture.score(frame, y) == 1.0
    assert mixture.em_fit_.converged


@pytest.mark.slow
def test_the_number_of_components_is_chosen_by_held_out_rows() -> None:
    frame, y = _parity(200)
    # As many equal rows as here are one row to folds, so some noise tells them apart.
    rng = np.random.default_rng(1)
    frame = frame.assign(**{f"n{i}": rng.integers(3, size=len(y)) for i in range(4)})
    model = LatentClassNBClassifier(
        n_components="auto", n_restarts=2, random_state=0
    ).fit(frame, y)
    assert model.n_components_ == 2
    tried = [step.n_components for step in model.size_trace_]
    assert tried == [1, 2, 4, 8, 16]
    losses = [step.log_loss for step in model.size_trace_]
    assert losses[1] < 0.3 < losses[0]
    few = model.set_params(max_components=3).fit(frame, y)
    assert [step.n_components for step in few.size_trace_] == [1, 2]


def test_naive_bayes_is_chosen_where_components_do_not_help() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=150)
    flips = rng.random((150, 4)) < 0.3
    model = LatentClassNBClassifier(
        n_components="auto", n_restarts=2, random_state=0
    ).fit(y[:, None] ^ flips, y.tolist())
    assert model.n_components_ == 1


def test_a_choice_among_sizes_needs_more_than_one_distinct_row() -> None:
    model = LatentClassNBClassifier(n_components="auto", random_state=0).fit(
        [["p"]] * 3, ["a"] * 3
    )
    assert model.n_components_ == 1
    assert [step.log_loss for step in model.size_trace_] == [math.inf]


@pytest.mark.parametrize("parameters", [{}, {"n_components": "auto", "n_restarts": 1}])
def test_repeating_a_row_equals_its_weight(parameters: Any) -> None:
    frame, y = nominal_frame(missing=0.1)
    weights = np.arange(len(y)) % 3
    settings = {"calibration": "leave_one_out", "n_components": 2, **parameters}
    one = LatentClassNBClassifier(**settings, random_state=0).fit(
        frame, y, sample_weight=weights
    )
    again = np.repeat(np.arange(len(y)), weights)[::-1]
    other = LatentClassNBClassifier(**settings, random_state=0).fit(
        frame.iloc[again], np.array(y)[again]
    )
    assert one.temperature_ == other.temperature_ != 1.0
    np.testing.assert_array_equal(one.predict_proba(frame), other.predict_proba(frame))


def test_the_log_likelihood_is_that_of_the_training_rows() -> None:
    frame, y = nominal_frame(missing=0.1)
    weights = np.arange(len(y)) % 4 / 2.0
    model = LatentClassNBClassifier(n_components=3, random_state=0).fit(
        frame, y, sample_weight=weights
    )
    own = np.searchsorted(model.classes_, y)
    joint = model.predict_joint_log_proba(frame)[np.arange(len(y)), own]
    assert model.log_likelihood_ == pytest.approx(float(weights @ joint), rel=1e-12)


def test_a_given_prior_stays_as_it_is() -> None:
    frame, y = nominal_frame(missing=0.1)
    prior = [0.2, 0.3, 0.5]
    model = LatentClassNBClassifier(
        class_prior=prior, n_components=2, random_state=0
    ).fit(frame, y)
    assert model.model_.class_prior.tolist() == prior
    learned = LatentClassNBClassifier(n_components=2, random_state=0).fit(frame, y)
    np.testing.assert_allclose(
        learned.with_class_prior(prior).predict_proba(frame),
        model.predict_proba(frame),
        rtol=1e-12,
    )


def test_calibration_lowers_the_log_loss_of_held_out_rows() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=400)
    # Columns that repeat one another make the model too sure of itself.
    column = y ^ (rng.random(400) < 0.3)
    X = np.column_stack([column ^ (rng.random(400) < 0.02) for _ in range(12)])
    plain = LatentClassNBClassifier(n_components=1, random_state=0).fit(
        X[:200], y[:200]
    )
    calibrated = LatentClassNBClassifier(
        n_components=1, calibration="leave_one_out", random_state=0
    ).fit(X[:200], y[:200])
    assert calibrated.temperature_ > 1.5

    def log_loss(model: Any) -> float:
        found = model.predict_log_proba(X[200:])
        return -float(np.mean(found[np.arange(200), y[200:]]))

    assert log_loss(calibrated) < 0.8 * log_loss(plain)


def test_a_state_that_only_the_held_out_fold_holds_harms_no_choice() -> None:
    frame, y = nominal_frame(missing=0.0)
    frame.loc[7, "a"] = "lone"
    model = LatentClassNBClassifier(
        n_components="auto",
        n_restarts=1,
        smoothing=MEstimate(0.5),
        calibration="leave_one_out",
        random_state=0,
    ).fit(frame, y)
    assert all(math.isfinite(step.log_loss) for step in model.size_trace_)
    assert np.isfinite(model.predict_proba(frame)).all()


# ---- the model as a density


def test_densities_of_all_rows_sum_to_one() -> None:
    frame, y = nominal_frame(missing=0.1)
    model = LatentClassNBClassifier(n_components=3, random_state=0).fit(frame, y)
    states = [(*variable.states, "new") for variable in model.encoder_.domain]
    rows = pd.DataFrame(list(itertools.product(*states)), columns=list(frame))
    with pytest.warns(UnknownValuesWarning, match="taken as other values"):
        logs = model.score_samples(rows)
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-12)
    nothing = pd.DataFrame({name: [None] for name in frame}, dtype=object)
    np.testing.assert_allclose(model.score_samples(nothing), 0.0, atol=1e-12)


def test_a_missing_cell_is_summed_out_of_the_density() -> None:
    frame, y = nominal_frame(missing=0.1)
    model = LatentClassNBClassifier(n_components=3, random_state=0).fit(frame, y)
    states = model.encoder_.domain[1].states
    rows = pd.DataFrame({"a": "p", "b": [*states, "new", None], "c": "q", "d": "r"})
    with pytest.warns(UnknownValuesWarning):
        *whole, summed = np.exp(model.score_samples(rows))
    assert sum(whole) == pytest.approx(summed, rel=1e-12)


def test_values_not_seen_have_the_probability_of_one_more_state(
    tmp_path: Path,
) -> None:
    frame, y = nominal_frame(missing=0.0)
    model = LatentClassNBClassifier(n_components=3, random_state=0).fit(frame, y)
    row = pd.DataFrame({"a": ["new"], "b": None, "c": None, "d": None}, dtype=object)
    model.save(tmp_path / "model.json")
    for density in (model, bayleaf.load(tmp_path / "model.json")):
        with pytest.warns(UnknownValuesWarning):
            (log,) = density.score_samples(row)
        n_states = model.encoder_.domain[0].n_states
        assert np.exp(log) == pytest.approx(1 / (len(frame) + n_states + 1))


def test_samples_follow_the_learned_distribution() -> None:
    frame, y = nominal_frame(missing=0.1)
    model = LatentClassNBClassifier(n_components=3, random_state=0).fit(frame, y)
    X, classes = model.sample(40_000, random_state=0)
    assert X.column_names == list(frame)
    drawn = X.to_pandas().assign(y=classes.to_pandas())
    found = drawn.groupby(["a", "b", "y"], observed=True).size() / len(drawn)
    for (a, b, label), share in found.items():
        row = pd.DataFrame({"a": [a], "b": [b], "c": None, "d": None}, dtype=object)
        joint = np.exp(model.predict_joint_log_proba(row))[0]
        expected = joint[model.classes_.tolist().index(label)]
        assert share == pytest.approx(expected, abs=0.012)


def test_the_same_seed_draws_the_same_rows() -> None:
    frame, y = mixed_frame()
    model = LatentClassNBClassifier(random_state=0).fit(frame, y)
    one, other = (model.sample(50, random_state=4) for _ in range(2))
    assert one[0].equals(other[0])
    assert one[1].equals(other[1])
    assert not one[0].equals(model.sample(50, random_state=5)[0])


def test_likely_rows_are_told_from_unlikely_ones() -> None:
    frame, y = _parity()
    frame = frame.assign(c=frame["b"])
    model = LatentClassNBClassifier(n_components=2, random_state=0).fit(frame, y)
    usual = pd.DataFrame({"a": ["y"], "b": ["n"], "c": ["n"]})
    odd = usual.assign(c="y")
    assert model.score_samples(usual)[0] > model.score_samples(odd)[0] + 2.0


# ---- looking at the result


def test_components_are_told_with_the_states_that_mark_them() -> None:
    frame, y = _parity()
    model = LatentClassNBClassifier(n_components=2, random_state=0).fit(frame, y)
    text = model.components()
    assert "component 2 of class = even: 0.4" in text
    assert str(model) == text
    # Only the lines are broken elsewhere.
    assert " ".join(text.split()) in " ".join(str(model.summary()).split())
    assert str(LatentClassNBClassifier()) == "LatentClassNBClassifier()"


def test_an_explanation_tells_to_which_components_a_row_belongs() -> None:
    frame, y = _parity()
    model = LatentClassNBClassifier(n_components=2, random_state=0).fit(frame, y)
    shares = model.component_proba(frame[:5])
    assert shares.shape == (5, 2, 2)
    np.testing.assert_allclose(shares.sum(axis=2), 1.0, rtol=1e-12)
    for row, explanation in enumerate(model.explain(frame[:5])):
        own = model.classes_.tolist().index(explanation.target)
        assert explanation.components == tuple(shares[row, own])
        assert max(explanation.components) > 0.95
        assert f"component if {explanation.target}: " in str(explanation)


def test_the_arcs_are_those_of_the_network() -> None:
    frame, y = nominal_frame(missing=0.1)
    edges = LatentClassNBClassifier(n_components=2, random_state=0).fit(frame, y).edges_
    assert ("component", "class") in edges
    assert {("component", "a"), ("class", "a")} <= set(edges)


# ---- parameters


def test_fitting_anew_forgets_the_sizes_tried() -> None:
    frame, y = nominal_frame(missing=0.1)
    model = LatentClassNBClassifier(
        n_components="auto", n_restarts=1, random_state=0
    ).fit(frame, y)
    assert model.size_trace_
    assert not hasattr(model.set_params(n_components=2).fit(frame, y), "size_trace_")


def test_maximum_likelihood_tables_come_after_climbing() -> None:
    frame, y = nominal_frame(missing=0.0)
    rule = MaximumLikelihood()
    model = LatentClassNBClassifier(n_components=1, smoothing=rule, random_state=0).fit(
        frame, y
    )
    naive = NaiveBayesClassifier(smoothing=rule).fit(frame, y)
    np.testing.assert_allclose(
        model.predict_proba(frame), naive.predict_proba(frame), rtol=1e-9
    )


def test_a_wrong_parameter_is_refused() -> None:
    def check(case: tuple[Any, Any, str]) -> None:
        parameters, error, sentence = case
        frame, y = nominal_frame(missing=0.1)
        with pytest.raises(error, match=sentence):
            LatentClassNBClassifier(**parameters, random_state=0).fit(frame, y)

    check_each(
        [
            (
                {"n_components": 0},
                ValueError,
                "n_components must be .* >= 1, got 0; 'auto'",
            ),
            ({"n_components": 2.5}, TypeError, "n_components must be an integer"),
            ({"n_components": "best"}, TypeError, "n_components .*'best'; 'auto'"),
            (
                {"max_components": 0},
                ValueError,
                "max_components must be an integer >= 1",
            ),
            ({"n_restarts": 0}, ValueError, "n_restarts must be an integer >= 1"),
            ({"max_iter": 0}, ValueError, "max_iter must be"),
            ({"tol": -1.0}, ValueError, "tol must be a number >= 0"),
            ({"tol": None}, TypeError, "tol must be a number >= 0"),
            ({"score_folds": 1}, ValueError, "score_folds must be an integer >= 2"),
            ({"smoothing": "auto"}, ValueError, "smoothing='auto' .*name a rule"),
            (
                {"max_table_cells": 50},
                ValueError,
                "feature 'a' with 8 components would have 72 cells.*fewer components",
            ),
        ],
        check,
    )


@pytest.mark.slow
def test_components_help_on_car(load_table: Any) -> None:
    table = load_table("car").to_pandas()
    X, y = table.iloc[:, :-1], table.iloc[:, -1].to_numpy()
    folds = np.random.default_rng(0).permutation(len(y)) % 5
    right = 0
    for fold in range(5):
        train, test = folds != fold, folds == fold
        model = LatentClassNBClassifier(random_state=0).fit(X[train], y[train])
        right += int((model.predict(X[test]) == y[test]).sum())
    assert right / len(y) > 0.93
