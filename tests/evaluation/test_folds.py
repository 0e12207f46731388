"""Nothing but the training rows of a fold reaches a model, and all see the same."""

from __future__ import annotations

import datetime
import functools
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from bayleaf import (
    AveragedKDBClassifier,
    BayesianNetworkClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.evaluation import compare, cross_validate, cross_validation
from bayleaf.evaluation.folds import deal_folds, forward_folds
from offenders import check_each

N_ROWS = 60


class Recorder(ClassifierMixin, BaseEstimator):
    """Notes the rows and labels that it is given; the feature is the row's number."""

    seen: ClassVar[list[tuple[int, str, list[int], list[Any]]]] = []

    def __init__(self, number: int = 0) -> None:
        self.number = number

    def fit(self, X: Any, y: Any) -> Recorder:
        self.classes_ = np.unique(y)
        self.seen.append((self.number, "fit", X[:, 0].tolist(), list(y)))
        return self

    def predict_proba(self, X: Any) -> Any:
        self.seen.append((self.number, "predict", X[:, 0].tolist(), []))
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.fixture
def recorded() -> list[tuple[int, str, list[int], list[Any]]]:
    Recorder.seen.clear()
    X = np.arange(N_ROWS)[:, None]
    y = np.array(["p", "q", "q"] * (N_ROWS // 3))
    models = {"one": Recorder(1), "two": Recorder(2)}
    compare(X, y, models, n_folds=4, n_repeats=2, random_state=9)
    return list(Recorder.seen)


def test_all_models_get_the_same_folds(recorded: list[Any]) -> None:
    own = {k: [entry[1:] for entry in recorded if entry[0] == k] for k in (1, 2)}
    assert own[1] == own[2]
    assert len([kind for kind, *_ in own[1] if kind == "fit"]) == 8


def test_no_test_row_is_in_the_training_fold(recorded: list[Any]) -> None:
    fits = [rows for number, kind, rows, _ in recorded if (number, kind) == (1, "fit")]
    tests = [rows for number, kind, rows, _ in recorded if (number, kind) != (1, "fit")]
    for train, test in zip(fits, tests[::2], strict=False):
        assert sorted(train + test) == list(range(N_ROWS))


def test_every_row_is_held_out_once_a_repeat(recorded: list[Any]) -> None:
    tests = [
        rows for number, kind, rows, _ in recorded if (number, kind) == (1, "predict")
    ]
    # Probabilities and labels are asked for one after the other.
    first, second = tests[:8:2], tests[8::2]
    for repeat in (first, second):
        assert sorted(row for rows in repeat for row in rows) == list(range(N_ROWS))
    assert sorted(map(sorted, first)) != sorted(map(sorted, second))


def test_labels_stay_with_their_rows(recorded: list[Any]) -> None:
    for _, kind, rows, labels in recorded:
        if kind == "fit":
            assert labels == ["p" if row % 3 == 0 else "q" for row in rows]


def table() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers, words and holes, and labels that depend on them."""
    rng = np.random.default_rng(2)
    number = rng.normal(size=N_ROWS)
    frame = pd.DataFrame(
        {
            "number": number,
            "word": rng.choice(["a", "b", "c"], N_ROWS),
            "hole": np.where(
                rng.random(N_ROWS) < 0.2, None, rng.choice(["u", "v"], N_ROWS)
            ),
        }
    )
    return frame, np.where(number + rng.normal(scale=0.7, size=N_ROWS) > 0, "yes", "no")


MODELS: dict[str, Any] = {
    **{name: kind(random_state=0) for name, kind in CLASSIFIERS.items()},
    "auto": AveragedKDBClassifier(n_networks=4, random_state=0),
    "equal width": NaiveBayesClassifier(discretizer="equal_width"),
    "equal frequency": TANClassifier(discretizer="equal_frequency"),
    "calibrated": KDBClassifier(calibration="leave_one_out"),
    "hierarchies": BayesianNetworkClassifier(
        local_structure="tree", abstraction="global", random_state=0
    ),
}
TRAIN, TEST = np.arange(0, 45), np.arange(45, N_ROWS)


def probabilities(
    monkeypatch: pytest.MonkeyPatch, model: Any, frame: pd.DataFrame, y: Any
) -> Any:
    """What a model gives the held-out rows of one fixed split."""
    monkeypatch.setattr(
        cross_validation, "deal_folds", lambda *_, **__: [(TRAIN, TEST)]
    )
    [result] = cross_validate({"it": model}, frame, y)
    return result.held_out.proba


@functools.cache
def plain_probabilities(name: str) -> Any:
    """What a model gives the held-out rows of the table as it is."""
    with pytest.MonkeyPatch.context() as patch:
        return probabilities(patch, MODELS[name], *table())


@pytest.mark.few(7)
@pytest.mark.parametrize("name", MODELS)
def test_labels_of_held_out_rows_change_no_prediction(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    frame, y = table()
    scrambled = y.copy()
    scrambled[TEST] = np.where(y[TEST] == "yes", "no", "yes")
    before = plain_probabilities(name)
    after = probabilities(monkeypatch, MODELS[name], frame, scrambled)
    assert np.array_equal(before, after)
    # The labels of the training rows do matter, so the test could have failed.
    turned = y.copy()
    turned[TRAIN] = np.where(y[TRAIN] == "yes", "no", "yes")
    assert not np.array_equal(
        before, probabilities(monkeypatch, MODELS[name], frame, turned)
    )


@pytest.mark.few(7)
@pytest.mark.parametrize("name", MODELS)
def test_held_out_rows_move_no_cut_point_nor_code(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    frame, y = table()
    strange = frame.copy()
    # Outliers and new words in all held-out rows but the first.
    strange.loc[TEST[1:], "number"] = 1e6
    strange.loc[TEST[1:], "word"] = "new"
    before = plain_probabilities(name)
    after = probabilities(monkeypatch, MODELS[name], strange, y)
    assert np.array_equal(before[0], after[0])


def test_a_column_that_names_the_rows_is_no_help() -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 200)
    # Each name stands for one row, and so for its label, once a model has seen it.
    frame = pd.DataFrame({"name": [f"row {i}" for i in range(200)]})
    model = NaiveBayesClassifier(identifiers="keep")
    assert (model.fit(frame, y).predict(frame) == y).all()
    found = compare(frame, y, {"nb": model}, n_folds=5)
    assert abs(found["nb"].mean("accuracy") - 0.5) < 0.12
    assert abs(found["nb"].mean("roc_auc") - 0.5) < 0.01


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


@pytest.mark.parametrize("splits", ["groups", "forward", "repeated"])
def test_a_cell_that_decides_a_kind_leaves_all_folds_alike(splits: str) -> None:
    numbers = [f"{row / 7:.2f}" for row in range(N_ROWS)]
    numbers[3] = "offline"
    frame = pd.DataFrame(
        {
            "number": numbers,
            "once": ["k"] * (N_ROWS - 1) + ["z"],
            "empty": [None] * (N_ROWS - 1) + ["2.5"],
        }
    )
    labels = np.array(["a", "b", "b"] * (N_ROWS // 3))
    options: dict[str, Any] = {"n_folds": 3}
    if splits == "groups":
        options["groups"] = np.arange(N_ROWS) % 6
    elif splits == "forward":
        options = {"cv": forward_folds(np.arange(N_ROWS), 3)}
    (found,) = cross_validate({"nb": NaiveBayesClassifier()}, frame, labels, **options)
    assert len(found.folds) == 3


def test_folds_are_read_by_a_plan_that_is_given() -> None:
    frame = pd.DataFrame({"code": [str(101 + row % 12) for row in range(N_ROWS)]})
    labels = ["a", "b", "b"] * (N_ROWS // 3)
    plan = {"format": "bayleaf-plan", "columns": {"code": {"kind": "text"}}}
    plain, planned = (
        compare(frame, labels, ["nb"], n_folds=3, plan=one)["nb"].n_parameters
        for one in (None, plan)
    )
    assert planned == 1 + 2 * 11
    assert plain < planned
