"""Names, states and labels of every sort mean nothing to the files that hold them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf import NaiveBayesClassifier, TANClassifier, write_scorer
from bayleaf.io.exports.scorers.scorer import python_scorer, script_scorer
from bayleaf.io.exports.writers import predictor_of
from explorer.cases import classifiers, table
from oracles.running_scorers import check_answers, node_answers, python_answers

HOSTILE = (
    "a\"b'; DROP TABLE x; --",
    "</script><script>alert(1)</script>",
    "__proto__",
    "constructor",
    "Constructor",
    "\\",
    "'''",
    '"""',
    "{engine}{model}%s",
    "${alert(1)}`",
    "line\nend\r\u2028\u2029",
    "*/ //",
    "déjà 漢字 \U0001f600",
    "x" * 300,
    "",
    " blank ",
)


def hostile_model() -> tuple[Any, pa.Table]:
    """A model whose columns, states and labels are all of these, and its rows."""
    rng = np.random.default_rng(0)
    columns = {name: rng.choice(HOSTILE, 400).tolist() for name in HOSTILE}
    rows = pa.table(columns)
    label = rng.choice([name for name in HOSTILE if name], 400).tolist()
    return TANClassifier().fit(rows, label), rows.slice(0, 12)


def test_hostile_names_are_names_in_python() -> None:
    model, rows = hostile_model()
    check_answers(model, rows, python_answers(model, rows.to_pylist()))


def test_hostile_names_are_names_in_javascript(tmp_path: Path) -> None:
    model, rows = hostile_model()
    check_answers(model, rows, node_answers(model, rows.to_pylist(), tmp_path))


def test_hostile_names_end_no_literal_and_no_element() -> None:
    predictor = predictor_of(hostile_model()[0])
    for text in (python_scorer(predictor), script_scorer(predictor)):
        assert text.isascii()
        assert "</script" not in text
        assert "<script" not in text


def test_no_name_is_code_in_the_python_file() -> None:
    X, y = table()
    # Neither has numbers, whose texts another part of the program reads.
    model = TANClassifier().fit(X.drop_columns(["x2"]), y)
    plain = python_scorer(predictor_of(model))
    hostile = python_scorer(predictor_of(hostile_model()[0]))

    def shape(text: str) -> list[str]:
        return [ast.dump(n) for n in ast.parse(text).body if not _is_model(n)]

    assert shape(plain) == shape(hostile)


def _is_model(node: ast.stmt) -> bool:
    """Whether a statement is the one that holds the model's numbers."""
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_MODEL"


@pytest.mark.parametrize("name", ['a"b.py', "a\\b.py", "{x}.py", "漢字.py", "1.py"])
def test_a_file_may_have_any_name(name: str, tmp_path: Path) -> None:
    model = NaiveBayesClassifier().fit(*table())
    write_scorer(model, tmp_path / name)
    program: dict[str, Any] = {"__name__": "scorer"}
    exec((tmp_path / name).read_text(encoding="ascii"), program)
    rows = table()[0].slice(0, 5)
    found = [program["predict"](row) for row in rows.to_pylist()]
    assert found == model.predict(rows).tolist()


def test_columns_may_have_numbers_as_names(tmp_path: Path) -> None:
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (50, 3)))
    model = NaiveBayesClassifier().fit(X, X[0] > 0)
    assert model.encoder_.column_names == (0, 1, 2)
    rows = [dict(enumerate(row)) for row in X[:5].to_numpy().tolist()]
    for found in (
        python_answers(model, rows),
        node_answers(model, rows, tmp_path),
    ):
        assert [one["predict"] for one in found] == model.predict(X[:5]).tolist()


@pytest.mark.parametrize("kind", list(classifiers()))
def test_scorers_use_nothing_but_their_language(kind: str) -> None:
    predictor = predictor_of(classifiers()[kind]().fit(*table()))
    check_python_3_8(python_scorer(predictor))
    check_no_import(script_scorer(predictor))


def check_python_3_8(text: str) -> None:
    """Check that a Python file is of Python 3.8 and its standard library."""
    tree = ast.parse(text, feature_version=(3, 8))
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(str(node.module))
        assert not (isinstance(node, ast.Name) and node.id in {"eval", "exec"})
    assert {name.split(".")[0] for name in modules} <= sys.stdlib_module_names


def check_no_import(text: str) -> None:
    """Check that an ES module imports nothing."""
    lines = [line.split() for line in text.splitlines()]
    assert not [line for line in lines if line[:1] == ["import"]]
    assert not [call for call in ("import(", "eval(", "fetch(") if call in text]


def test_labels_that_javascript_cannot_tell_apart_are_refused() -> None:
    X, y = table()
    target = np.array([1 if label == "class 0" else "1" for label in y], dtype=object)
    model = NaiveBayesClassifier().fit(X, target)
    with pytest.raises(ValueError, match="labels that JavaScript cannot tell apart"):
        script_scorer(predictor_of(model))
    assert {one["predict"] for one in python_answers(model, X.to_pylist())} == {1, "1"}


def test_numbers_that_javascript_cannot_tell_apart_are_refused() -> None:
    frame = pd.DataFrame({"id": [2**53, 2**53 + 1] * 20})
    model = NaiveBayesClassifier(categorical_features=["id"])
    model.fit(frame, [0, 1] * 20)
    with pytest.raises(ValueError, match="'id' has states that JavaScript cannot"):
        script_scorer(predictor_of(model))


def test_labels_that_are_neither_text_nor_numbers_are_refused() -> None:
    X, y = table()
    target = np.array(y == np.array("class 0"), dtype="datetime64[s]")
    model = NaiveBayesClassifier().fit(X, target)
    with pytest.raises(ValueError, match="a scorer holds text, numbers"):
        python_scorer(predictor_of(model))
