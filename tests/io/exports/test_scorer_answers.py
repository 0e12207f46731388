"""Scorers answer as the model does that they were written from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayleaf import AveragedKDBClassifier, NaiveBayesClassifier, write_scorer
from bayleaf.datasets import load_heart, load_mushroom
from explorer.cases import classifiers, table, table_of_conjunctions, table_of_numbers
from oracles.batched_tables import the_table
from oracles.running_scorers import (
    check_answers,
    check_explanation,
    node_answers,
    python_answers,
)

KINDS = list(classifiers())
TABLES: dict[str, Callable[[], tuple[pa.Table, list[str]]]] = {
    "numbers": table_of_numbers,
    "conjunctions": table_of_conjunctions,
    # A network for every pair of features.
    "A2DE": lambda: table(n_features=4),
}


@cache
def fitted(kind: str) -> tuple[Any, pa.Table]:
    """A classifier of a kind, and rows with missing and unseen values."""
    X, y = TABLES.get(kind.split()[-1], table)()
    model = classifiers()[kind]().fit(X, y)
    return model, with_gaps(X.slice(0, 6))


def with_gaps(rows: pa.Table, share: float = 0.2) -> pa.Table:
    """The same rows, the first whole, the last empty, texts of the second unseen."""
    rng = np.random.default_rng(5)
    columns = {}
    for name in rows.column_names:
        values = rows[name].to_pylist()
        for place in range(2, len(values)):
            if rng.random() < share or place == len(values) - 1:
                values[place] = None
        if has_words(values):
            values[1] = "never seen"
        columns[name] = pa.array(values, type=rows.schema.field(name).type)
    return pa.table(columns)


def has_words(values: list[Any]) -> bool:
    """Whether text occurs that is not a number, which models read as numbers."""
    text = [value for value in values if isinstance(value, str)]
    return any(not value.replace(".", "", 1).isdecimal() for value in text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_python_file_and_an_es_module_answer_as_their_model(
    kind: str, tmp_path: Path
) -> None:
    model, rows = fitted(kind)
    check_answers(model, rows, python_answers(model, rows.to_pylist()))
    check_answers(model, rows, node_answers(model, rows.to_pylist(), tmp_path))


def test_a_class_can_be_named_to_compare_with(tmp_path: Path) -> None:
    model, rows = fitted("TAN")
    for label in model.classes_:
        found = python_answers(model, rows.to_pylist(), against=label)
        same = node_answers(model, rows.to_pylist(), tmp_path, against=label)
        told = model.explain(rows, against=label)
        for one, other, own in zip(found, same, told, strict=True):
            check_explanation(one["why"], own)
            check_explanation(other["why"], own)


@pytest.mark.parametrize("missing", ["marginalize", "state"])
@pytest.mark.parametrize("max_states", [1000, 3])
def test_columns_of_every_sort_are_read_as_tables_are(
    missing: str, max_states: int, tmp_path: Path
) -> None:
    everything = the_table(300)
    X, y = everything.drop_columns(["label"]), everything["label"].to_pylist()
    model = NaiveBayesClassifier(missing=missing, max_states=max_states).fit(X, y)
    rows = with_gaps(the_table(40, 3).drop_columns(["label"]), 0.1)
    # Integers with gaps come as such, not as fractions.
    check_answers(model, rows, python_answers(model, rows.to_pylist()))
    check_answers(model, rows, node_answers(model, rows.to_pylist(), tmp_path))


def test_fractional_weights_count_as_in_the_model(tmp_path: Path) -> None:
    X, y = table()
    weights = np.random.default_rng(0).random(len(y))
    model = AveragedKDBClassifier(n_networks=2, random_state=0)
    model.fit(X, y, sample_weight=weights)
    rows = with_gaps(X.slice(0, 10))
    check_answers(model, rows, python_answers(model, rows.to_pylist()))
    check_answers(model, rows, node_answers(model, rows.to_pylist(), tmp_path))


def test_a_model_of_one_class_is_sure_of_it(tmp_path: Path) -> None:
    X, _ = table()
    model = NaiveBayesClassifier().fit(X, ["only"] * X.num_rows)
    rows = X.slice(0, 3)
    check_answers(model, rows, python_answers(model, rows.to_pylist()))
    check_answers(model, rows, node_answers(model, rows.to_pylist(), tmp_path))


@pytest.mark.parametrize(
    "labels", [[True, False], [1, 2], [0.0, 1.0], ["=1+1", "déjà vu"]]
)
def test_labels_come_back_as_what_they_are(labels: list[Any], tmp_path: Path) -> None:
    X, y = table()
    target = [labels[label != "class 0"] for label in y]
    model = NaiveBayesClassifier().fit(X, target)
    found = python_answers(model, X.slice(0, 5).to_pylist())
    assert [one["predict"] for one in found] == model.predict(X.slice(0, 5)).tolist()
    assert list(found[0]["proba"]) == model.classes_.tolist()
    other = node_answers(model, X.slice(0, 5).to_pylist(), tmp_path)
    assert [one["predict"] for one in other] == [one["predict"] for one in found]


def check_real_table(load: Any, kind: str, n_rows: int, folder: Path) -> None:
    """Check both scorers of a model of some rows of a real table."""
    found = load()
    model = classifiers()[kind]()
    if kind == "KDB":
        model.set_params(loss=[[0.0, 1.0], [4.0, 0.0]])
    model.fit(found.X.slice(0, n_rows), found.y[:n_rows])
    rows = with_gaps(found.X.slice(0, n_rows // 50))
    check_answers(model, rows, python_answers(model, rows.to_pylist()))
    check_answers(model, rows, node_answers(model, rows.to_pylist(), folder))


@pytest.mark.parametrize(
    ("load", "kind"),
    [
        (load_heart, "KDB"),
        (load_mushroom, "averaged KDB"),
        (load_heart, "HNB"),
        (load_mushroom, "latent class"),
    ],
)
def test_scorers_of_a_few_real_rows_answer_as_their_models(
    load: Any, kind: str, tmp_path: Path
) -> None:
    check_real_table(load, kind, 200, tmp_path)


@pytest.mark.few(4)
@pytest.mark.slow
@pytest.mark.parametrize("load", [load_heart, load_mushroom])
@pytest.mark.parametrize("kind", ["KDB", "averaged KDB", "HNB", "latent class"])
def test_scorers_of_real_tables_answer_as_their_models(
    load: Any, kind: str, tmp_path: Path
) -> None:
    check_real_table(load, kind, 1000, tmp_path)


@pytest.mark.slow
@pytest.mark.long
def test_an_average_of_adult_takes_less_than_a_megabyte(
    load_table: Callable[[str], pa.Table], tmp_path: Path
) -> None:
    frame = load_table("adult")
    X, y = frame.drop_columns(["class"]), frame["class"]
    model = AveragedKDBClassifier(random_state=0).fit(X, y)
    rows = with_gaps(X.slice(0, 40))
    check_answers(model, rows, python_answers(model, rows.to_pylist()))
    check_answers(model, rows, node_answers(model, rows.to_pylist(), tmp_path))
    write_scorer(model, tmp_path / "scorer.py")
    for name in ("scorer.py", "scorer.mjs"):
        assert (tmp_path / name).stat().st_size < 1_000_000
