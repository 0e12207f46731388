"""Mean ranks, critical differences, errors against errors, and learning curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf.evaluation import RankTest, friedman_test
from bayleaf.plot import critical_difference, error_scatter, learning_curve, rank_bars
from bayleaf.plot.comparisons import _bar_tiers
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


NAMES = (
    "naive Bayes",
    "TAN",
    "KDB (k = 2)",
    "AODE",
    "averaged KDB",
    "hierarchical naive Bayes",
    "random forest of 500 trees",
    "gradient boosting",
    "a name that is longer than anybody could ever read in a picture",
    "_with_ $marks$",
)


def ten_models(spread: float = 0.05) -> RankTest:
    rng = np.random.default_rng(1)
    return friedman_test(
        {name: rng.random(30) - spread * i for i, name in enumerate(NAMES)}
    )


def groups(ax: Any) -> list[Any]:
    return [line for line in ax.lines if str(line.get_gid()).startswith("group")]


@pytest.mark.parametrize("spread", [0.0, 0.02, 0.05, 1.0])
def test_no_names_of_ten_models_overlap_and_all_are_inside(spread: float) -> None:
    ax = critical_difference(ten_models(spread))
    ax.figure.draw_without_rendering()
    texts = [text for text in ax.texts if text.get_text()]
    extents = [text.get_window_extent() for text in texts]
    assert len(texts) >= 10 + 2
    assert not any(
        first.overlaps(second)
        for i, first in enumerate(extents)
        for second in extents[:i]
    )
    whole = ax.figure.bbox
    assert all(whole.x0 <= e.x0 and e.x1 <= whole.x1 for e in extents)
    assert all(whole.y0 <= e.y0 and e.y1 <= whole.y1 for e in extents)


def test_every_model_has_a_line_from_its_rank_to_its_name() -> None:
    test = ten_models()
    ax = critical_difference(test)
    lines = [line for line in ax.lines if len(line.get_xdata()) == 3]
    starts = [line.get_xdata()[0] for line in lines]
    assert sorted(starts) == pytest.approx(sorted(test.mean_ranks.values()))
    for name, rank in test.mean_ranks.items():
        text = next(
            t
            for t in ax.texts
            if t.get_text().startswith(name[:10])
            or f"{rank:.2f}  {name[:10]}" in t.get_text()
        )
        ends = {line.get_ydata()[-1] for line in lines if line.get_xdata()[0] == rank}
        assert text.get_position()[1] in ends
        assert f"{rank:.2f}" in text.get_text()
    names = [text.get_text() for text in ax.texts]
    assert any("_with_ $marks$" in text for text in names)
    assert not any(text.get_parse_math() for text in ax.texts)


def test_bars_are_the_groups_of_the_test() -> None:
    test = ten_models()
    ax = critical_difference(test)
    expected = [(test.mean_ranks[g[0]], test.mean_ranks[g[-1]]) for g in test.groups()]
    assert len(expected) > 1
    for line, (start, end) in zip(groups(ax), expected, strict=True):
        left, right = line.get_xdata()
        assert left <= start <= left + 0.2
        assert right - 0.2 <= end <= right


def test_names_of_32_letters_are_whole() -> None:
    names = ["HistGradientBoosting, calibrated", "nb", "tan"]
    ranks = dict(zip(names, (1.0, 2.0, 3.0), strict=True))
    ax = critical_difference(ranks, n_datasets=200)
    texts = [text.get_text() for text in ax.texts]
    assert f"{names[0]}  1.00" in texts


def test_the_ruler_is_as_long_as_the_critical_difference() -> None:
    test = ten_models()
    ax = critical_difference(test, level=0.1)
    least = test.critical_difference(0.1)
    told = next(t for t in ax.texts if "critical" in t.get_text())
    assert told.get_text() == f"critical difference {least:.2f}"
    lengths = [np.ptp(line.get_xdata()) for line in ax.lines]
    assert any(length == pytest.approx(least) for length in lengths)


def test_ranks_given_by_name_are_drawn_like_a_test() -> None:
    test = ten_models()
    ax = critical_difference(test.mean_ranks, n_datasets=30)
    expected = critical_difference(test)
    assert len(ax.lines) == len(expected.lines)
    for line, other in zip(ax.lines, expected.lines):
        assert line.get_xydata() == pytest.approx(other.get_xydata())


def test_bars_at_one_height_share_no_rank() -> None:
    ranks = {name: float(i) for i, name in enumerate("abcdef", start=1)}
    bars = [("a", "b", "c"), ("b", "c", "d"), ("d", "e"), ("e", "f")]
    tiers = _bar_tiers(bars, ranks)
    assert tiers == [0, 1, 0, 1]


def test_models_that_all_differ_have_no_bar() -> None:
    ax = critical_difference({"a": 1.0, "b": 2.0, "c": 3.0}, n_datasets=200)
    assert not groups(ax)


def test_ranks_that_do_not_fit_are_refused() -> None:
    def check(case: tuple[Any, Any, type[Exception], str]) -> None:
        ranks, n_datasets, error, match = case
        with pytest.raises(error, match=match):
            critical_difference(ranks, n_datasets=n_datasets)

    check_each(
        [
            ({"a": 1.0, "b": 2.0}, None, ValueError, "give n_datasets"),
            ({"a": 1.0, "b": 3.0}, 4, ValueError, "rank of 'b' is 3"),
            ({"a": 1.0, "b": float("nan")}, 4, ValueError, "rank of 'b' is nan"),
            ({"a": 1.0}, 4, ValueError, "at least 2 models"),
            ([1.0, 2.0], 4, TypeError, "got list"),
        ],
        check,
    )
