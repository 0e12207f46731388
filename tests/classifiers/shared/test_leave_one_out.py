"""Choosing and calibrating by left-out rows, as the user of a classifier sees it."""

from __future__ import annotations

import copy
import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import bayleaf
from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    KDBClassifier,
    Lidstone,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.classifiers import AveragedKDBClassifier
from bayleaf.data.codes import Codes
from bayleaf.search.left_out.left_out_scores import LeaveOneOut
from bayleaf.search.left_out.selection import SMOOTHING_GRID, rules_without_zeros
from contract.tables import mixed_frame, nominal_frame
from offenders import check_each

KINDS = (
    NaiveBayesClassifier,
    TANClassifier,
    KDBClassifier,
    AODEClassifier,
    A2DEClassifier,
)
CALIBRATED = {"calibration": "leave_one_out", "random_state": 0}


class TwiceLaplace:
    """A user's rule that knows whole tables only."""

    def estimate(self, counts: Any) -> Any:
        return (counts + 2.0) / (counts + 2.0).sum(axis=-1, keepdims=True)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_plain_fit_leaves_no_row_out(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("rows were left out")

    monkeypatch.setattr(LeaveOneOut, "__init__", refuse)
    model = kind().fit(*mixed_frame())
    assert (model.temperature_, model.smoothing_) == (1.0, Lidstone(1.0))
    with pytest.raises(AssertionError, match="left out"):
        _ = model.loo_score_


def test_the_score_of_naive_bayes_is_that_of_refits() -> None:
    frame, y = nominal_frame(30)
    labels = np.array(y)
    losses = []
    for row in range(len(y)):
        # One row of a pair weighs next to nothing, so that states and classes stay.
        weights = np.ones(len(y))
        weights[row] = 1e-12
        rest = NaiveBayesClassifier().fit(frame, y, sample_weight=weights)
        proba = rest.predict_proba(frame.iloc[[row]])[0]
        losses.append(-np.log(proba[rest.classes_ == labels[row]][0]))
    score = NaiveBayesClassifier().fit(frame, y).loo_score_
    assert float(score) == pytest.approx(np.mean(losses), rel=1e-9)


def test_a_pickled_model_has_no_score(kind: Any) -> None:
    model = kind().fit(*mixed_frame())
    assert model.loo_score_.log_loss > 0
    for other in (pickle.loads(pickle.dumps(model)), copy.copy(model)):
        with pytest.raises(AttributeError, match="needs the training rows"):
            _ = other.loo_score_


def test_a_model_under_another_prior_has_no_score(kind: Any) -> None:
    model = kind(**CALIBRATED).fit(*mixed_frame()).with_class_prior([0.2, 0.3, 0.5])
    assert not hasattr(model, "loo_score_")


def test_a_read_model_has_the_score_that_was_known(kind: Any, tmp_path: Path) -> None:
    model = kind().fit(*mixed_frame())
    model.save(tmp_path / "m.json")
    with pytest.raises(AttributeError, match="needs the training rows"):
        _ = bayleaf.load(tmp_path / "m.json").loo_score_
    known = model.loo_score_
    model.save(tmp_path / "m.json")
    again = bayleaf.load(tmp_path / "m.json").loo_score_
    assert again == known
    assert np.array_equal(again.calibration.rows, known.calibration.rows)


def test_a_read_model_tells_the_rule_it_was_given(kind: Any, tmp_path: Path) -> None:
    kind(smoothing="m_estimate").fit(*mixed_frame()).save(tmp_path / "m.json")
    assert bayleaf.load(tmp_path / "m.json").smoothing_ == bayleaf.MEstimate(5.0)


def test_a_model_without_exact_leave_one_out_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(TANClassifier, "_left_out_log_scores", lambda *_: None)
    model = TANClassifier().fit(*mixed_frame())
    with pytest.raises(AttributeError, match="has no exact leave-one-out"):
        _ = model.loo_score_


@pytest.mark.parametrize("kind", [NaiveBayesClassifier, AODEClassifier, A2DEClassifier])
def test_learning_by_batches_lets_the_rows_go(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind().partial_fit(frame, y, classes=sorted(set(y)))
    with pytest.raises(AttributeError, match="partial_fit"):
        _ = model.loo_score_


@pytest.mark.parametrize("parameters", [CALIBRATED, {"smoothing": "auto"}])
def test_learning_by_batches_refuses_what_needs_all_rows(parameters: Any) -> None:
    frame, y = nominal_frame()
    name = next(iter(parameters))
    with pytest.raises(ValueError, match=f"{name}='.*' needs all rows at once"):
        NaiveBayesClassifier(**parameters).partial_fit(frame, y, classes=sorted(set(y)))


def test_another_calibration_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="calibration must be one of 'leave_one_out'"):
        kind(calibration="isotonic").fit(*mixed_frame())


def test_the_temperature_is_that_of_least_log_loss(kind: Any) -> None:
    frame, y = mixed_frame(60)
    model = kind(**CALIBRATED).fit(frame, y)

    plain = kind(random_state=0).fit(frame, y)

    def loss(temperature: float) -> float:
        plain.temperature_ = temperature
        # As if no one had asked for the score at another temperature.
        plain._loo_score = None
        return float(plain.loo_score_)

    found = minimize_scalar(
        loss, bounds=(0.05, 20.0), method="bounded", options={"xatol": 2e-4}
    )
    assert float(model.loo_score_) <= found.fun + 1e-12
    assert model.temperature_ == pytest.approx(found.x, abs=1e-3)


def test_calibration_changes_no_prediction_and_no_joint_probability(kind: Any) -> None:
    frame, y = mixed_frame()
    plain, calibrated = (
        kind(random_state=0).fit(frame, y),
        kind(**CALIBRATED).fit(frame, y),
    )
    assert calibrated.temperature_ != 1.0
    assert calibrated.predict(frame).tolist() == plain.predict(frame).tolist()
    np.testing.assert_array_equal(
        calibrated.predict_joint_log_proba(frame), plain.predict_joint_log_proba(frame)
    )


def test_calibrated_posteriors_are_powers_of_the_plain_ones(kind: Any) -> None:
    frame, y = mixed_frame()
    plain, calibrated = (
        kind(random_state=0).fit(frame, y),
        kind(**CALIBRATED).fit(frame, y),
    )
    codes = calibrated._predictor().encode(frame)
    known = np.stack([~codes.missing(i) for i in range(codes.n_variables)], axis=1)
    strengths = information_in_model(plain)
    others = strengths.sum() - strengths.max()
    highest = (known * strengths).max(axis=1)
    shares = np.where(known.all(axis=1), 1.0, (known @ strengths - highest) / others)
    exponents = 1.0 + shares * (1.0 / calibrated.temperature_ - 1.0)
    assert 0 < known.all(axis=1).sum() < len(known)
    powers = plain.predict_proba(frame) ** exponents[:, None]
    powers /= powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(calibrated.predict_proba(frame), powers, rtol=1e-10)


def information_in_model(model: Any) -> np.ndarray:
    """I(X;C) of each feature in a model, by the joint probabilities of its states."""
    predictor, domain = model._predictor(), model.model_.domain
    found = []
    for feature, card in enumerate(domain.cards[:-1]):
        cells = [np.full(card, other) for other in domain.cards[:-1]]
        cells[feature] = np.arange(card)
        codes = Codes.from_columns(cells, domain.cards[:-1])
        joint = np.exp(predictor.joint_log_proba(codes))
        joint /= joint.sum()
        ratios = joint / joint.sum(axis=1, keepdims=True) / joint.sum(axis=0)
        found.append((joint * np.log(ratios)).sum())
    return np.array(found)


@pytest.mark.parametrize("prior", [None, [0.7, 0.1, 0.2]])
def test_one_known_feature_predicts_as_without_calibration(
    kind: Any, prior: Any
) -> None:
    frame, y = mixed_frame()
    plain = kind(random_state=0, class_prior=prior).fit(frame, y)
    calibrated = kind(class_prior=prior, **CALIBRATED).fit(frame, y)
    domain = plain.model_.domain
    cells = [np.full(3, card) for card in domain.cards[:-1]]
    cells[1] = np.arange(3) % domain.cards[1]
    codes = Codes.from_columns(cells, domain.cards[:-1])
    np.testing.assert_allclose(
        calibrated._predictor().proba(codes), plain._predictor().proba(codes)
    )


def test_a_new_prior_changes_calibrated_posteriors_in_proportion(kind: Any) -> None:
    frame, y = mixed_frame()
    model = kind(**CALIBRATED).fit(frame, y)
    old, new = model.model_.class_prior, np.array([0.7, 0.1, 0.2])
    expected = model.predict_proba(frame) * new / old
    expected /= expected.sum(axis=1, keepdims=True)
    once = model.with_class_prior(new)
    twice = model.with_class_prior([0.1, 0.1, 0.8]).with_class_prior(new)
    for other in (once, twice):
        np.testing.assert_allclose(other.predict_proba(frame), expected, rtol=1e-10)
    back = once.with_class_prior(old)
    np.testing.assert_allclose(
        back.predict_proba(frame), model.predict_proba(frame), rtol=1e-10
    )


def test_calibrated_explanations_add_up(kind: Any) -> None:
    frame, y = mixed_frame()
    model = kind(**CALIBRATED).fit(frame, y)
    for fitted in (model, model.with_class_prior([0.7, 0.1, 0.2])):
        rows = frame.head(40)
        proba = fitted.predict_log_proba(rows)
        for row, explanation in enumerate(fitted.explain(rows)):
            terms = sum(term.contribution for term in explanation.terms)
            assert explanation.prior + terms == pytest.approx(
                explanation.log_odds, abs=1e-10
            )
            first, second = np.sort(proba[row])[::-1][:2]
            assert explanation.log_odds == pytest.approx(first - second, abs=1e-10)


def test_a_file_keeps_calibration_bit_for_bit(kind: Any, tmp_path: Path) -> None:
    frame, y = mixed_frame()
    model = kind(**CALIBRATED).fit(frame, y)
    for fitted in (model, model.with_class_prior([0.7, 0.1, 0.2])):
        fitted.save(tmp_path / "m.json")
        for other in (
            bayleaf.load(tmp_path / "m.json"),
            pickle.loads(pickle.dumps(fitted)),
        ):
            np.testing.assert_array_equal(
                other.predict_proba(frame), fitted.predict_proba(frame)
            )
            assert str(other.summary()) == str(fitted.summary())


def test_the_summary_tells_the_temperature(kind: Any) -> None:
    model = kind(**CALIBRATED).fit(*mixed_frame())
    assert f"temperature      {model.temperature_:.4g}" in str(model.summary())
    assert model.summary().to_dict()["temperature"] == model.temperature_
    assert "temperature" not in str(kind().fit(*mixed_frame()).summary())


@pytest.mark.parametrize("kind", [*KINDS, AveragedKDBClassifier])
def test_threads_change_no_bit(kind: Any, tmp_path: Path) -> None:
    frame, y = mixed_frame()
    texts = []
    for n_jobs in (1, 2):
        model = kind(n_jobs=n_jobs, **CALIBRATED)
        if kind is KDBClassifier:
            model.set_params(k="auto", n_features="auto", smoothing="auto")
        if kind is AveragedKDBClassifier:
            model.set_params(n_networks=4)
        model.fit(frame, y).set_params(n_jobs=1).save(tmp_path / "m.json")
        texts.append((tmp_path / "m.json").read_bytes())
    assert texts[0] == texts[1]


def test_auto_takes_the_rule_of_least_log_loss(kind: Any) -> None:
    frame, y = mixed_frame(40)
    # Each rule is fitted alone; three features are enough for that.
    frame = frame[["weather", "guests", "degrees"]]
    model = kind(smoothing="auto").fit(frame, y)
    rules = rules_without_zeros(model._training_codes)
    assert len(rules) == len(SMOOTHING_GRID) - 2
    alone = [kind(smoothing=rule).fit(frame, y).loo_score_ for rule in rules]
    assert model.smoothing_ == rules[int(np.argmin([*map(float, alone)]))]
    for candidate, score in zip(model.selection_, alone, strict=True):
        assert candidate.log_loss == pytest.approx(score.log_loss, rel=1e-12)
        assert candidate.error == pytest.approx(score.error, rel=1e-12)
        assert candidate.rmse == pytest.approx(score.rmse, rel=1e-12)
    fixed = kind(smoothing=model.smoothing_).fit(frame, y)
    np.testing.assert_array_equal(
        model.predict_proba(frame), fixed.predict_proba(frame)
    )


def test_a_second_fit_chooses_anew(kind: Any) -> None:
    frame, y = mixed_frame(60)
    model = kind(smoothing="auto").fit(frame, y)
    other, labels = mixed_frame(60, seed=3)
    first = model.selection_
    assert model.fit(other, labels).selection_ != first
    model.set_params(smoothing="laplace").fit(frame, y)
    assert not hasattr(model, "selection_")


def test_a_weight_of_two_is_a_repeated_row(kind: Any) -> None:
    frame, y = nominal_frame(missing=0.1)
    labels = np.array(y)
    weights = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), weights)
    parameters = {"smoothing": "auto", **CALIBRATED}
    weighted = kind(**parameters).fit(frame, labels, weights)
    repeated = kind(**parameters).fit(frame.iloc[rows], labels[rows])
    assert weighted.temperature_ == pytest.approx(repeated.temperature_, rel=1e-8)
    assert weighted.smoothing_ == repeated.smoothing_
    assert float(weighted.loo_score_) == pytest.approx(
        float(repeated.loo_score_), rel=1e-12
    )


def test_a_fixed_prior_is_not_decremented() -> None:
    frame, y = mixed_frame()
    for parameters in ({"fit_prior": False}, {"class_prior": [1 / 3, 1 / 3, 1 / 3]}):
        model = KDBClassifier(**parameters).fit(frame, y)
        left_out = model._leave_one_out(
            model._training_codes, model.model_.domain, [model.smoothing_]
        )
        prior = left_out.log_prior(left_out.rows)
        np.testing.assert_allclose(prior, np.log(1 / 3), rtol=1e-15)


def test_a_rule_of_ones_own_fits_but_leaves_no_row_out(kind: Any) -> None:
    frame, y = mixed_frame()
    model = kind(smoothing=TwiceLaplace()).fit(frame, y)
    np.testing.assert_allclose(
        model.predict_proba(frame),
        kind(smoothing=Lidstone(2.0)).fit(frame, y).predict_proba(frame),
        rtol=1e-10,
    )
    with pytest.raises(TypeError, match="a method probabilities"):
        _ = model.loo_score_


def test_a_rule_of_ones_own_is_calibrated_on_held_out_folds(kind: Any) -> None:
    frame, y = mixed_frame(seed=1)
    own = kind(smoothing=TwiceLaplace(), **CALIBRATED).fit(frame, y)
    by_counts = kind(smoothing=Lidstone(2.0), **CALIBRATED).fit(frame, y)
    assert own.temperature_ != 1.0
    assert own.temperature_ == pytest.approx(by_counts.temperature_, rel=0.5)


def test_rows_of_weight_zero_are_in_no_held_out_fold(kind: Any) -> None:
    frame, y = mixed_frame(60)
    weights = np.tile([0.0, 1.0, 2.0], 20)
    kept = weights > 0
    parameters = {"smoothing": TwiceLaplace(), **CALIBRATED}
    weighted = kind(**parameters).fit(frame, y, weights)
    removed = kind(**parameters).fit(frame[kept], np.array(y)[kept], weights[kept])
    assert weighted.temperature_ == removed.temperature_ != 1.0


def test_degenerate_tables_are_fitted(kind: Any) -> None:
    def check(case: Any) -> None:
        (rows, labels), smoothing = case
        parameters = (
            {"k": "auto", "n_features": "auto"} if kind is KDBClassifier else {}
        )
        model = kind(smoothing=smoothing, **CALIBRATED, **parameters).fit(rows, labels)
        assert np.isfinite(model.predict_proba(rows)).all()
        assert np.isfinite(float(model.loo_score_))
        assert 0.05 <= model.temperature_ <= 20.0
        if len(set(labels)) == 1:
            assert model.temperature_ == 1.0

    check_each(
        itertools.product(
            [
                ([["p", "q"]], ["a"]),
                ([["p", "q"], ["r", "q"]], ["a", "a"]),
                ([["p", "q"], ["r", "q"]], ["a", "b"]),
                ([["p", "p"], ["p", "p"], ["p", "p"]], ["a", "b", "b"]),
                ([["p", "q"]] * 4 + [["r", "s"]], ["a", "a", "b", "b", "c"]),
            ],
            ["auto", "m_estimate", "maximum_likelihood"],
        ),
        check,
    )


def test_the_summary_names_a_class_of_one_row(kind: Any) -> None:
    rows = [["p", "q"]] * 4 + [["r", "s"]]
    labels = ["a", "a", "b", "b", "c"]
    text = str(kind(**CALIBRATED).fit(rows, labels).summary())
    assert "only one row of class 'c': leave-one-out predicts it from nothing" in text
    assert "leave-one-out" not in str(kind().fit(rows, labels).summary())
