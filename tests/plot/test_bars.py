"""Posteriors, importances and explanations as bars."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bayleaf
from bayleaf import NaiveBayesClassifier
from bayleaf.datasets import load_heart
from bayleaf.explain import importance as measure
from bayleaf.models.explanation import Explanation, Term
from bayleaf.plot import contributions, importance, posterior_bars, shape
from bayleaf.wording import in_bits

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
        widths, [in_bits(one.loss_increase) for one in found.ranked()[:5]]
    )
    assert ax.figure.axes == [ax]
    (lines,) = ax.collections
    ends = [segment[:, 0] for segment in lines.get_segments()]
    for feature, (low, high) in zip(found.ranked(), ends, strict=False):
        assert high - low == pytest.approx(4 * in_bits(feature.loss_error))
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
    bits = in_bits(found.contributions)
    np.testing.assert_array_equal(values, bits[: len(values), 1])
    np.testing.assert_array_equal(edges[1:-1], found.edges[1:-1])
    (below,) = (a for a in ax.figure.axes if a is not ax)
    areas = sum(bar.get_height() * bar.get_width() for bar in below.patches)
    assert areas == pytest.approx(found.row_counts[: len(values)].sum())
    assert ax.get_ylabel() == "bits for present"


def test_values_are_bars_with_their_rows(
    average: bayleaf.AveragedKDBClassifier,
) -> None:
    found = average.shape("chest_pain")
    ax = shape(found, target="absent")
    np.testing.assert_allclose(
        [bar.get_width() for bar in ax.patches], in_bits(found.contributions[:, 0])
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


def explanation(sizes: tuple[float, ...] = (2.0, -1.0, 0.25)) -> Explanation:
    """An explanation whose terms are given in bits."""
    bit = math.log(2)
    terms = tuple(
        Term(f"x{i}", f"s_{i}$", (), size * bit) for i, size in enumerate(sizes)
    )
    log_odds = (0.5 + sum(sizes)) * bit
    return Explanation(3, "yes", "no", 0.8, 0.2, log_odds, 0.5 * bit, terms)


def test_bars_begin_where_the_last_one_ended_and_end_at_the_log_odds() -> None:
    ax = contributions(explanation())
    bars = ax.patches
    widths = [bar.get_width() for bar in bars]
    starts = [bar.get_x() for bar in bars]
    assert widths == pytest.approx([0.5, 2.0, -1.0, 0.25, 1.75])
    assert starts == pytest.approx([0.0, 0.5, 2.5, 1.5, 0.0])
    assert starts[-2] + widths[-2] == pytest.approx(widths[-1])


def test_every_bar_has_its_name_and_number() -> None:
    ax = contributions(explanation())
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["prior", "x0 = s_0$", "x1 = s_1$", "x2 = s_2$", "log-odds"]
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["+0.50", "+2.00", "-1.00", "+0.25", "+1.75"]
    assert ax.get_title() == "row 3: yes with probability 0.800"
    assert ax.get_xlabel() == "for yes against no (bits)"


def test_bars_against_the_class_are_hatched_and_of_another_colour() -> None:
    bars = contributions(explanation()).patches
    assert [bar.get_hatch() is not None for bar in bars] == [
        False,
        False,
        True,
        False,
        False,
    ]
    assert bars[2].get_facecolor() != bars[1].get_facecolor()


def test_smaller_terms_share_a_bar() -> None:
    ax = contributions(explanation((0.1, -3.0, 0.2, 0.3)), limit=1)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["prior", "x1 = s_1$", "3 others together", "log-odds"]
    assert ax.patches[2].get_width() == pytest.approx(0.6)
    one = contributions(explanation((0.1, -3.0)), limit=1)
    assert one.get_yticklabels()[2].get_text() == "1 other"


def test_bits_are_nats_over_the_logarithm_of_two() -> None:
    nats, bits = (contributions(explanation(), unit=u) for u in ("nats", "bits"))
    assert [bar.get_width() * math.log(2) for bar in bits.patches] == pytest.approx(
        [bar.get_width() for bar in nats.patches]
    )


def test_the_first_bar_is_on_top() -> None:
    low, high = contributions(explanation()).get_ylim()
    assert low > high


def test_a_row_of_heart_is_drawn_with_all_its_terms() -> None:
    X, y = load_heart(return_X_y=True)
    found = NaiveBayesClassifier().fit(X, y).explain(X.slice(0, 1))[0]
    ax = contributions(found, limit=13)
    widths = np.array([bar.get_width() for bar in ax.patches])
    assert len(widths) == 1 + 13 + 1
    assert widths[:-1].sum() == pytest.approx(found.log_odds_bits, abs=1e-10)


def test_a_row_of_zeros_is_drawn_without_a_warning() -> None:
    found = Explanation(0, "a", "a", 1.0, 1.0, 0.0, 0.0, ())
    ax = contributions(found)
    ax.figure.draw_without_rendering()
    assert len(ax.patches) == 2


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(TypeError, match="explanation must be one of those"):
        contributions([explanation()])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be >= 0, got -1"):
        contributions(explanation(), limit=-1)
    with pytest.raises(ValueError, match="unit must be 'nats' or 'bits'"):
        contributions(explanation(), unit="dits")


@pytest.mark.parametrize("width", [2.5, 5.0, 9.0])
def test_numbers_stay_between_the_ends_of_the_axis(width: float) -> None:
    from matplotlib.figure import Figure

    ax = Figure(figsize=(width, 3), layout="constrained").add_subplot()
    contributions(explanation((-1.0, -2.0, 1.0)), ax=ax)
    ax.figure.draw_without_rendering()
    frame = ax.get_window_extent()
    for text in ax.texts:
        extent = text.get_window_extent()
        assert frame.x0 <= extent.x0
        assert extent.x1 <= frame.x1
