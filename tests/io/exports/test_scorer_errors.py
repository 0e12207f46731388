"""What a scorer cannot use it refuses in a sentence that names the column."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import Any

import pytest

from bayleaf import NaiveBayesClassifier, write_scorer
from explorer.cases import table
from offenders import check_each
from oracles.batched_tables import the_table
from oracles.running_scorers import node_answers, python_answers


def fitted(**settings: Any) -> tuple[Any, dict[str, Any]]:
    """A model of columns of every sort, and a row that it takes."""
    everything = the_table(300)
    X, y = everything.drop_columns(["label"]), everything["label"].to_pylist()
    model = NaiveBayesClassifier(**settings).fit(X, y)
    row = X.slice(0, 1).to_pylist()[0]
    return model, {**row, "text": "x", "number": 0.5}


REFUSED = [
    ("number", "tall", "held numbers in training but holds text now"),
    ("few", "tall", "held numbers in training but holds text now"),
    ("text", 3, "held text in training but holds numbers now"),
    ("truth", "perhaps", "held numbers in training but holds text now"),
    ("date", 20200101, "held dates in training but holds numbers now"),
    ("number", [1], "give text, a number"),
]


def test_values_of_another_sort_are_refused(tmp_path: Path) -> None:
    model, row = fitted()
    rows = [row, *({**row, column: value} for column, value, _ in REFUSED)]
    answers = {
        "'": python_answers(model, rows),
        '"': node_answers(model, rows, tmp_path),
    }
    for found in answers.values():
        assert "predict" in found[0], found[0]

    def check(case: tuple[str, int]) -> None:
        quote, place = case
        column, _, told = REFUSED[place]
        error = answers[quote][place + 1]["error"]
        assert f"column {quote}{column}{quote}" in error
        assert told in error

    check_each(
        itertools.product(answers, range(len(REFUSED))),
        check,
        lambda case: f"{REFUSED[case[1]]} in quotes {case[0]}",
    )


def test_texts_that_are_no_times_are_missing(tmp_path: Path) -> None:
    model, row = fitted()
    cells = [("date", "tomorrow"), ("date", "2020-02-30"), ("date", "12:30")]
    cells += [("span", "long"), ("span", "2020-01-01"), ("few", "-"), ("number", " ")]
    rows = [{**row, column: text} for column, text in cells]
    empty = [{**row, column: None} for column, _ in cells]
    for answers in (python_answers, lambda *given: node_answers(*given, tmp_path)):
        assert answers(model, rows) == answers(model, empty)


def test_an_absent_column_is_refused(tmp_path: Path) -> None:
    model, row = fitted()
    del row["number"]
    assert "lacks column 'number'; give it" in python_answers(model, [row])[0]["error"]
    told = node_answers(model, [row], tmp_path)[0]["error"]
    assert 'lacks column "number"; give it' in told


def test_columns_without_a_variable_may_be_absent_and_others_pass(
    tmp_path: Path,
) -> None:
    model, row = fitted()
    less = {name: value for name, value in row.items() if name != "name"}
    rows = [row, {**less, "beside": "anything"}]
    one, other = python_answers(model, rows)
    assert one == other
    one, other = node_answers(model, rows, tmp_path)
    assert one == other


def test_infinity_is_refused() -> None:
    model, row = fitted()
    found = python_answers(model, [{**row, "number": float("inf")}])
    assert "column 'number' holds infinity" in found[0]["error"]


def test_what_the_model_refuses_the_scorer_refuses(tmp_path: Path) -> None:
    everything = the_table(300).drop_null()
    X, y = everything.drop_columns(["label"]), everything["label"].to_pylist()
    model = NaiveBayesClassifier(missing="error", unknown="error").fit(X, y)
    row = {**X.slice(0, 1).to_pylist()[0], "text": "x"}
    rows = [{**row, "text": None}, {**row, "number": None}, {**row, "text": "new"}]
    for found in (python_answers(model, rows), node_answers(model, rows, tmp_path)):
        told = [one["error"] for one in found]
        assert "is missing, which the model refuses" in told[0]
        assert "is missing, which the model refuses" in told[1]
        assert "holds a value that training did not contain" in told[2]


def test_dates_are_read_by_the_clock_that_they_show(tmp_path: Path) -> None:
    model, row = fitted()
    zone = datetime.timezone(datetime.timedelta(hours=9))
    naive = datetime.datetime(2020, 2, 3, 22, 30, 15)
    texts = ["2020-02-03T22:30:15", "2020-02-03 22:30:15.000000"]
    texts += ["2020-02-03T22:30:15+09:00", "2020-02-03 22:30:15,0Z"]
    rows = [{**row, "date": value} for value in texts]
    moments = [{**row, "date": own} for own in (naive, naive.replace(tzinfo=zone))]
    expected, instant, *others = python_answers(model, [*moments, *rows])
    assert others[:2] == [expected, expected]
    first, second, *instants = node_answers(model, rows, tmp_path)
    assert first == second
    assert first["predict"] == expected["predict"]
    # Training had no time zones, so that instants do not compare.
    assert "error" in instant
    (missing,) = python_answers(model, [{**row, "date": None}])
    for one in (*others[2:], *instants):
        assert one["proba"] == pytest.approx(missing["proba"], abs=1e-12)


def test_against_no_class_is_refused(tmp_path: Path) -> None:
    model, row = fitted()
    found = python_answers(model, [row], against="neither")
    assert found[0]["error"].startswith("against must be one of the classes neg, pos")
    found = node_answers(model, [row], tmp_path, against="neither")
    assert found[0]["error"].startswith("against must be one of the classes neg, pos")


def test_a_scorer_in_another_language_is_refused(tmp_path: Path) -> None:
    model = NaiveBayesClassifier().fit(*table())
    with pytest.raises(ValueError, match=r"a scorer is a file of \.py, \.js, \.mjs"):
        write_scorer(model, tmp_path / "scorer.rb")


def test_what_is_no_classifier_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="model must be a fitted classifier"):
        write_scorer(3, tmp_path / "scorer.py")
