"""Directions of features on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bayleaf
from bayleaf.datasets import load_heart
from offenders import check_each

Run = Callable[..., Any]


@pytest.mark.parametrize("model", ["nb", "tan", "kdb", "aode", "a2de", "auto"])
def test_directions_are_taken_from_words(
    run: Run, heart: Path, tmp_path: Path, model: str
) -> None:
    out = tmp_path / "model.json"
    words = ["--target", "disease", "--model", model, "-o", out]
    # Few features are enough, and pairs of many take long.
    kept = {"age", "maximum_heart_rate", "chest_pain", "sex", "disease"}
    for name in load_heart().frame.column_names:
        words += [] if name in kept else ["--drop", name]
    words += ["--n-networks", 2] if model == "auto" else []
    done = run("fit", heart, *words, "--monotone", "age=+, maximum_heart_rate=-")
    assert done.code == 0, done.err
    loaded = bayleaf.load(out)
    assert loaded.monotone == {"age": 1, "maximum_heart_rate": -1}
    assert "P('present') never falls as age grows" in str(loaded.summary())


NO_DIRECTIONS = [
    ("age", "--monotone should have the form column=+ or column=-"),
    ("age=up", "--monotone should have the form column=+ or column=-"),
    ("agee=+", "monotone names 'agee', which is no column; did you mean age?"),
    ("chest_pain=+", "monotone names column 'chest_pain', whose values have no"),
]


def test_directions_that_are_none_are_refused_in_a_sentence(
    run: Run, heart: Path, tmp_path: Path
) -> None:
    words = ["--target", "disease", "--model", "nb", "-o", tmp_path / "model.json"]

    def check(case: tuple[str, str]) -> None:
        text, message = case
        done = run("fit", heart, *words, "--monotone", text)
        assert done.code == 2
        assert message in " ".join(done.err.split())

    check_each(NO_DIRECTIONS, check)
