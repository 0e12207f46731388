"""Names and values of a table are inert in queries, whatever they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import to_sql
from bayleaf.io.exports.sql.words import DIALECTS, probability_names
from offenders import check_each
from oracles.databases import (
    Postgres,
    joined_above,
    postgres,
    quoted,
    run_duckdb,
    run_sqlite,
)

pytest.importorskip("sqlglot")

Answer = Callable[..., pd.DataFrame]
HOSTILE = "a\"b'; DROP TABLE x; --"
NAMES = [HOSTILE, "select", "ünï\n`code`", "%s {x} $1 \\", "l" * 60]
VALUES = [HOSTILE, "'; DELETE FROM t; --", "\\", "é\n", "", " padded ", "NULL"]


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres | str]:
    with postgres() as found:
        yield found


def answering(dialect: str, request: pytest.FixtureRequest) -> Answer:
    """What answers in a dialect; the server starts only where it is asked."""
    if dialect != "postgres":
        return {"duckdb": run_duckdb, "sqlite": run_sqlite}[dialect]
    found: Answer | str = request.getfixturevalue("server")
    if isinstance(found, str):
        pytest.skip(found)
    return found


def hostile() -> tuple[pd.DataFrame, list[str]]:
    """A table of such names, values and classes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(VALUES, 120) for name in NAMES})
    classes = [
        HOSTILE if value in VALUES[:3] else "k" * 300 for value in frame[HOSTILE]
    ]
    return frame, classes


def check_hostile(answer: Answer, dialect: str, kind: Any, explain: int) -> None:
    """Check a query over such a table, which has such a name too."""
    frame, classes = hostile()
    model = kind().fit(frame, classes)
    rows = frame.assign(n=range(len(frame)))
    query = to_sql(
        model, dialect=dialect, table=[HOSTILE], explain=explain, id_columns=["n"]
    )
    found = answer(query, rows, HOSTILE).sort_values("n")
    assert found["prediction"].tolist() == model.predict(frame).tolist()
    # The other label is too long for a column's name, so that its number stands there.
    columns = [f"probability_{HOSTILE}", "probability_2"]
    assert found[columns].to_numpy() == pytest.approx(model.predict_proba(frame))
    if explain:
        assert set(found["feature_1"]) <= set(NAMES)


@pytest.mark.parametrize(
    ("dialect", "explain"), [("sqlite", 2), ("duckdb", 0), ("duckdb", 1)]
)
def test_hostile_names_and_values_are_inert_in_naive_bayes(
    dialect: str, explain: int
) -> None:
    answer = {"duckdb": run_duckdb, "sqlite": run_sqlite}[dialect]
    check_hostile(answer, dialect, bayleaf.NaiveBayesClassifier, explain)


def test_hostile_names_and_values_are_inert_in_a_tree() -> None:
    check_hostile(run_sqlite, "sqlite", bayleaf.TANClassifier, 2)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_hostile_names_and_values_are_inert(
    dialect: str, request: pytest.FixtureRequest
) -> None:
    answer = answering(dialect, request)
    check_hostile(answer, dialect, bayleaf.TANClassifier, 2)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_hostile_query_is_one_statement_that_reads(dialect: str) -> None:
    import sqlglot
    from sqlglot import exp

    frame, classes = hostile()
    model = bayleaf.NaiveBayesClassifier().fit(frame, classes)
    query = to_sql(model, dialect=dialect, table=[HOSTILE], explain=1)
    (read,) = sqlglot.parse(query, dialect=dialect)
    assert isinstance(read, exp.Select)
    texts = {one.this for one in read.find_all(exp.Literal) if one.is_string}
    names = {one.this for one in read.find_all(exp.Identifier)}
    assert set(NAMES) <= names
    assert set(VALUES) | {"k" * 300} <= texts
    assert not list(read.find_all(exp.Drop, exp.Delete))


def test_columns_that_differ_in_case_alone_are_told_apart_or_refused() -> None:
    frame = pd.DataFrame({"a": ["x", "y"] * 5, "A": ["x", "x", "y", "y", "x"] * 2})
    model = bayleaf.NaiveBayesClassifier().fit(frame, ["p", "q"] * 5)
    assert to_sql(model, dialect="postgres").count(quoted("A")) > 0
    with pytest.raises(ValueError, match="'A' and 'a' are one column in sqlite"):
        to_sql(model, dialect="sqlite")


# Names of columns, and how databases could answer without them: by functions of a row,
# by other columns of the same stage, by the alias of the table.
READ = ("age", "count", "num_nulls", "c0", "x1", "i0", "source")


@pytest.mark.parametrize(
    "dialect", ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("column", [*READ, "id"])
def test_a_table_without_a_column_has_no_answer(
    column: str, dialect: str, request: pytest.FixtureRequest
) -> None:
    answer = answering(dialect, request)
    frame = pd.DataFrame(dict.fromkeys(READ, [0, 1, 2, 3] * 5))
    model = bayleaf.NaiveBayesClassifier(categorical_features=READ[1:])
    model.fit(frame, ["p", "q"] * 10)
    rows = frame.assign(id=range(20)).drop(columns=column)
    query = to_sql(model, dialect=dialect, id_columns=["id"], explain=1)
    with pytest.raises(Exception, match=column):
        answer(query, rows)


@pytest.mark.few(8)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("table", ["s1", "S2", "main.s3"])
def test_only_the_first_stage_reads_the_table_and_names_it(
    table: str, dialect: str
) -> None:
    import sqlglot
    from sqlglot import exp

    frame = pd.DataFrame({"source": ["x", "y"] * 9, "b": np.arange(18.0)})
    model = bayleaf.TANClassifier().fit(frame, ["p", "q", "r"] * 6)
    for n_entries in (0, np.inf):
        with joined_above(n_entries):
            query = to_sql(
                model, table=table, dialect=dialect, id_columns=["n"], explain=1
            )
        (read,) = sqlglot.parse(query, dialect=dialect)
        stages = {cte.alias.lower(): cte.this for cte in read.find_all(exp.CTE)}
        name = table.split(".")[-1]
        assert name.lower() not in stages
        (first,) = [
            stage
            for stage in stages.values()
            if name in [source.name for source in stage.find_all(exp.Table)]
        ]
        assert {column.name for column in first.find_all(exp.Column)} == {
            *frame.columns,
            "n",
        }
        assert {column.table for column in first.find_all(exp.Column)} == {"source_2"}


ODD_ARGUMENTS: list[Any] = [
    (TypeError, {"table": 5}, "table must be a name or a list of names, got 5"),
    (TypeError, {"table": ["a", 5]}, "table must be a name or a list of names"),
    (TypeError, {"id_columns": "id"}, "id_columns must be a list of names, got 'id'"),
    (TypeError, {"id_columns": [5]}, "id_columns must be a list of names"),
    (ValueError, {"table": "t\0"}, "the table's name holds a zero byte"),
    (ValueError, {"table": "t\udc80"}, r"lone surrogate, .*: 't\\udc80'; replace"),
    (ValueError, {"id_columns": ["x\0y"]}, r"a name in id_columns holds.*'x\\x00y'"),
    (ValueError, {"id_columns": ["PREDICTION"]}, "already has a column 'prediction'"),
    (ValueError, {"id_columns": ["Probability_P"]}, "a column 'probability_p'"),
    (ValueError, {"id_columns": ["n", "N"]}, "a column 'n'; .* got 'N'"),
    (ValueError, {"id_columns": ["PRIOR"], "explain": 1}, "a column 'prior'"),
]


def test_odd_arguments_are_refused_in_a_sentence() -> None:
    def check(case: tuple[type[Exception], dict[str, Any], str]) -> None:
        kind, options, sentence = case
        model = bayleaf.NaiveBayesClassifier().fit([["a"], ["b"]], ["p", "q"])
        with pytest.raises(kind, match=sentence):
            to_sql(model, **options)

    check_each(ODD_ARGUMENTS, check)


def test_ids_are_compared_as_the_database_compares_them() -> None:
    model = bayleaf.NaiveBayesClassifier().fit([["a"], ["b"]], ["p", "q"])
    ids = ["Prediction", "n", "N"]
    assert '"Prediction"' in to_sql(model, id_columns=ids, dialect="postgres")
    with pytest.raises(ValueError, match=r"already has a column 'é'; .* got 'e'"):
        to_sql(model, id_columns=["é", "e"], dialect="mysql")


@pytest.mark.parametrize(
    ("classes", "names"),
    [
        (["p", "q"], ["p", "q"]),
        (["2", "A", "a"], ["2", "2_2", "3"]),
        (["2", "2_2", "x" * 90], ["2", "2_2", "3"]),
        (
            ["2_2", "3", "3_2", "A", "B", "a", "b"],
            ["2_2", "3", "3_2", "4", "5", "6", "7"],
        ),
        (["x" * 90, "1", "1_2"], ["1_3", "1", "1_2"]),
        ([True, "true"], ["1", "2"]),
    ],
)
def test_names_of_probabilities_are_labels_or_free_numbers(
    classes: list[Any], names: list[str]
) -> None:
    found = probability_names(classes, "duckdb")
    assert found == [f"probability_{name}" for name in names]


def test_a_zero_byte_is_refused() -> None:
    frame = pd.DataFrame({"a": ["x\0", "y"] * 5})
    model = bayleaf.NaiveBayesClassifier().fit(frame, ["p", "q"] * 5)
    with pytest.raises(ValueError, match="'a' holds a text with a zero byte"):
        to_sql(model)


@pytest.mark.parametrize(
    "dialect", ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)]
)
def test_truth_values_numbers_and_nan_are_coded_as_in_python(
    dialect: str, request: pytest.FixtureRequest
) -> None:
    answer = answering(dialect, request)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "yes": rng.random(80) < 0.5,
            "few": rng.integers(0, 3, 80),
            "real": rng.normal(size=80),
        }
    )
    classes = frame["yes"] ^ (frame["few"] > 1)
    model = bayleaf.TANClassifier().fit(frame, classes)
    rows = frame.assign(few=frame["few"].astype(float), n=range(80))
    rows.loc[:20, "real"] = np.nan
    rows.loc[3, "real"] = -0.0
    rows.loc[10:30, "few"] = [np.nan] * 10 + [7.0] * 11
    features = rows[["yes", "few", "real"]]
    query = to_sql(model, dialect=dialect, id_columns=["n"])
    found = answer(query, rows).sort_values("n")
    columns = ["probability_False", "probability_True"]
    proba = model.predict_proba(features)
    assert found[columns].to_numpy() == pytest.approx(proba, abs=1e-12)


@pytest.mark.parametrize(
    "dialect", ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)]
)
def test_parts_of_dates_are_coded_as_in_python(
    dialect: str, request: pytest.FixtureRequest
) -> None:
    answer = answering(dialect, request)
    rng = np.random.default_rng(2)
    start = np.datetime64("1968-03-01T00:00:00")
    hours = rng.integers(0, 90_000, 200)
    frame = pd.DataFrame({"at": start + hours.astype("timedelta64[h]")})
    month = frame["at"].dt.month
    model = bayleaf.NaiveBayesClassifier().fit(
        frame, np.where(month > 6, "late", "early")
    )
    rows = frame.assign(n=range(200))
    rows.loc[5, "at"] = pd.NaT
    proba = model.predict_proba(rows[["at"]])
    if dialect != "duckdb":
        texts = rows["at"].dt.strftime("%Y-%m-%d %H:%M:%S").astype(object)
        rows["at"] = texts.where(rows["at"].notna(), None)
    query = to_sql(model, dialect=dialect, id_columns=["n"])
    found = answer(query, rows).sort_values("n")
    columns = ["probability_early", "probability_late"]
    assert found[columns].to_numpy() == pytest.approx(proba, abs=1e-9)
