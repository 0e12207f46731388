"""What all pictures share: axes, labels that fit, and a missing matplotlib."""

from __future__ import annotations

import inspect
import io
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayleaf.plot
from bayleaf import NaiveBayesClassifier
from bayleaf.datasets import load_heart
from bayleaf.plot import calibration, contributions, network, rank_bars, roc, style
from offenders import check_each

SCORES = {"a": [1.0, 2.0], "b": [2.0, 1.0], "c": [0.0, 0.5]}


def test_every_function_takes_axes_and_returns_them(matplotlib: Any) -> None:
    from matplotlib.figure import Figure

    for name in bayleaf.plot.__all__:
        parameter = inspect.signature(getattr(bayleaf.plot, name)).parameters["ax"]
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.default is None
    given = Figure().add_subplot()
    assert rank_bars(SCORES, ax=given) is given


def test_axes_must_be_axes(matplotlib: Any) -> None:
    from matplotlib.figure import Figure

    with pytest.raises(TypeError, match="ax must be axes of matplotlib or None, got F"):
        rank_bars(SCORES, ax=Figure())  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_picture_loads_no_pyplot(tmp_path: Path) -> None:
    code = (
        "import sys, bayleaf.plot; "
        "assert 'matplotlib' not in sys.modules; "
        f"bayleaf.plot.rank_bars({SCORES!r}).figure.savefig(sys.argv[1]); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "picture.svg")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_without_matplotlib_a_sentence_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(ImportError, match=r'pip install "bayleaf\[plot\]"$'):
        rank_bars(SCORES)


def test_svg_keeps_texts_as_texts_with_their_marks(matplotlib: Any) -> None:
    buffer = io.StringIO()
    ax = rank_bars({"$x_1$": [1.0], "<b>&": [2.0], "_c": [3.0]})
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        ax.figure.savefig(buffer, format="svg")
    svg = buffer.getvalue()
    for label in ("$x_1$", "&lt;b&gt;&amp;", "_c"):
        assert f">{label}<" in svg


@pytest.mark.parametrize("size", [(1.6, 1.4), (3.0, 2.0)])
def test_small_axes_are_drawn_without_a_warning(
    size: tuple[float, float], matplotlib: Any
) -> None:
    from matplotlib.figure import Figure

    X, y = load_heart(return_X_y=True)
    model = NaiveBayesClassifier().fit(X, y)
    truth = (np.asarray(y) == "present").astype(int)
    proba = model.predict_proba(X)
    for draw in (
        lambda ax: network(model, ax=ax),
        lambda ax: contributions(model.explain(X.slice(0, 1))[0], ax=ax),
        lambda ax: calibration(truth, proba, ax=ax),
        lambda ax: roc(truth, proba, ax=ax),
    ):
        figure = Figure(figsize=size)
        draw(figure.add_subplot())
        figure.draw_without_rendering()


def test_labels_are_cleaned_and_shortened() -> None:
    assert style.clean("a\n b\tc") == "a b c"
    assert style.clean("\u202eabc") == "\ufffdabc"
    assert style.shortened("abcdef", 6) == "abcdef"
    assert style.shortened("abc efgh", 5) == "abc\u2026"
    assert style.shortened("\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", 4) == (
        "\u05e9\u05dc\u05d5\u2026"
    )


def test_fitted_labels_fit_and_use_the_room() -> None:
    def check(case: Any) -> None:
        width, text = case
        found = style.fitted(text, width)
        assert style.text_width(found) <= width
        if found != text:
            longer = text[: len(found)].rstrip() + style.ELLIPSIS
            assert style.text_width(longer) > width

    check_each(
        itertools.product(
            [20.0, 45.0, 90.0], ["W" * 50, "i" * 50, "some_name with parts", "ab"]
        ),
        check,
    )


def test_lines_break_at_marks_and_show_the_ends_of_names() -> None:
    assert style.in_lines("major_vessels_coloured", 80, 2) == "major_vessels_\ncoloured"
    first, second = (
        style.in_lines(f"stalk_color_{where}_the_ring", 50, 2)
        for where in ("above", "below")
    )
    assert first != second or first.endswith("ring")
    for line in first.splitlines():
        assert style.text_width(line) <= 50
    assert style.in_lines("short", 50, 2) == "short"


def test_colours_differ_in_grey() -> None:
    from matplotlib.colors import to_rgb

    def grey(colour: str) -> float:
        return float(np.dot(to_rgb(colour), [0.299, 0.587, 0.114]))

    assert abs(grey(style.FOR) - grey(style.AGAINST)) > 0.2
    neighbours = zip(style.COLOURS, style.COLOURS[1:])
    assert all(abs(grey(a) - grey(b)) > 0.05 for a, b in neighbours)


def test_a_title_too_wide_for_its_axes_keeps_its_end_on_a_second_line() -> None:
    from matplotlib.figure import Figure

    ax = Figure(figsize=(2.0, 2.0)).add_subplot()
    style.title(ax, "a model of $x$: expected calibration error 0.054")
    lines = ax.get_title().splitlines()
    assert len(lines) == 2
    assert lines[1].endswith("error 0.054")
