"""Posteriors and importances as bars, shapes as steps."""

from __future__ import annotations

import numpy as np
import pytest

import bayleaf
from bayleaf.datasets import load_heart
from bayleaf.explain import importance as measure
from bayleaf.plot import importance, posterior_bars, shape

X, Y = load_heart(return_X_y=True)


@pytest.fixture(scope="module")
def bayes() -> bayleaf.NaiveBayesClassifier:
    return bayleaf.NaiveBayesClassifier().fit(X, Y)


@pytest.fixture(scope="module")
def average() -> bayleaf.AveragedKDBClassifier:
    return bayleaf.AveragedKDBClassifier(n_networks=4, random_state=0).fit(X, Y)


def test_posteriors_are_bars(bayes: bayleaf.NaiveBayesClassifier) -> None:
    found = bayes.network_.query({"class": "present"}, ["chest_pain", "sex"])
    ax = posterior_bars(found)
    widths = [bar.get_width() for bar in ax.patches]
    expected = [*found["chest_pain"].probabilities, *found["sex"].probabilities]
    np.testing.assert_allclose(widths, expected)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [str(s) for n in ("chest_pain", "sex") for s in found[n].states]
    assert posterior_bars(found["sex"]).patches[0].get_width() == expected[-2]


def test_what_is_no_posterior_or_too_much_is_refused(
    bayes: bayleaf.NaiveBayesClassifier,
) -> None:
    with pytest.raises(TypeError, match="must be what a network's query returns"):
        posterior_bars({"a": 1})
    one = bayes.network_.query()["sex"]
    with pytest.raises(ValueError, match="there are 21 with"):
        posterior_bars(dict.fromkeys(range(21), one))
    with pytest.raises(ValueError, match="there are 0 with 0"):
        posterior_bars({})


def test_importances_are_bars_the_largest_on_top(
    bayes: bayleaf.NaiveBayesClassifier,
) -> None:
    found = measure(bayes)
    ax = importance(found, limit=5)
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(
        widths, [one.loss_increase for one in found.ranked()[:5]]
    )
    assert ax.get_title() == "the first 5 of 13 features"
    assert all(
        bar.get_hatch() for bar in importance(found).patches if bar.get_width() < 0
    )
    with pytest.raises(ValueError, match="limit must be at least 1"):
        importance(found, limit=0)
    with pytest.raises(TypeError, match=r"bayleaf\.explain\.importance"):
        importance(bayes)  # type: ignore[arg-type]


def test_numbers_are_steps_over_their_rows(
    average: bayleaf.AveragedKDBClassifier,
) -> None:
    found = average.shape("age")
    ax = shape(found)
    (steps,) = (p for p in ax.patches if hasattr(p, "get_data"))
    values, edges, _ = steps.get_data()
    np.testing.assert_array_equal(values, found.contributions[: len(values), 1])
    np.testing.assert_array_equal(edges[1:-1], found.edges[1:-1])
    (below,) = (a for a in ax.figure.axes if a is not ax)
    rows = [bar.get_height() for bar in below.patches]
    assert rows == found.row_counts[: len(rows)].tolist()
    assert ax.get_ylabel() == "nats for present"


def test_values_are_bars_with_their_rows(
    average: bayleaf.AveragedKDBClassifier,
) -> None:
    found = average.shape("chest_pain")
    ax = shape(found, target="absent")
    np.testing.assert_allclose(
        [bar.get_width() for bar in ax.patches], found.contributions[:, 0]
    )
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names[0] == f"{found.states[0]}\n{found.row_counts[0]:g} rows"
    with pytest.raises(ValueError, match="no class 'ill'; classes are"):
        shape(found, target="ill")
    with pytest.raises(TypeError, match="what a model's shape returns"):
        shape(average)


def test_expectations_are_drawn_around_what_rows_expect() -> None:
    # A thousand trees change nothing in the drawing, but take two seconds.
    model = bayleaf.AveragedKDBRegressor(n_networks=2, trees=False, random_state=0)
    features = X.drop_columns(["age"])
    model.fit(features, X["age"].to_numpy())
    found = model.shape("sex", features)
    ax = shape(found)
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(ends, found.expectations)


def test_classes_have_lines_of_their_own() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 9, 600)
    numbers = (y + rng.normal(size=600)).reshape(-1, 1)
    model = bayleaf.NaiveBayesClassifier().fit(numbers, y)
    with pytest.raises(ValueError, match="choose one as target"):
        shape(model.shape("x0"))
    few = bayleaf.NaiveBayesClassifier().fit(numbers[y < 4], y[y < 4])
    ax = shape(few.shape("x0"))
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["0", "1", "2", "3"]


def test_axes_show_themselves_in_notebooks(bayes: bayleaf.NaiveBayesClassifier) -> None:
    ax = posterior_bars(bayes.network_.query()["sex"])
    png, size = ax._repr_png_()
    assert png.startswith(b"\x89PNG")
    assert size["width"] == pytest.approx(96 * ax.figure.get_figwidth(), abs=1)
    # Axes of the caller are shown by whoever made them.
    from matplotlib.figure import Figure

    own = Figure().subplots()
    assert not hasattr(
        posterior_bars(bayes.network_.query()["sex"], ax=own), "_repr_png_"
    )
