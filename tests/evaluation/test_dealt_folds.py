"""Rows dealt by groups, by time, or by a splitter of scikit-learn."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from bayleaf.evaluation import compare
from bayleaf.evaluation.folds import deal_folds, forward_folds
from offenders import check_each

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 200)


def test_rows_of_a_group_share_a_fold() -> None:
    def check(seed: int) -> None:
        groups = np.random.default_rng(seed).integers(0, 25, 200).astype(str)
        splits = deal_folds(Y, 5, 2, seed, groups=groups)
        assert len(splits) == 10
        for train, test in splits:
            assert not set(groups[train]) & set(groups[test])
        for repeat in (splits[:5], splits[5:]):
            assert sorted(np.concatenate([test for _, test in repeat])) == list(
                range(200)
            )

    check_each(range(5), check)


@pytest.mark.parametrize("form", ["numbers", "text", "dates", "few"])
def test_forward_folds_learn_from_the_past_alone(form: str) -> None:
    days = np.random.default_rng(1).permutation(200) // (40 if form == "few" else 3)
    first = datetime.date(2024, 1, 1)
    dates = [first + datetime.timedelta(int(day)) for day in days]
    times: Any = {
        "numbers": days.astype(float),
        "few": days,
        "text": [date.isoformat() for date in dates],
        "dates": dates,
    }[form]
    splits = forward_folds(times, 4)
    assert len(splits) == 4
    for train, test in splits:
        assert days[train].max() < days[test].min()
    scored = np.concatenate([test for _, test in splits])
    assert len(set(scored.tolist())) == len(scored)
    assert days[scored].max() == days.max()


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1.0, None, 2.0], "row 1 has no time"),
        (["monday", "tuesday", "monday"], "times must be numbers, or dates such as"),
        ([1, 1, 2], "too few different times for 4 folds"),
    ],
)
def test_times_that_do_not_do(times: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        forward_folds(times, 4)


def frame() -> pd.DataFrame:
    """Every patient has rows of one class and a name that tells it."""
    patient = np.repeat(np.arange(40), 5)
    return pd.DataFrame({"patient": [f"p{p}" for p in patient], "x": RNG.random(200)})


def test_groups_end_the_advantage_of_knowing_the_patient() -> None:
    X, y = frame(), np.repeat(RNG.integers(0, 2, 40), 5)
    mixed = compare(X, y, ["nb"], n_folds=5)["nb"].mean("accuracy")
    apart = compare(X, y, ["nb"], n_folds=5, groups=X["patient"])["nb"]
    assert mixed > 0.9
    assert apart.mean("accuracy") < 0.75


def test_splitters_and_lists_of_folds() -> None:
    X = frame()
    for cv in (TimeSeriesSplit(3), list(TimeSeriesSplit(3).split(X))):
        found = compare(X, Y, ["nb", "tan"], cv=cv)
        assert (found.n_folds, found.n_repeats) == (3, 1)
        assert len(found["nb"].held_out.rows) == 150
    by_group = compare(X, Y, ["nb"], cv=GroupKFold(4), groups=X["patient"])
    assert by_group.n_folds == 4


def test_folds_that_do_not_do() -> None:
    def check(case: tuple[dict[str, Any], type[Exception], str]) -> None:
        options, error, message = case
        with pytest.raises(error, match=message):
            compare(frame(), Y, ["nb"], **options)

    check_each(
        [
            ({"groups": [1, 2]}, ValueError, "groups has 2 entries for 200 rows"),
            ({"groups": ["a"] * 200}, ValueError, "1 groups for 10 folds"),
            ({"cv": 5}, TypeError, "cv must be a splitter"),
            ({"cv": []}, ValueError, "cv gives no folds"),
            ({"cv": [([0, 1], [900])]}, ValueError, "names row 900"),
        ],
        check,
    )


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_the_command_line_deals_by_groups_and_time(
    command: str, tmp_path: Path, capsys: Any
) -> None:
    from bayleaf.cli import main

    path = tmp_path / "t.csv"
    days = pd.date_range("2024-01-01", periods=200).strftime("%Y-%m-%d")
    frame().assign(day=days, y=Y).to_csv(path, index=False)
    models = {"evaluate": ["--model", "nb"], "compare": ["--models", "nb"]}[command]
    words = [command, str(path), "--target", "y", "--folds", "4", *models]
    assert main([*words, "--groups", "patient"]) == 0
    assert main([*words, "--time", "day"]) == 0
    assert main([*words, "--time", "day", "--groups", "patient"]) == 2
    assert "not both" in capsys.readouterr().err
