"""Rates by group with their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.datasets import load_heart
from bayleaf.evaluation import audit, figures_by_group
from bayleaf.plot import group_rates


@pytest.fixture(scope="module")
def found():
    heart = load_heart()
    model = NaiveBayesClassifier().fit(heart.X, heart.y)
    return audit(model, heart.frame, "disease", by=["sex", "age"])


def test_points_are_the_rates_and_lines_their_intervals(found) -> None:
    ax = group_rates(found, rates=["selection_rate"])
    rates = [g.classes[0].selection_rate for g in found.groupings[0].groups]
    (points,) = (line for line in ax.lines if len(line.get_xdata()) == 2)
    assert list(points.get_xdata()) == [rate.value for rate in rates]
    segments = [bar.get_segments()[0][:, 0].tolist() for bar in ax.collections]
    assert segments == [[rate.low, rate.high] for rate in rates]


def test_groups_are_named_with_their_rows(found) -> None:
    ax = group_rates(found, columns=["sex", "age"])
    names = [label.get_text() for label in ax.get_yticklabels()]
    groups = found.groupings[2].groups
    assert names == [f"{group.name} ({group.n_rows})" for group in groups]
    assert ax.get_title() == "present by age, sex"


def test_a_rate_that_no_row_tells_is_not_drawn() -> None:
    only_one = figures_by_group([1, 1, 0], [[0.5, 0.5]] * 3, [1, 0, 0], [*"aab"])
    ax = group_rates(only_one, rates=["false_positive_rate"])
    assert [len(line.get_xdata()) for line in ax.lines] == [1]


def test_hostile_names_are_drawn_as_they_are() -> None:
    names = ["$\\frac{1}{0}$", "_hidden", "x" * 300]
    figures = figures_by_group(
        np.tile([0, 1], 6), [[0.5, 0.5]] * 12, np.tile([1, 1], 6), names * 4
    )
    ax = group_rates(figures)
    ax.figure.canvas.draw()
    assert any("$" in label.get_text() for label in ax.get_yticklabels())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rates": ["speed"]}, "rates must be some of"),
        ({"rates": []}, "rates must be some of"),
        ({"positive": "perhaps"}, "positive must be a class"),
        ({"columns": "town"}, "no groups by town"),
    ],
)
def test_what_cannot_be_drawn_is_refused(found, change, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        group_rates(found, **change)
