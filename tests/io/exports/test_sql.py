"""Queries answer as classifiers do, in the databases that run here."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import to_sql
from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.datasets import load_heart, load_mushroom
from bayleaf.io.exports.sql.words import DIALECTS
from bayleaf.scoring.program_scores import scores
from bayleaf.scoring.terms import Bank, LogSum, Look, ScoringProgram, Term
from offenders import check_each
from oracles.databases import joined_above, postgres, run_duckdb, run_sqlite

pytest.importorskip("sqlglot")

Answer = Callable[..., pd.DataFrame]
N_ROWS = 60
# What stands in no training row.
STRANGE = 'never "seen"; it\'s é\\'

CLASSIFIERS: dict[str, Callable[[], BayesianClassifier]] = {
    "naive Bayes": bayleaf.NaiveBayesClassifier,
    "naive Bayes, calibrated": lambda: bayleaf.NaiveBayesClassifier(
        calibration="leave_one_out"
    ),
    "naive Bayes, missing as a state": lambda: bayleaf.NaiveBayesClassifier(
        missing="state"
    ),
    "naive Bayes, a loss": lambda: bayleaf.NaiveBayesClassifier(loss=[[0, 5], [1, 0]]),
    "naive Bayes, another prior": lambda: bayleaf.NaiveBayesClassifier(
        class_prior=[0.2, 0.8]
    ),
    "TAN": bayleaf.TANClassifier,
    "KDB": lambda: bayleaf.KDBClassifier(k=2),
    "averaged KDB": lambda: bayleaf.AveragedKDBClassifier(n_networks=2, random_state=0),
    "AODE": bayleaf.AODEClassifier,
    "A2DE": bayleaf.A2DEClassifier,
    "HNB": bayleaf.HNBClassifier,
    "latent classes": lambda: bayleaf.LatentClassNBClassifier(
        n_components=2, random_state=0
    ),
    "hierarchical mixture": lambda: bayleaf.HierarchicalMixtureNBClassifier(
        random_state=0
    ),
    "a network": lambda: bayleaf.BayesianNetworkClassifier(),
    "regressions": lambda: bayleaf.KDBClassifier(
        k=1, numeric="gaussian", numeric_weights="leave_one_out"
    ),
}


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, Answer | str]]:
    """What answers in each dialect, or why nothing does."""
    with postgres() as server:
        yield {"duckdb": run_duckdb, "sqlite": run_sqlite, "postgres": server}


def answering(servers: dict[str, Answer | str], dialect: str) -> Answer:
    """What answers in a dialect."""
    answer = servers[dialect]
    if isinstance(answer, str):
        pytest.skip(answer)
    return answer


def holed(X: pd.DataFrame, n_rows: int = N_ROWS) -> pd.DataFrame:
    """Some rows with missing and unknown cells, and without them."""
    rng = np.random.default_rng(0)
    rows = X.sample(n_rows, random_state=1).reset_index(drop=True)
    for place, name in enumerate(rows.columns):
        if rows[name].dtype.kind not in "fiu":
            rows[name] = rows[name].astype(object)
            rows.loc[place % n_rows, name] = STRANGE
        else:
            rows[name] = rows[name].astype(float)
        gone = (rng.random(n_rows) < 0.15) & (rows.index < n_rows * 3 // 4)
        rows.loc[gone, name] = np.nan if rows[name].dtype.kind == "f" else None
    rows.iloc[0] = None
    return rows


def heart() -> tuple[pd.DataFrame, Any]:
    X, y = load_heart(return_X_y=True)
    return X.to_pandas(), y


def check(
    model: BayesianClassifier,
    rows: pd.DataFrame,
    answer: Answer,
    dialect: str,
    explain: int = 0,
) -> pd.DataFrame:
    """Check all that a query says of some rows; gives its answer."""
    table = rows.assign(row_number=np.arange(len(rows)))
    query = to_sql(model, dialect=dialect, explain=explain, id_columns=["row_number"])
    found = answer(query, table).sort_values("row_number").reset_index(drop=True)
    names = [f"probability_{label}" for label in model.classes_]
    assert len(found) == len(rows)
    found_proba = found[names].to_numpy(float)
    assert found_proba == pytest.approx(model.predict_proba(rows), abs=1e-9)
    assert (found["prediction"].to_numpy() == model.predict(rows)).all()
    if explain:
        check_explanations(model, rows, found, explain)
    return found


def check_explanations(
    model: BayesianClassifier, rows: pd.DataFrame, found: pd.DataFrame, n: int
) -> None:
    """Check that a query's contributions are those of `explain`."""
    given = found.to_dict("records")
    for one, told in zip(model.explain(rows), given, strict=True):
        if not np.isfinite(one.log_odds):
            continue
        ranks = range(1, n + 1)
        parts = [told[f"contribution_{rank}"] for rank in ranks]
        total = told["prior"] + told["other_features"] + sum(parts)
        assert total == pytest.approx(told["log_odds"], abs=1e-9)
        assert told["log_odds"] == pytest.approx(one.log_odds, abs=1e-9)
        assert told["prior"] == pytest.approx(one.prior, abs=1e-9)
        terms = {str(term.feature): term for term in one.terms}
        for rank, largest in zip(ranks, one.ranked(), strict=False):
            term = terms[told[f"feature_{rank}"]]
            assert told[f"state_{rank}"] == term.value
            nats = told[f"contribution_{rank}"]
            assert nats == pytest.approx(term.contribution, abs=1e-9)
            assert abs(nats) == pytest.approx(abs(largest.contribution), abs=1e-9)


@pytest.mark.few(9)
@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_queries_answer_as_classifiers_do(
    kind: str, dialect: str, servers: dict[str, Answer | str]
) -> None:
    answer = answering(servers, dialect)
    X, y = heart()
    if kind == "A2DE":
        # A network for every pair of features.
        X = X.iloc[:, :8]
    rows = holed(X)
    model = CLASSIFIERS[kind]()
    trained = pd.concat([X, holed(X).iloc[1:]]) if "state" in kind else X
    labels = [*y, *list(y)[: len(trained) - len(X)]]
    model.fit(trained, labels)
    check(model, rows, answer, dialect)
    check(model, rows, answer, dialect, explain=3)


def test_sqlite_scores_and_explains_a_tree() -> None:
    X, y = heart()
    model = bayleaf.TANClassifier().fit(X, y)
    check(model, holed(X, 20), run_sqlite, "sqlite", explain=2)


@pytest.mark.parametrize("n_entries", [0, np.inf])
def test_joined_tables_and_conditions_answer_alike(n_entries: float) -> None:
    X, y = heart()
    model = bayleaf.KDBClassifier(k=1).fit(X[["sex", "chest_pain", "age"]], y)
    rows = holed(X, 20)[["sex", "chest_pain", "age"]]
    with joined_above(n_entries):
        check(model, rows, run_sqlite, "sqlite")


@pytest.mark.few(3)
@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize("kind", ["naive Bayes", "TAN", "averaged KDB", "HNB", "AODE"])
def test_mushrooms_are_scored_alike(
    kind: str, dialect: str, servers: dict[str, Answer | str]
) -> None:
    answer = answering(servers, dialect)
    X, y = load_mushroom(return_X_y=True)
    X = X.to_pandas()
    model = CLASSIFIERS[kind]().fit(X, y)
    check(model, holed(X, 30), answer, dialect)


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
def test_sixty_four_networks_are_one_joined_table(
    dialect: str, servers: dict[str, Answer | str]
) -> None:
    answer = answering(servers, dialect)
    X, y = heart()
    X = X[["age", "sex", "chest_pain", "serum_cholesterol", "thallium_scan"]]
    model = bayleaf.AveragedKDBClassifier(
        n_networks=64, max_parents=3, random_state=0, linear_families=False
    ).fit(X, y)
    rows = holed(X)
    query = to_sql(model, dialect=dialect)
    assert query.count("JOIN") < 40
    assert ("SET jit = off" in query) == (dialect == "postgres")
    check(model, rows, answer, dialect)
    check(model, rows, answer, dialect, explain=2)


def test_numbers_beyond_what_databases_take_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bayleaf.io.exports.sql import look_ups

    X, y = heart()
    model = bayleaf.AveragedKDBClassifier(n_networks=8, random_state=0)
    model.fit(X.iloc[:, :5], y)
    monkeypatch.setattr(look_ups, "_MAX_IN_TEXTS", 1_000)
    with pytest.raises(ValueError, match=r"more than 1,000; .*n_networks=.*\.onnx"):
        to_sql(model)


def test_rows_that_would_become_too_many_have_no_result() -> None:
    X, y = heart()
    X = X.iloc[:, :8]
    model = bayleaf.KDBClassifier(k=2).fit(X, y)
    rows = holed(X, 30)
    table = rows.assign(n=range(len(rows)))
    queries = [
        to_sql(model, dialect="sqlite", id_columns=["n"], max_states=most)
        for most in (4, 100_000)
    ]
    narrow, full = (
        run_sqlite(query, table).sort_values("n").reset_index() for query in queries
    )
    assert "-- Note: rows whose missing cells" in queries[0]
    empty = narrow["prediction"].isna()
    assert 0 < empty.sum() < len(rows)
    assert not full["prediction"].isna().any()
    column = narrow.columns[-1]
    assert narrow[column][~empty].to_numpy() == pytest.approx(full[column][~empty])


def test_what_the_classifier_refuses_has_no_result() -> None:
    model = bayleaf.NaiveBayesClassifier(missing="error", unknown="error")
    model.fit(pd.DataFrame({"a": ["x", "y"] * 5}), ["p", "q"] * 5)
    rows = pd.DataFrame({"a": ["x", "z", None], "n": [0, 1, 2]})
    found = run_sqlite(to_sql(model, dialect="sqlite", id_columns=["n"]), rows)
    assert found.sort_values("n")["prediction"].isna().tolist() == [
        False,
        True,
        True,
    ]


def test_what_is_impossible_under_every_class_has_no_result() -> None:
    X = pd.DataFrame({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5})
    model = bayleaf.NaiveBayesClassifier().fit(X, ["p", "q"] * 5)
    network = model.network_
    for name in "ab":
        network = network.with_table(name, np.eye(2))
    predictor = model._predictor()
    certain = replace(predictor, model=replace(predictor.model, network=network))
    rows = pd.DataFrame({"a": ["x", "x"], "b": ["v", "u"], "n": [0, 1]})
    query = to_sql(certain, dialect="sqlite", id_columns=["n"])
    found = run_sqlite(query, rows).sort_values("n")
    assert found["prediction"].isna().tolist() == [True, False]
    assert found["probability_p"].tolist()[1] == 1.0


READ_BACK = ("TAN", "AODE", "regressions")


def check_read_back(kind: str, dialect: str, columns: list[str]) -> None:
    """Check that sqlglot reads a query, and knows all its functions but two."""
    import sqlglot
    from sqlglot import exp

    X, y = heart()
    model = CLASSIFIERS[kind]().fit(X[columns], y)
    query = to_sql(model, dialect=dialect, explain=1)
    (read,) = sqlglot.parse(query, dialect=dialect)
    assert isinstance(read, exp.Select)
    unknown = {call.name.upper() for call in read.find_all(exp.Anonymous)}
    assert unknown <= {"UNNEST", "STRING_SPLIT"}
    names = [one.alias for one in read.selects]
    assert names[:2] == ["prediction", f"probability_{model.classes_[0]}"]


@pytest.mark.parametrize(
    ("dialect", "kind"), list(zip(DIALECTS, itertools.cycle(READ_BACK), strict=False))
)
def test_queries_are_read_back_in_each_dialect(dialect: str, kind: str) -> None:
    check_read_back(kind, dialect, ["age", "sex"])


@pytest.mark.few(7)
@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", READ_BACK)
def test_queries_are_read_back_with_known_functions_alone(
    kind: str, dialect: str
) -> None:
    X, _ = heart()
    check_read_back(kind, dialect, list(X.columns[:4]))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_partial_cases_of_an_average_are_scored_in_each_dialect(dialect: str) -> None:
    import sqlglot

    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    model = bayleaf.AveragedKDBClassifier(n_networks=2, random_state=0).fit(
        X, X["a"] > 0
    )
    rows = X[:4].mask(np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=bool))

    def answer(query: str, table: pd.DataFrame) -> pd.DataFrame:
        # DuckDB answers for those that do not run here.
        (read,) = sqlglot.transpile(query, read=dialect, write="duckdb")
        return run_duckdb(read, table)

    with joined_above(np.inf):
        check(model, rows, answer, dialect, explain=2)


@pytest.mark.parametrize("explain", [0, 2])
def test_wide_averages_weigh_partial_cases_in_several_stages(
    explain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
    model = bayleaf.AveragedKDBClassifier(n_networks=3, random_state=0).fit(
        X, X["a"] + X["b"] > 0
    )
    monkeypatch.setattr("bayleaf.io.exports.sql.term_scores._FLAGS_PER_KEY", 2)
    monkeypatch.setattr("bayleaf.io.exports.sql.term_scores._WEIGHTS_PER_STAGE", 3)
    monkeypatch.setattr("bayleaf.io.exports.sql.term_scores._FEW_ENTRIES", 0)
    rows = X[:20].mask(rng.random((20, 5)) < 0.4)
    check(model, rows, run_duckdb, "duckdb", explain=explain)


BAD_OPTIONS: list[Any] = [
    ({"dialect": "oracle"}, "dialect must be one of"),
    ({"explain": -1}, "explain must be at least 0"),
    ({"table": ""}, "table must be a name"),
    ({"id_columns": ["prediction"]}, "already has a column"),
    ({"max_states": 0}, "max_states must be at least 1"),
    ({"table_expression": " "}, "table_expression, a text such as"),
    ({"table": "a", "table_expression": "b"}, "and not both"),
]


def test_arguments_are_checked() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        options, sentence = case
        model = bayleaf.NaiveBayesClassifier().fit([["a"], ["b"]], ["x", "y"])
        with pytest.raises(ValueError, match=sentence):
            to_sql(model, **options)

    check_each(BAD_OPTIONS, check)


def test_a_query_of_an_expression_is_a_subquery() -> None:
    model = bayleaf.NaiveBayesClassifier().fit(
        pd.DataFrame({"x": [*"aabb"]}), [*"yynn"]
    )
    expression = "(SELECT 'a' AS x UNION ALL SELECT x FROM s1)"
    query = to_sql(model, dialect="sqlite", table_expression=expression)
    assert expression in query
    assert ";" not in query
    rows = pd.DataFrame({"x": ["b"]})
    found = run_sqlite(f"SELECT prediction FROM ({query}) AS q", rows, "s1")
    assert sorted(found["prediction"]) == ["n", "y"]


@pytest.mark.parametrize("class_prior", [None, [0.2, 0.8]])
def test_sqlite_scores_and_explains_experts_under_gates(
    class_prior: list[float] | None,
) -> None:
    X, y = heart()
    X = X[["age", "sex", "chest_pain"]]
    model = bayleaf.HierarchicalMixtureNBClassifier(
        n_mixtures=2, random_state=0, class_prior=class_prior
    ).fit(X, y)
    check(model, holed(X, 20), run_sqlite, "sqlite", explain=2)


def posteriors_of(terms: tuple[Term, ...]) -> tuple[np.ndarray, np.ndarray]:
    """What a query says of six rows under other terms, and what the reference does."""
    X = pd.DataFrame({"a": ["x", "y", None] * 2, "b": ["u"] * 3 + ["v"] * 3})
    model = bayleaf.NaiveBayesClassifier().fit(X, ["p", "q"] * 3)
    predictor, domain = model._predictor(), model.model_.domain
    other = replace(
        predictor, model=SimpleNamespace(domain=domain, terms=terms, sharing=None)
    )
    query = to_sql(other, dialect="sqlite", id_columns=["n"])
    answer = run_sqlite(query, X.assign(n=range(6))).sort_values("n")
    program = ScoringProgram.of(domain.cards, terms)
    expected = np.exp(scores(program, model._encode(X).codes))
    expected /= expected.sum(axis=1, keepdims=True)
    return answer[["probability_p", "probability_q"]].to_numpy(float), expected


def test_experts_without_gates_are_written() -> None:
    rng = np.random.default_rng(0)

    def bank(n_nodes: int) -> tuple[Bank, ...]:
        tables = rng.normal(size=(2, 2, 2 * n_nodes))
        looks = tuple(Look.of_states(v, 2, table) for v, table in enumerate(tables))
        return (Bank(rng.normal(size=(n_nodes, 2)), looks),)

    answer, expected = posteriors_of((LogSum(paths=(bank(4), bank(3))),))
    assert answer == pytest.approx(expected, abs=1e-12)


def test_averages_that_are_not_written_are_refused() -> None:
    X, y = heart()
    model = bayleaf.KDBClassifier(k=3).fit(X.iloc[:, :5], y)
    terms = model.model_.terms
    look = Look.constant(np.zeros(2))
    bank = Bank(np.zeros((1, 2)), ())
    predictor = model._predictor()
    refused = [
        ((LogSum(networks=terms),), "at most two features of each are parents"),
        (
            (LogSum(networks=terms, paths=((bank,),)),),
            "members that are not written",
        ),
        ((*terms, *terms), "is not written as SQL; fit another"),
        (
            (LogSum(paths=((bank,),), is_posterior=True, fallback=(look,)),),
            "has members",
        ),
    ]

    def check(case: tuple[tuple[Term, ...], str]) -> None:
        other = SimpleNamespace(domain=model.model_.domain, terms=case[0], sharing=None)
        with pytest.raises(ValueError, match=case[1]):
            to_sql(replace(predictor, model=other))

    check_each(refused, check)
