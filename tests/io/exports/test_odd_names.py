"""Odd names, labels and tables: programs answer as the classifier, or refuse them."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import to_onnx, to_sql
from bayleaf.io.exports.writers import export_model
from oracles.databases import (
    Postgres,
    cells,
    joined_above,
    postgres,
    run_duckdb,
    run_sqlite,
)
from oracles.odd_tables import CASES, TABLES, fitted
from oracles.onnx_runs import run_onnx
from oracles.pairs import PairsClassifier
from oracles.running_scorers import node_answers, python_answers

Check = Callable[[str, Path], None]


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres | str]:
    with postgres() as found:
        yield found


def check_database(answer: Any, dialect: str, case: str) -> None:
    """Check classes and probabilities of a query, and that its columns differ."""
    model, rows = fitted(case)
    schemas = {"main": "public"} if dialect == "postgres" else {}
    table = [schemas.get(part, part) for part in (CASES | TABLES)[case].table]
    with joined_above(0):
        query = to_sql(model, table=table, dialect=dialect, id_columns=["row"])
    found = answer(query, rows.infer_objects().assign(row=range(20)), table[-1])
    found = found.sort_values("row")
    n = len(model.classes_)
    assert len({name.lower() for name in found.columns}) == n + 2
    assert found["prediction"].tolist() == model.predict(rows).tolist()
    np.testing.assert_allclose(
        found.iloc[:, 2:].to_numpy(float), model.predict_proba(rows), rtol=0, atol=1e-9
    )


def check_duckdb(case: str, _: Path) -> None:
    check_database(run_duckdb, "duckdb", case)


def check_sqlite(case: str, _: Path) -> None:
    check_database(run_sqlite, "sqlite", case)


def check_onnx(case: str, _: Path) -> None:
    model, rows = fitted(case)
    labels, proba = run_onnx(to_onnx(model), rows)
    np.testing.assert_allclose(proba, model.predict_proba(rows), rtol=0, atol=1e-6)
    expected = model.predict(rows).tolist()
    is_text = labels.dtype.kind == "O"
    assert labels.tolist() == (list(map(str, expected)) if is_text else expected)


@cache
def answers_by_row(case: str) -> tuple[list[Any], np.ndarray]:
    """Labels and probabilities of rows, each as in a table of one row."""
    model, rows = fitted(case)
    tables = [rows[place : place + 1] for place in range(len(rows))]
    proba = np.concatenate([model.predict_proba(table) for table in tables])
    return [model.predict(table)[0] for table in tables], proba


def check_scorer(case: str, answers: Any, key: Callable[[Any], Any]) -> None:
    """Check labels and probabilities of rows, each as in a table of one row."""
    model, rows = fitted(case)
    labels, expected = answers_by_row(case)
    found = answers(
        model, [dict(zip(rows.columns, row, strict=True)) for row in cells(rows)]
    )
    assert [one["predict"] for one in found] == labels
    proba = [[one["proba"][key(label)] for label in model.classes_] for one in found]
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-12)


def check_python(case: str, _: Path) -> None:
    check_scorer(case, python_answers, lambda label: label)


def check_javascript(case: str, folder: Path) -> None:
    check_scorer(case, lambda model, rows: node_answers(model, rows, folder), str)


def check_pmml(case: str, folder: Path) -> None:
    """Check that fields and the values of each field differ and are all there."""
    model, _ = fitted(case, PairsClassifier)
    export_model(model, folder / "model.pmml")
    root = ElementTree.parse(folder / "model.pmml").getroot()
    kinds = ("DataField", "DerivedField", "OutputField")
    fields = [one for kind in kinds for one in root.findall(f".//{{*}}{kind}")]
    names = [field.get("name") for field in fields]
    assert len(set(names)) == len(names)
    assert set(map(str, model.encoder_.column_names)) <= set(names)
    tables = root.findall(".//{*}RegressionTable")
    assert len({own.get("targetCategory") for own in tables}) == len(model.classes_)


CHECKS: dict[str, Check] = {
    "duckdb": check_duckdb,
    "sqlite": check_sqlite,
    "onnx": check_onnx,
    "python": check_python,
    "javascript": check_javascript,
    "pmml": check_pmml,
}


def check_case(check: Check, target: str, case: str, folder: Path) -> None:
    """Check answers, or the sentence of a refusal that leaves no file."""
    sentence = (CASES | TABLES)[case].refused.get(target)
    if sentence is None:
        check(case, folder)
        return
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as refusal:
        check(case, folder)
    assert sentence in str(refusal.value)
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("case", "target"),
    [
        *itertools.product(CASES, CHECKS),
        *itertools.product(TABLES, ["duckdb", "sqlite"]),
    ],
)
def test_odd_tables_are_scored_or_refused(
    case: str, target: str, tmp_path: Path
) -> None:
    check_case(CHECKS[target], target, case, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, *TABLES])
def test_odd_tables_are_scored_or_refused_by_postgres(
    case: str, server: Postgres | str, tmp_path: Path
) -> None:
    if isinstance(server, str):
        pytest.skip(server)
    check_case(
        lambda case, _: check_database(server, "postgres", case),
        "postgres",
        case,
        tmp_path,
    )
