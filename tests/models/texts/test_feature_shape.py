"""Ends of intervals as pictures draw them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.models.texts.feature_shape import finite_edges


def test_outer_intervals_end_where_training_ends() -> None:
    ages = np.linspace(20.5, 70.25, 40)
    model = NaiveBayesClassifier().fit(pd.DataFrame({"age": ages}), [0] * 20 + [1] * 20)
    found = model.shape("age")
    assert found.drawn_edges[0] == pytest.approx(20.5)
    assert found.drawn_edges[-1] == pytest.approx(70.25)
    np.testing.assert_array_equal(found.drawn_edges[1:-1], found.edges[1:-1])
    assert np.isfinite(found.drawn_edges).all()
    assert found.to_dict()["drawn_edges"] == found.drawn_edges.tolist()
    assert model.shape("age").row_counts.sum() == 40
    nominal = NaiveBayesClassifier().fit([["a"], ["b"]], [0, 1]).model_.domain[0]
    assert len(finite_edges(nominal)) == 0


def test_a_picture_of_positive_numbers_begins_at_the_least() -> None:
    rates = np.geomspace(0.01, 100.0, 40)
    model = NaiveBayesClassifier(discretizer="equal_frequency")
    model.fit(pd.DataFrame({"rate": rates}), [0] * 20 + [1] * 20)
    edges = model.shape("rate").drawn_edges
    assert edges[0] == pytest.approx(0.01)
    assert edges[-1] == pytest.approx(100.0)
