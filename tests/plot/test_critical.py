"""Critical-difference diagrams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf.evaluation import RankTest, friedman_test
from bayleaf.plot import critical_difference
from bayleaf.plot.critical import _bar_tiers
from offenders import check_each

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


def test_what_does_not_fit_is_refused() -> None:
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
