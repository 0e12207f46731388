"""Classifiers whose tables are fitted to the classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayleaf
from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    AveragedKDBClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.datasets import load_heart

X, Y = load_heart(return_X_y=True)
FITTED = [NaiveBayesClassifier, TANClassifier, KDBClassifier]


def _mean_log(model: Any) -> float:
    own = np.searchsorted(model.classes_, np.asarray(Y))
    return float(model.predict_log_proba(X)[np.arange(len(own)), own].mean())


@pytest.mark.parametrize("kind", FITTED)
def test_training_classes_become_more_probable(kind: Any) -> None:
    generative = kind().fit(X, Y)
    conditional = kind(objective="conditional").fit(X, Y)
    assert _mean_log(conditional) > _mean_log(generative) + 0.01
    fit = conditional.conditional_fit_
    assert fit.after / 270 == pytest.approx(_mean_log(conditional), rel=1e-9)
    assert fit.before / 270 == pytest.approx(_mean_log(generative), rel=1e-9)
    assert conditional.network_.dag == generative.network_.dag


def test_a_given_prior_stays() -> None:
    model = NaiveBayesClassifier(objective="conditional", class_prior=[0.3, 0.7])
    np.testing.assert_array_equal(model.fit(X, Y).model_.class_prior, [0.3, 0.7])


def test_the_log_likelihood_is_that_of_the_new_tables() -> None:
    model = NaiveBayesClassifier(objective="conditional").fit(X, Y)
    own = np.searchsorted(model.classes_, np.asarray(Y))
    joint = model.predict_joint_log_proba(X)[np.arange(len(own)), own].sum()
    assert model.log_likelihood_ == pytest.approx(joint, rel=1e-9)


def test_calibration_holds_rows_out_as_none_can_be_left_out_by_counts() -> None:
    model = NaiveBayesClassifier(
        objective="conditional", calibration="leave_one_out"
    ).fit(X, Y)
    assert model.temperature_ != 1.0
    with pytest.raises(AttributeError, match="no exact leave-one-out"):
        _ = model.loo_score_


def test_files_keep_conditional_tables(tmp_path: Path) -> None:
    model = TANClassifier(objective="conditional", pull=3.0).fit(X, Y)
    model.save(tmp_path / "a.json")
    again = bayleaf.load(tmp_path / "a.json")
    assert again.get_params()["pull"] == 3.0
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "kind", [A2DEClassifier, AODEClassifier, AveragedKDBClassifier]
)
def test_averages_have_no_objective(kind: Any) -> None:
    with pytest.raises(TypeError, match="objective"):
        kind(objective="conditional")


def test_batches_refuse() -> None:
    model = NaiveBayesClassifier(objective="conditional")
    with pytest.raises(ValueError, match="objective='conditional' needs all rows"):
        model.partial_fit(X, Y, classes=["absent", "present"])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"objective": "discriminative"}, ValueError),
        ({"pull": -1.0}, ValueError),
        ({"pull": None}, TypeError),
    ],
)
def test_other_values_are_refused(
    options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error, match=next(iter(options))):
        NaiveBayesClassifier(**options).fit(X, Y)
