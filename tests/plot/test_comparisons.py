"""Mean ranks, errors against errors, and learning curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf.plot import error_scatter, learning_curve, rank_bars
from offenders import check_each

SCORES = {"a": [0.9, 0.8, 0.7], "$b_1$": [0.9, 0.9, 0.6], "_c": [0.1, 0.2, 0.8]}


def test_bars_are_mean_ranks_with_the_best_on_top_and_ties_won_by_all() -> None:
    ax = rank_bars(SCORES)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(
        [5.5 / 3, 5.5 / 3, 7 / 3]
    )
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "$b_1$", "_c"]
    told = [text.get_text().strip() for text in ax.texts]
    assert told == [
        "1.83, best on 1 of 3",
        "1.83, best on 2 of 3",
        "2.33, best on 1 of 3",
    ]
    low, high = ax.get_ylim()
    assert low > high


def test_for_losses_the_smallest_is_best() -> None:
    ax = rank_bars(SCORES, larger_is_better=False)
    assert ax.get_yticklabels()[0].get_text() == "_c"
    assert ax.texts[0].get_text().strip() == "1.67, best on 2 of 3"


def test_a_point_a_data_set_with_the_wins_in_the_legend() -> None:
    errors = {
        "hnb": [1.0, 2.0, 3.0, 4.0],
        "nb": [2.0, 2.0, 5.0, 3.0],
        "_t": [5, 6, 7, 8],
    }
    ax = error_scatter(errors, method="hnb", unit="%")
    points = ax.lines[1:]
    assert points[0].get_xydata().tolist() == [[1, 2], [2, 2], [3, 5], [4, 3]]
    assert points[1].get_xydata()[:, 1].tolist() == [5, 6, 7, 8]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "nb: 2 better, 1 worse",
        "_t: 4 better, 0 worse",
    ]
    assert ax.get_xlabel() == "error of hnb (%)"
    # The diagonal means the same on both axes.
    assert ax.get_xlim() == ax.get_ylim()
    (x0, x1), (y0, y1) = ax.lines[0].get_data()
    assert (x0, x1) == (y0, y1)


def test_curves_are_means_with_standard_deviations_by_growing_size() -> None:
    scores = {"flat": [[1.0, 3.0], [4.0, 4.0]], "tree": [2.0, 5.0]}
    ax = learning_curve([1000, 10], scores, score="bits")
    first, second = ax.lines[0], ax.containers[1].lines[0]
    assert first.get_xydata().tolist() == [[10, 4], [1000, 2]]
    assert second.get_xydata().tolist() == [[10, 5], [1000, 2]]
    (segments,) = ax.containers[0].lines[2]
    ends = np.array(segments.get_segments())[:, :, 1]
    assert ends == pytest.approx(np.array([[4, 4], [2 - 2**0.5, 2 + 2**0.5]]))
    assert not ax.containers[1].has_yerr
    assert ax.get_xscale() == "log"
    assert ax.get_ylabel() == "bits"
    assert learning_curve([10, 20], {"a": [1, 2]}).get_xscale() == "linear"


def test_lines_differ_in_more_than_colour() -> None:
    ax = learning_curve([10, 20], {f"m{i}": [i, i + 1] for i in range(7)})
    lines = [container.lines[0] for container in ax.containers]
    assert len({line.get_marker() for line in lines}) == 7
    assert len({line.get_color() for line in lines}) == 7


def test_what_does_not_fit_is_refused() -> None:
    def check(case: tuple[Any, str]) -> None:
        call, match = case
        with pytest.raises(ValueError, match=match):
            call()

    check_each(
        [
            (lambda: rank_bars({}), "there is no model to compare"),
            (lambda: rank_bars({"a": [1, 2], "b": [1]}), r"are \[2, 1\]"),
            (lambda: rank_bars({"a": [1, np.nan]}), "scores of a must hold finite"),
            (
                lambda: error_scatter({"a": [1], "b": [2]}, method="c"),
                "there are: a, b",
            ),
            (lambda: error_scatter({"a": [1]}, method="a"), "give two methods"),
            (
                lambda: learning_curve([0, 1], {"a": [1, 2]}),
                "sizes must be above 0, got 0",
            ),
            (lambda: learning_curve([1, 2], {}), "there is no method to draw"),
            (
                lambda: learning_curve([1, 2], {"a": [1]}),
                "each of the 2 sizes, got shape",
            ),
            (
                lambda: learning_curve([1, 2], {"a": [1, np.inf]}),
                "scores of a must hold f",
            ),
        ],
        check,
    )


@pytest.mark.parametrize("call", [rank_bars, lambda s: learning_curve([1, 2], s)])
def test_scores_without_names_are_refused(call: Any) -> None:
    with pytest.raises(TypeError, match="mapping of names to scores, got list"):
        call([1, 2])
