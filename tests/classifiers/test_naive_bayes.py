"""Naive Bayes: a product of smoothed frequencies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayleaf import Lidstone, MaximumLikelihood, NaiveBayesClassifier
from contract.tables import nominal_frame

_ROWS = [["sun", "hot"], ["sun", "mild"], ["rain", "mild"], ["rain", "cool"]]
_LABELS = ["out", "out", "in", "in"]


def test_the_joint_is_the_product_of_smoothed_frequencies() -> None:
    model = NaiveBayesClassifier().fit(_ROWS, _LABELS)
    # (2+1)/(4+2) of the class, (0+1)/(2+2) and (1+1)/(2+3) of the cells given "in".
    expected_in = 3 / 6 * 1 / 4 * 2 / 5
    expected_out = 3 / 6 * 3 / 4 * 2 / 5
    np.testing.assert_allclose(
        np.exp(model.predict_joint_log_proba([["sun", "mild"]])[0]),
        [expected_in, expected_out],
        rtol=1e-14,
    )


@pytest.mark.parametrize("alpha", [0.1, 1.0, 3.0])
def test_alpha_is_added_to_each_count(alpha: float) -> None:
    model = NaiveBayesClassifier(smoothing=Lidstone(alpha)).fit(_ROWS, _LABELS)
    expected = (0 + alpha) / (2 + 3 * alpha)
    table = model.network_.cpds[1].probabilities
    hot = model.encoder_.domain[1].states.index("hot")
    assert table[0, hot] == pytest.approx(expected, rel=1e-14)


def test_without_a_floor_what_no_row_has_is_impossible() -> None:
    rule = MaximumLikelihood(floor=0)
    model = NaiveBayesClassifier(smoothing=rule).fit(_ROWS, _LABELS)
    found = model.predict_joint_log_proba([["sun", "mild"], ["rain", None]])
    with np.errstate(divide="ignore"):
        expected = np.log([[0.0, 1 / 2 * 1 / 2], [1 / 2, 0.0]])
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    with pytest.raises(ValueError, match="row 0 has probability zero under every"):
        model.predict_proba([["rain", "hot"]])


def test_the_log_likelihood_is_that_of_the_training_rows() -> None:
    frame, y = nominal_frame()
    model = NaiveBayesClassifier().fit(frame, y)
    joint = model.predict_joint_log_proba(frame)
    codes = np.unique(y, return_inverse=True)[1]
    expected = math.fsum(joint[np.arange(len(y)), codes])
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-12)


def test_the_class_is_the_only_parent() -> None:
    model = NaiveBayesClassifier().fit(_ROWS, _LABELS)
    assert model.edges_ == [("class", "x0"), ("class", "x1")]
    assert model.summary().n_arcs == 0


def test_free_parameters_are_counted() -> None:
    model = NaiveBayesClassifier().fit(_ROWS, _LABELS)
    assert model.summary().n_parameters == 1 + 2 * (2 - 1) + 2 * (3 - 1)
