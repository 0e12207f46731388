"""Averaged KDB: additive, left-out, reproducible, and honest about small tables."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.model_selection import StratifiedKFold

import bayleaf
from bayleaf import AveragedKDBClassifier, Dirichlet
from bayleaf.classifiers.shared.leave_one_out import left_out_proba
from bayleaf.datasets import load_heart
from bayleaf.models.averaged_kdb_model import WeightedEdge
from offenders import check_each


def _mixed(n_rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, words and holes; the class depends on a pair of columns."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(3, size=n_rows), rng.integers(3, size=n_rows)
    y = np.array(["no", "yes", "perhaps"])[(a + b + (rng.random(n_rows) < 0.2)) % 3]
    frame = pd.DataFrame(
        {
            "word": np.array(["p", "q", "r"])[a],
            "other": np.array(["s", "t", "u"])[b],
            "number": a + rng.normal(size=n_rows),
            "noise": rng.normal(size=n_rows),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "word"] = None
    frame.loc[rng.random(n_rows) < 0.1, "number"] = np.nan
    return frame, y


@pytest.fixture(scope="module")
def fitted() -> tuple[AveragedKDBClassifier, pd.DataFrame, np.ndarray]:
    frame, y = _mixed()
    return AveragedKDBClassifier(n_networks=5, random_state=0).fit(frame, y), frame, y


def test_scores_are_the_weighted_sum_of_mean_log_probabilities(fitted: Any) -> None:
    model, frame, _ = fitted
    codes = model.encoder_.transform(bayleaf.data.tables.frames.to_columns(frame)).codes
    inner = model.model_
    logs = inner.log_probabilities(codes)
    scores = inner.base + np.einsum("rcij,ij->rc", logs, inner.weights)
    densities = np.empty((codes.n_rows, 3, inner.linear.weights.size))
    inner.linear.families.write_log_densities(codes, densities, 0)
    scores += densities @ inner.linear.weights.ravel()
    expected = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(frame), expected, atol=1e-10)
    assert inner.weights.min() >= 0


def test_contributions_and_increments_add_up(fitted: Any) -> None:
    model, frame, _ = fitted
    strange = frame.head(3).assign(other="never seen")
    for rows in (frame, strange):
        for explanation in model.explain(rows):
            total = explanation.prior + sum(t.contribution for t in explanation.terms)
            assert total == pytest.approx(explanation.log_odds, abs=1e-10)
            for term in explanation.terms:
                assert sum(term.increments) == pytest.approx(
                    term.contribution, abs=1e-10
                )
    terms = model.explain(strange)[0].terms
    assert terms[1].contribution == 0.0
    assert "alone" in str(model.explain(frame.head(1))[0])


def test_the_base_is_the_weighted_log_prior_and_the_bias(fitted: Any) -> None:
    model, _, y = fitted
    counts = np.array([(y == label).sum() for label in model.classes_])
    prior = (counts + 1 / 3) / (counts.sum() + 1)
    np.testing.assert_allclose(model.model_.class_prior, prior, rtol=1e-12)
    np.testing.assert_allclose(
        model.model_.base, model.prior_weight_ * np.log(prior) + model.biases_
    )


def test_interacting_columns_are_learned_that_naive_bayes_cannot_see() -> None:
    frame, y = _mixed(1200)
    train, test = slice(0, 900), slice(900, None)
    model = AveragedKDBClassifier(random_state=0).fit(frame[train], y[train])
    naive = bayleaf.NaiveBayesClassifier().fit(frame[train], y[train])
    assert model.score(frame[test], y[test]) > naive.score(frame[test], y[test]) + 0.2


def test_the_left_out_loss_foretells_that_of_new_rows() -> None:
    frame, y = _mixed(900)
    model = AveragedKDBClassifier(random_state=0).fit(frame, y)
    fresh, truth = _mixed(3000, seed=1)
    proba = model.predict_proba(fresh)
    index = {label: i for i, label in enumerate(model.classes_.tolist())}
    own = [index[label] for label in truth]
    loss = -np.log(proba[np.arange(len(own)), own]).mean()
    foretold = -model.log_likelihood_ / len(y)
    assert loss == pytest.approx(foretold, abs=0.05)
    resubstituted = model.predict_proba(frame)
    own = [index[label] for label in y]
    seen = -np.log(resubstituted[np.arange(len(own)), own]).mean()
    assert seen < foretold


def test_labels_of_test_rows_and_their_company_change_no_prediction() -> None:
    frame, y = _mixed()
    train, test = next(StratifiedKFold(3).split(frame, y))
    model = AveragedKDBClassifier(n_networks=4, random_state=0).fit(
        frame.iloc[train], y[train]
    )
    together = model.predict_proba(frame.iloc[test])
    threes = [
        model.predict_proba(frame.iloc[test[first : first + 3]])
        for first in range(0, len(test), 3)
    ]
    np.testing.assert_array_equal(np.concatenate(threes), together)
    scrambled = y.copy()
    scrambled[test] = np.random.default_rng(0).permutation(y[test])
    again = AveragedKDBClassifier(n_networks=4, random_state=0).fit(
        frame.iloc[train], scrambled[train]
    )
    np.testing.assert_array_equal(again.predict_proba(frame.iloc[test]), together)


def test_the_order_of_rows_changes_no_bit() -> None:
    frame, y = _mixed()
    order = np.random.default_rng(1).permutation(len(y))
    one = AveragedKDBClassifier(n_networks=4, random_state=0).fit(frame, y)
    other = AveragedKDBClassifier(n_networks=4, random_state=0).fit(
        frame.iloc[order], y[order]
    )
    np.testing.assert_array_equal(
        one.predict_log_proba(frame), other.predict_log_proba(frame)
    )


@pytest.fixture(scope="module")
def by_one_thread() -> AveragedKDBClassifier:
    return AveragedKDBClassifier(n_jobs=1, random_state=0).fit(*_mixed(2500))


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_change_no_bit(
    n_jobs: int, by_one_thread: AveragedKDBClassifier
) -> None:
    frame, y = _mixed(2500)
    one = by_one_thread
    other = AveragedKDBClassifier(n_jobs=n_jobs, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(
        one.predict_log_proba(frame), other.predict_log_proba(frame)
    )
    assert one.log_likelihood_ == other.log_likelihood_


@pytest.mark.slow
def test_a_seed_gives_one_model_and_another_seed_another() -> None:
    frame, y = _mixed()
    first, same, other = (
        AveragedKDBClassifier(random_state=seed).fit(frame, y).predict_proba(frame)
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
    np.testing.assert_allclose(first, other, atol=0.2)


def test_even_weights_are_the_plain_average() -> None:
    frame, y = _mixed()
    model = AveragedKDBClassifier(
        weights=None, max_parents=2, n_networks=4, random_state=0
    ).fit(frame, y)
    np.testing.assert_array_equal(model.model_.weights, np.full((4, 3), 1 / 3))
    assert model.prior_weight_ == 1.0
    assert np.isnan(model.penalty_)


def test_one_network_of_a_fixed_coding_without_parents_is_naive_bayes() -> None:
    frame, y = _mixed()
    model = AveragedKDBClassifier(
        n_networks=1, max_parents=0, weights=None, discretizer="mdlp", random_state=0
    ).fit(frame, y)
    naive = bayleaf.NaiveBayesClassifier(smoothing="dirichlet", missing="state")
    np.testing.assert_allclose(
        model.predict_proba(frame), naive.fit(frame, y).predict_proba(frame), atol=1e-12
    )


def test_fewer_rows_carry_the_weights_where_max_rows_says_so() -> None:
    frame, y = _mixed(600)
    model = AveragedKDBClassifier(max_rows=50, n_networks=4, random_state=0).fit(
        frame, y
    )
    whole = AveragedKDBClassifier(n_networks=4, random_state=0).fit(frame, y)
    assert abs(model.log_likelihood_) < abs(whole.log_likelihood_) / 5
    for one, other in zip(
        model.model_.networks[0].families,
        whole.model_.networks[0].families,
        strict=True,
    ):
        assert one.marginal.sum() == other.marginal.sum() == 600


def test_edges_carry_weights_and_class_arcs_are_the_features_totals(
    fitted: Any,
) -> None:
    model, frame, _ = fitted
    edges = model.edges_
    assert all(isinstance(edge, WeightedEdge) and edge.weight >= 0 for edge in edges)
    of_class = {
        child: e.weight for e in edges for parent, child in [e] if parent == "class"
    }
    totals = dict(zip(frame.columns, model.model_.weights.sum(axis=1), strict=True))
    totals["number"] += model.model_.linear.weights.sum()
    assert of_class == pytest.approx(totals)
    strongest = {
        child: max((e.weight, e[0]) for e in edges if e[1] == child and e[0] != "class")
        for child in ("word", "other")
    }
    assert strongest["other"][1] in ("word", "number")
    assert strongest["word"][1] in ("other", "number")
    assert pickle.loads(pickle.dumps(edges[0])).weight == edges[0].weight


def test_the_shape_of_a_numeric_feature_is_its_term_before_parents(
    fitted: Any,
) -> None:
    model, frame, _ = fitted
    shape = model.shape("number")
    assert shape.kind == "numeric"
    assert len(shape.edges) == len(shape.states) == len(shape.contributions)
    assert shape.states[-1] == "missing"
    np.testing.assert_allclose(shape.contributions.sum(axis=1), 0.0, atol=1e-12)
    assert shape.row_counts.sum() == len(frame)
    index = {label: i for i, label in enumerate(shape.classes)}
    for row, explanation in enumerate(model.explain(frame.head(40))):
        value = frame["number"].iloc[row]
        place = (
            len(shape.states) - 1
            if np.isnan(value)
            else int(np.searchsorted(shape.edges[1:-1], value))
        )
        line = shape.contributions[place]
        # Each class is against the mean of the two others.
        found = line[index[explanation.target]] - line[index[explanation.against]]
        found *= 2 / 3
        assert explanation.terms[2].alone == pytest.approx(found, abs=1e-10)


def test_the_shape_of_a_nominal_feature_has_a_bar_for_each_value(fitted: Any) -> None:
    model, _, _ = fitted
    shape = model.shape("word")
    assert (shape.kind, shape.states) == ("nominal", ("p", "q", "r", "missing"))
    assert shape.edges.size == 0
    assert "missing" in str(shape)
    assert len(json.loads(json.dumps(shape.to_dict()))["states"]) == 4
    with pytest.raises(ValueError, match="no feature 'nothing'; the features are word"):
        model.shape("nothing")


def test_a_number_between_those_of_training_takes_its_interval(fitted: Any) -> None:
    model, frame, _ = fitted
    far = frame.head(1).assign(number=[1e9])
    largest = frame.head(1).assign(number=[frame["number"].max()])
    np.testing.assert_array_equal(
        model.predict_proba(far), model.predict_proba(largest)
    )


@pytest.mark.parametrize("inline", [True, False])
def test_a_saved_model_predicts_and_explains_bit_for_bit(
    fitted: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, inline: bool
) -> None:
    model, frame, _ = fitted
    if not inline:
        monkeypatch.setattr("bayleaf.io.native.archive.MAX_INLINE", 10)
    model.save(tmp_path / "model.json")
    assert zipfile.is_zipfile(tmp_path / "model.json") is not inline
    read = bayleaf.load(tmp_path / "model.json")
    np.testing.assert_array_equal(
        read.predict_log_proba(frame), model.predict_log_proba(frame)
    )
    assert read.explain(frame.head(5)) == model.explain(frame.head(5))
    assert [e.weight for e in read.edges_] == [e.weight for e in model.edges_]
    assert str(read.shape("number")) == str(model.shape("number"))
    assert read.get_params() == model.get_params()


def test_a_deployment_prior_shifts_the_odds_in_full(fitted: Any) -> None:
    model, frame, _ = fitted
    new = np.array([0.7, 0.2, 0.1])
    odds = model.predict_proba(frame) * new / model.model_.class_prior
    np.testing.assert_allclose(
        model.with_class_prior(new).predict_proba(frame),
        odds / odds.sum(axis=1, keepdims=True),
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("frame", "y"),
    [
        (pd.DataFrame({"a": ["p"], "b": [1.5]}), ["x"]),
        (pd.DataFrame({"a": ["p", "q"], "b": [1.5, 2.5]}), ["x", "y"]),
        (pd.DataFrame({"a": ["p", "q"] * 5, "b": np.arange(10.0)}), ["x"] * 9 + ["y"]),
        (pd.DataFrame({"a": ["p"] * 12, "b": [0.5] * 12}), ["x", "y"] * 6),
        (pd.DataFrame({"a": [None] * 12, "b": np.arange(12.0)}), ["x", "y"] * 6),
        (pd.DataFrame({"a": [None] * 12, "b": [np.nan] * 12}), ["x", "y"] * 6),
    ],
    ids=["one row", "two rows", "rare class", "constant", "a hole", "all holes"],
)
def test_tables_that_say_little_fit_and_predict(frame: pd.DataFrame, y: Any) -> None:
    model = AveragedKDBClassifier(random_state=0).fit(frame, y)
    proba = model.predict_proba(frame)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.isfinite(model.log_likelihood_)
    assert str(model.summary())
    assert [e.target for e in model.explain(frame)] == model.predict(frame).tolist()


def test_wrong_parameters_are_refused() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        parameters, sentence = case
        frame, y = _mixed(30)
        with pytest.raises(ValueError, match=sentence):
            AveragedKDBClassifier(**parameters, random_state=0).fit(frame, y)

    check_each(
        [
            ({"n_networks": 0}, "n_networks must be an integer >= 1, got 0"),
            ({"max_parents": -1}, "max_parents must be an integer >= 0"),
            ({"max_rows": 0}, "max_rows must be an integer >= 1"),
            ({"n_bins": 1}, "n_bins must be an integer >= 2"),
            ({"weights": "even"}, "weights must be one of 'leave_one_out', got 'even'"),
            (
                {"missing": "marginalize"},
                "cannot sum a feature out; use missing='state'",
            ),
            ({"smoothing": "backoff"}, "Lidstone, Dirichlet and MEstimate"),
            ({"discretizer": "none"}, "discretizer"),
        ],
        check,
    )


def test_there_is_no_single_network(fitted: Any) -> None:
    with pytest.raises(AttributeError, match="averages several networks"):
        _ = fitted[0].network_


def test_every_backend_gives_the_same_model(
    make_frame: Callable[[dict[str, Any]], Any],
) -> None:
    frame, y = _mixed(80)
    columns = {
        name: [None if pd.isna(cell) else cell for cell in frame[name].tolist()]
        for name in frame
    }
    model = AveragedKDBClassifier(n_networks=3, random_state=0).fit(
        make_frame(columns), y
    )
    expected = AveragedKDBClassifier(n_networks=3, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(
        model.predict_proba(make_frame(columns)), expected.predict_proba(frame)
    )


def test_a_missing_cell_of_a_column_without_holes_says_nothing() -> None:
    table = load_heart()
    model = AveragedKDBClassifier(
        n_networks=4, smoothing=Dirichlet(2.0), random_state=0
    )
    model.fit(table.X, table.y)
    name = table.X.column_names[0]
    hole = pa.array([None], type=table.X.column(0).type)
    row = table.X.slice(0, 1).set_column(0, name, hole)
    assert model.explain(row)[0].terms[0].contribution == 0.0


def test_even_weights_are_calibrated_by_one_temperature() -> None:
    frame, y = _mixed()
    plain = AveragedKDBClassifier(weights=None, n_networks=4, random_state=0).fit(
        frame, y
    )
    model = AveragedKDBClassifier(
        weights=None, calibration="leave_one_out", n_networks=4, random_state=0
    )
    model.fit(frame, y)
    assert model.temperature_ != 1.0
    assert model.loo_score_.log_loss < plain.loo_score_.log_loss
    scaled = plain.predict_log_proba(frame) / model.temperature_
    scaled -= np.logaddexp.reduce(scaled, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(frame), scaled, atol=1e-12)
    learned = AveragedKDBClassifier(
        calibration="leave_one_out", n_networks=4, random_state=0
    ).fit(frame, y)
    assert learned.temperature_ == 1.0


def test_the_smoothing_rule_may_be_chosen_by_left_out_rows() -> None:
    frame, y = _mixed()
    model = AveragedKDBClassifier(smoothing="auto", n_networks=4, random_state=0).fit(
        frame, y
    )
    assert model.smoothing_ == model.selection_.best.smoothing
    assert len(model.selection_) > 3
    assert model.model_.smoothing == model.smoothing_


def test_the_leave_one_out_score_is_that_of_the_rows_weights_were_learned_on() -> None:
    frame, y = _mixed()
    model = AveragedKDBClassifier(n_networks=4, random_state=0).fit(frame, y)
    assert model.loo_score_.log_loss * len(y) == pytest.approx(-model.log_likelihood_)
    assert 0 < model.loo_score_.error < 1
    assert pickle.loads(pickle.dumps(model)).log_likelihood_ == model.log_likelihood_


def test_the_summary_ranks_arcs_and_names_the_single_drawing(fitted: Any) -> None:
    model, frame, _ = fitted
    summary = model.summary()
    heaviest = max(
        (edge for edge in model.edges_ if edge[0] != "class"), key=lambda e: e.weight
    )
    assert summary.arcs[0] == tuple(heaviest)
    assert 'KDBClassifier(k="auto"' in str(summary)
    few = AveragedKDBClassifier(random_state=0).fit(frame.head(10), ["a"] * 9 + ["b"])
    assert "only one row of class 'b'" in str(few.summary())
    assert "only 10 training rows" in str(few.summary())


def test_a_model_with_an_empty_interval_comes_back_from_its_file(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    values = np.append(rng.normal(size=100), 100.0)
    y = (values > 0).astype(int)
    model = AveragedKDBClassifier(
        n_networks=2, discretizer="equal_width", random_state=0
    ).fit(values[:, None], y)
    assert not all(
        network.families[0].marginal.all() for network in model.model_.networks
    )

    model.save(tmp_path / "model.json")

    rows = np.array([[0.5], [50.0], [100.0], [-1e9]])
    expected = model.predict_proba(rows)
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(
        bayleaf.load(tmp_path / "model.json").predict_proba(rows), expected
    )


def test_each_training_row_has_the_answer_of_the_model_without_it(fitted: Any) -> None:
    model, _, y = fitted
    codes = model._training_codes
    proba = left_out_proba(model, codes)
    labels = codes.column(codes.n_variables - 1)
    loss = -np.log(proba[np.arange(len(y)), labels]).mean()
    assert loss == pytest.approx(model.loo_score_.log_loss)
    # A pickle keeps those of suggested cases.
    kept = left_out_proba(pickle.loads(pickle.dumps(model)), codes)
    is_kept = ~np.isnan(kept).any(axis=1)
    assert 0 < is_kept.sum() <= 3
    np.testing.assert_array_equal(kept[is_kept], proba[is_kept])


def test_rows_beyond_those_that_weights_are_learned_from_have_no_answer() -> None:
    frame, y = _mixed()
    model = AveragedKDBClassifier(n_networks=2, max_rows=200, random_state=0)
    proba = left_out_proba(model.fit(frame, y), model._training_codes)
    assert np.isnan(proba).all(axis=1).sum() == 100
    even = AveragedKDBClassifier(n_networks=2, fit_prior=False, random_state=0)
    assert np.isnan(left_out_proba(even.fit(frame, y), even._training_codes)).all()
