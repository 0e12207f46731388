"""Every backend answers as every kind of classifier does, whatever the rows are."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.explain import robustness
from bayleaf.io.exports.writers import export_model
from contract.kinds import COSTLY, KINDS
from oracles import backends
from oracles.changed_rows import by_all_sets
from oracles.databases import postgres, run_duckdb, run_sqlite
from oracles.mixed_terms import MixedClassifier
from oracles.pairs import PairsClassifier
from oracles.three_tables import holed, tables

# Of the last kinds, which no part of the library is written for, terms alone are known.
EVERY_KIND = {**KINDS, "pairs": PairsClassifier, "mixed": MixedClassifier}


def quick(*slow: str) -> list[Any]:
    """All kinds, of which some are slow."""
    return [
        pytest.param(name, marks=pytest.mark.slow) if name in slow else name
        for name in EVERY_KIND
    ]


# Opening a page takes over a second: most kinds' wait for the long tests.
PAGES = [
    name
    if name in ("nb", "hnb", "a2de", "auto", "pairs")
    else pytest.param(name, marks=pytest.mark.long)
    for name in EVERY_KIND
]
N_ROWS = 150
LABELS = np.array(["it's", 'ü"', "p q"], dtype=object)
# Digits that are shared with `predict_proba`, and with `explain`.
TOLERANCES = {
    "sqlite": 1e-9,
    "duckdb": 1e-9,
    "postgres": 1e-9,
    "onnx": 1e-9,
    "python": 1e-12,
    "javascript": 1e-12,
    "page": 1e-12,
}


def odd_table() -> tuple[pd.DataFrame, np.ndarray]:
    """Texts and numbers under odd names, with holes, and three classes."""
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=N_ROWS)
    near = np.where(rng.random((4, N_ROWS)) < 0.6, y, rng.integers(3, size=(4, N_ROWS)))
    frame = pd.DataFrame(
        {
            'q"uote': np.array(["x", "it's", "\\ y"])[near[0]],
            "select": np.array(["a", "b", "a"])[near[1]],
            "ünï.1": near[2] + rng.normal(size=N_ROWS),
            "n`": np.round(near[3] * 3 + rng.normal(size=N_ROWS)),
        }
    ).astype({'q"uote': object, "select": object})
    return frame.mask(rng.random(frame.shape) < 0.05), LABELS[y]


@cache
def fitted(name: str, table: str = "odd") -> tuple[Any, pd.DataFrame]:
    """A classifier of a kind, fitted to a table, and rows to score."""
    model = EVERY_KIND[name](random_state=0)
    if table in ("odd", "filled"):
        X, y = odd_table()
        # Without missing cells in training they have no state of their own.
        kept = X.notna().all(axis=1) if table == "filled" else np.full(N_ROWS, True)
        model.fit(X[kept], y[kept])
        return model, rows_of(model)
    X, y = tables(table)
    if name == "a2de":
        # A network for every pair of features.
        X = X.iloc[:, :8]
    return model.fit(X, y), holed(X)


def calibrated(model: Any) -> Any:
    """The same classifier under a temperature and another prior."""
    model = copy(model)
    model.temperature_ = 2.5
    model._prior_shift = np.linspace(-1.0, 1.0, len(model.classes_))
    return model


def rows_of(model: Any) -> pd.DataFrame:
    """Whole rows, all sets of holes, unseen values, and numbers around cut points."""
    X, _ = odd_table()
    whole = X.dropna().iloc[:6]
    sets = np.array([*itertools.product([False, True], repeat=X.shape[1])])
    gaps = X.dropna().iloc[: len(sets)].mask(sets)
    unseen = X.dropna().iloc[6:8].copy()
    unseen.iloc[0, 0] = unseen.iloc[1, 1] = "never seen"
    rows = [whole, gaps, unseen]
    for variable in model.model_.domain:
        if variable.name not in X or variable.kind != "numeric":
            continue
        for cut in [*variable.cut_points[:3], 0.0]:
            ends = [cut, np.nextafter(cut, -np.inf), np.nextafter(cut, np.inf)]
            near = X.dropna().iloc[: len(ends) + 2].copy()
            near[variable.name] = [*ends, -1e300, 1e300]
            rows.append(near)
    table = pd.concat(rows, ignore_index=True)
    return table.astype(dict.fromkeys(X.columns[:2], object))


def check(
    answers: Callable[..., backends.Answers],
    backend: str,
    name: str,
    folder: Path,
    table: str = "odd",
    *,
    is_calibrated: bool = False,
) -> None:
    """Check labels, probabilities and the terms of their log-odds."""
    model, rows = fitted(name, table)
    if is_calibrated:
        model = calibrated(model)
    compare(answers(model, rows, folder), backend, model, rows)


def compare(
    found: backends.Answers, backend: str, model: Any, rows: pd.DataFrame
) -> None:
    """Compare what a backend finds in rows with a classifier."""
    tolerance = TOLERANCES[backend]
    # ONNX has no missing texts.
    labels = [
        None if label == "" or pd.isna(label) else label for label in found.labels
    ]
    assert labels == model.predict(rows).tolist()
    np.testing.assert_allclose(
        found.proba, model.predict_proba(rows), rtol=0, atol=tolerance
    )
    if not found.reasons:
        return
    for reason, told in zip(found.reasons, model.explain(rows), strict=True):
        expected = {str(term.feature): term.contribution for term in told.terms}
        close = pytest.approx
        assert reason.log_odds == close(told.log_odds, abs=tolerance * 10)
        assert reason.prior == close(told.prior, abs=tolerance * 10)
        assert reason.terms == close(expected, abs=tolerance * 10)


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with postgres() as found:
        yield found


@pytest.mark.few(3)
@pytest.mark.parametrize("name", quick(*COSTLY))
@pytest.mark.parametrize("backend", ["onnx", "python", "javascript"])
def test_programs_answer_as_classifiers(
    backend: str, name: str, tmp_path: Path
) -> None:
    if backend == "onnx":
        pytest.importorskip("onnx")
    check(getattr(backends, f"of_{backend}"), backend, name, tmp_path)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", quick(*COSTLY, "a2de"))
@pytest.mark.parametrize("backend", ["onnx", "sqlite"])
def test_partial_cases_are_calibrated_as_by_classifiers(
    backend: str, name: str, tmp_path: Path
) -> None:
    answers = backends.of_database(run_sqlite, "sqlite")
    if backend == "onnx":
        pytest.importorskip("onnx")
        answers = backends.of_onnx
    check(answers, backend, name, tmp_path, "filled", is_calibrated=True)


@pytest.mark.parametrize("backend", ["onnx", "sqlite"])
def test_features_that_are_always_known_count_in_the_calibration(
    backend: str, tmp_path: Path
) -> None:
    X, y = odd_table()
    answers = backends.of_database(run_sqlite, "sqlite")
    if backend == "onnx":
        pytest.importorskip("onnx")
        answers = backends.of_onnx
    # Missing cells are a state of all columns but the third.
    kept = X["ünï.1"].notna()
    for names in (["ünï.1"], [*X.columns]):
        model = NaiveBayesClassifier(missing="state").fit(X.loc[kept, names], y[kept])
        rows = rows_of(model)[names]
        compare(
            answers(calibrated(model), rows, tmp_path), backend, calibrated(model), rows
        )


@pytest.mark.few(6)
@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY_KIND)
@pytest.mark.parametrize("backend", ["duckdb", "postgres"])
def test_databases_calibrate_partial_cases_as_classifiers(
    backend: str, name: str, server: Any, tmp_path: Path
) -> None:
    run = run_duckdb if backend == "duckdb" else server
    if isinstance(run, str):
        pytest.skip(run)
    answers = backends.of_database(run, backend)
    check(answers, backend, name, tmp_path, "filled", is_calibrated=True)


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_pages_answer_as_classifiers(name: str, open_page: Any, tmp_path: Path) -> None:
    check(backends.of_page(open_page), "page", name, tmp_path)


def check_query(backend: str, name: str, run: Any, folder: Path) -> None:
    """Check a query that a database runs."""
    check(backends.of_database(run, backend), backend, name, folder)


@pytest.mark.parametrize("name", quick(*COSTLY, "four_networks", "a2de"))
def test_sqlite_answers_as_classifiers(name: str, tmp_path: Path) -> None:
    check_query("sqlite", name, run_sqlite, tmp_path)


@pytest.mark.few(6)
@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY_KIND)
def test_duckdb_answers_as_classifiers(name: str, tmp_path: Path) -> None:
    check_query("duckdb", name, run_duckdb, tmp_path)


@pytest.mark.few(5)
@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY_KIND)
def test_postgres_answers_as_classifiers(
    name: str, server: Any, tmp_path: Path
) -> None:
    if isinstance(server, str):
        pytest.skip(server)
    check_query("postgres", name, server, tmp_path)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("table", ["heart", "mushroom", "adult"])
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("backend", TOLERANCES)
def test_real_tables_are_scored_alike(
    backend: str,
    name: str,
    table: str,
    server: Any,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    databases = {"sqlite": run_sqlite, "duckdb": run_duckdb, "postgres": server}
    run = databases.get(backend)
    if isinstance(run, str):
        pytest.skip(run)
    if run is not None:
        answers = backends.of_database(run, backend)
    elif backend == "page":
        answers = backends.of_page(request.getfixturevalue("open_page"))
    else:
        answers = getattr(backends, f"of_{backend}")
    check(answers, backend, name, tmp_path, table)


def test_a_kind_of_terms_alone_is_written_as_regression_tables(tmp_path: Path) -> None:
    (model, _), path = fitted("pairs"), tmp_path / "model.pmml"
    export_model(model, path)
    root = ElementTree.parse(path).getroot()
    tables = root.findall(".//{*}RegressionTable")
    assert [own.get("targetCategory") for own in tables] == list(model.classes_)


def test_a_kind_of_terms_alone_has_proven_bounds() -> None:
    model, _ = fitted("pairs")
    predictor, X = model._predictor(), odd_table()[0]
    for place in range(12):
        codes = predictor.encode(X.iloc[[place]])
        told = robustness(predictor, codes)
        for found in (told.wrong, told.missing):
            expected = by_all_sets(predictor, codes, found.kind)
            assert (found.at_least, found.at_most) == (expected, expected)
