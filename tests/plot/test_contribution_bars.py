"""Explanations drawn as waterfalls."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.datasets import load_heart
from bayleaf.models.explanation import Explanation, Term
from bayleaf.plot import contributions


def explanation(sizes: tuple[float, ...] = (2.0, -1.0, 0.25)) -> Explanation:
    terms = tuple(Term(f"x{i}", f"s_{i}$", (), size) for i, size in enumerate(sizes))
    log_odds = 0.5 + sum(sizes)
    return Explanation(3, "yes", "no", 0.8, 0.2, log_odds, 0.5, terms)


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
    assert ax.get_xlabel() == "for yes against no (nats)"


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
    assert widths[:-1].sum() == pytest.approx(found.log_odds, abs=1e-10)


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
