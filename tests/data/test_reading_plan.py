"""The plan by which the texts of a table are read."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_validate

import bayleaf
from bayleaf import BayesianNetworkEstimator, NaiveBayesClassifier, ReadingPlan
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.data.text_forms import TextForm
from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor
from oracles.small_tables import classifier

N = 60
FRAME = pd.DataFrame(
    {
        "price": [f"{i % 7 + 1},{i % 9}00" for i in range(N)],
        "when": [f"0{i % 9 + 1}/0{i % 5 + 1}/2020" for i in range(N)],
        "store": [101 + i % 3 for i in range(N)],
        "flag": [["TRUE", "false"][i % 2] for i in range(N)],
    }
)
Y = np.array(["a", "b", "b"] * 20)
NUMERIC = {"kind": "number", "use": "numeric"}
PLAN = {
    "format": "bayleaf-plan",
    "decimal": ",",
    "day_first": True,
    "columns": {"store": {"kind": "text"}},
}


def test_a_plan_decides_what_the_texts_leave_open() -> None:
    plain = NaiveBayesClassifier().fit(FRAME, Y)
    planned = NaiveBayesClassifier().fit(FRAME, Y, plan=PLAN)
    forms = dict(plain.encoder_.plan.columns), dict(planned.encoder_.plan.columns)
    assert (forms[0]["price"].thousands, forms[1]["price"].decimal) == (",", ",")
    assert (forms[0]["when"].order, forms[1]["when"].order) == ("m/d/y", "d/m/y")
    domain = planned.encoder_.domain
    assert domain[domain.index("store")].states == ("101", "102", "103")


@pytest.mark.parametrize(
    "model", [NaiveBayesClassifier(), AveragedKDBRegressor(n_networks=2)], ids=repr
)
def test_a_loaded_model_reads_by_its_plan(model: Any, tmp_path: Path) -> None:
    target = Y if isinstance(model, NaiveBayesClassifier) else np.arange(N) % 11
    model.fit(FRAME, target, plan=PLAN)
    model.save(tmp_path / "m.json")
    loaded: Any = bayleaf.load(tmp_path / "m.json")
    assert loaded.encoder_.plan == model.encoder_.plan
    np.testing.assert_array_equal(loaded.predict(FRAME), model.predict(FRAME))
    single = [loaded.predict(FRAME.iloc[[row]])[0] for row in range(5)]
    if isinstance(model, NaiveBayesClassifier):
        assert single == model.predict(FRAME)[:5].tolist()
    else:
        np.testing.assert_allclose(single, model.predict(FRAME)[:5], rtol=1e-12)


def test_a_density_model_takes_a_plan() -> None:
    model = BayesianNetworkEstimator().fit(FRAME, plan=PLAN)
    assert dict(model.encoder_.plan.columns)["store"].kind == "text"


def test_tools_pass_a_plan_to_every_fold() -> None:
    plan = NaiveBayesClassifier().fit(FRAME, Y).encoder_.plan
    found = cross_validate(
        NaiveBayesClassifier(),
        FRAME,
        Y,
        cv=3,
        params={"plan": plan},
        return_estimator=True,
    )
    assert all(fold.encoder_.plan == plan for fold in found["estimator"])


def test_plans_are_written_read_and_edited(tmp_path: Path) -> None:
    plan = NaiveBayesClassifier().fit(FRAME, Y, plan=PLAN).encoder_.plan
    plan.save(tmp_path / "plan.json")
    assert ReadingPlan.load(tmp_path / "plan.json") == plan
    assert len(plan.to_text().splitlines()) == len(FRAME.columns) + 7
    model = NaiveBayesClassifier().fit(FRAME, Y, plan=tmp_path / "plan.json")
    assert model.encoder_.plan == plan


def test_a_plan_of_many_columns_takes_a_short_line_per_column(tmp_path: Path) -> None:
    forms = [
        TextForm("text"),
        TextForm("number", ",", ".", "€", missing=("", "k.A.", "unbekannt")),
        TextForm("date", order="d month y", zone=-330),
    ]
    columns = tuple((f"column {j}", forms[j % 3]) for j in range(2000))
    plan = ReadingPlan(columns, missing=("NA",), decimal=",")
    lines = plan.to_text().splitlines()
    assert len(lines) == 2000 + 7
    assert max(map(len, lines)) <= 130
    plan.save(tmp_path / "plan.json")
    assert ReadingPlan.load(tmp_path / "plan.json") == plan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, '"format": "bayleaf-plan"'),
        ({"decimal": ";"}, "decimal must be a point or a comma, got ';'"),
        (
            {"colums": {}},
            "the plan has an unknown entry 'colums'; did you mean columns",
        ),
        (
            {"columns": {"store": {"sort": 1}}},
            "'store' of the plan has an unknown entry",
        ),
        ({"columns": {"store": {"kind": "words"}}}, "the kind 'words'; use "),
        ({"columns": {"when": {"kind": "date", "order": "y"}}}, "have no order 'y'"),
        (
            {"columns": {"price": {"kind": "number", "decimal": 1}}},
            "must be str, got 1",
        ),
        ({"columns": {"stores": {"kind": "text"}}}, "column 'stores'; did you mean"),
        ({"columns": {"store": "text"}}, "'store' of the plan is not an object"),
        ({"columns": {"store": {"use": "key"}}}, "nominal, numeric, left_out, got 'ke"),
        ({"columns": {"store": {"use": "numeric"}}}, "kind 'text' is not numeric"),
        ({"columns": {"store": {"use": 1}}}, "use of .* must be str, got 1"),
        ({"columns": {"when": {"parts": ["week"]}}}, "hour, days, got 'week'"),
    ],
)
def test_a_wrong_plan_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="(?s)" + message.replace("(", r"\(")):
        NaiveBayesClassifier().fit(FRAME, Y, plan=PLAN | change)


def test_what_is_not_a_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="plan must be a ReadingPlan"):
        NaiveBayesClassifier().fit(FRAME, Y, plan=3)
    (tmp_path / "p.json").write_text("{")
    with pytest.raises(ValueError, match=r"p\.json is not a plan in JSON"):
        NaiveBayesClassifier().fit(FRAME, Y, plan=tmp_path / "p.json")
    with pytest.raises(ValueError, match="kind"):
        ReadingPlan(columns=(("a", TextForm("words")),))  # type: ignore[arg-type]


def test_check_prints_the_plan_that_fit_takes(tmp_path: Path, capsys: Any) -> None:
    from bayleaf.cli import main

    table, plan, model = (str(tmp_path / n) for n in ("t.csv", "p.json", "m.json"))
    FRAME.assign(y=Y).to_csv(table, index=False)
    assert main(["check", table, "--target", "y", "--plan", "--decimal", ","]) == 0
    content = json.loads(capsys.readouterr().out)
    price = {"kind": "number", "decimal": ",", "use": "numeric"}
    assert content["columns"]["price"] == price
    content["columns"]["store"] = {"kind": "text"}
    Path(plan).write_text(json.dumps(content))
    command = ["fit", table, "--target", "y", "--model", "nb", "-o", model]
    assert main([*command, "--plan", plan]) == 0
    loaded: Any = bayleaf.load(model)
    assert dict(loaded.encoder_.plan.columns)["store"].kind == "text"
    proba = loaded.predict_proba(FRAME.astype({"store": str}))
    capsys.readouterr()
    assert main(["predict", model, table]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    printed = [
        [float(cell.replace(",", ".")) for cell in row[-2:]]
        for row in csv.reader(lines)
    ]
    np.testing.assert_allclose(printed, proba, rtol=1e-12)
    assert main([*command, "--plan", plan, "--memory", "1GB"]) == 0
    streamed: Any = bayleaf.load(model)
    np.testing.assert_array_equal(
        streamed.predict_proba(FRAME.astype({"store": str})), proba
    )


def test_a_plan_decides_how_columns_are_used(tmp_path: Path) -> None:
    frame = FRAME.assign(key=[f"r{i}" for i in range(N)], n=np.arange(N) % 12)
    uses = {
        "store": NUMERIC,
        "n": {"kind": "number", "use": "nominal"},
        "key": {"kind": "text", "use": "nominal"},
        "flag": {"kind": "boolean", "use": "left_out"},
        "when": {"kind": "date", "order": "d/m/y", "parts": ["month"]},
    }
    plan = PLAN | {"columns": uses}
    model = NaiveBayesClassifier().fit(frame, Y, plan=plan)
    kinds = {variable.name: variable.kind for variable in model.encoder_.domain}
    assert kinds == {
        "price": "numeric",
        "when: month": "nominal",
        "store": "numeric",
        "key": "nominal",
        "n": "nominal",
    }
    frame.assign(y=Y).to_parquet(tmp_path / "t.parquet")
    streamed = NaiveBayesClassifier()
    streamed.fit(str(tmp_path / "t.parquet"), target="y", plan=plan)
    assert streamed.encoder_.domain == model.encoder_.domain
    assert streamed.encoder_.plan == model.encoder_.plan


def test_a_plan_decides_how_integers_of_arrays_are_used() -> None:
    numbers = np.arange(40).reshape(20, 2) % 3
    plan = {"format": "bayleaf-plan", "columns": {"x1": NUMERIC}}
    model = NaiveBayesClassifier().fit(numbers, ["a", "b"] * 10, plan=plan)
    assert [variable.kind for variable in model.encoder_.domain] == [
        "nominal",
        "numeric",
    ]
    learned = NaiveBayesClassifier().learn_plan(numbers)
    assert [form.use for _, form in learned.columns] == ["nominal", "nominal"]


def test_a_regressor_reads_by_the_plan() -> None:
    plan = PLAN | {"columns": {"store": {"kind": "text"}}}
    model = AveragedKDBRegressor(n_networks=2).fit(FRAME, np.arange(N), plan=plan)
    domain = model.encoder_.domain
    assert domain[domain.index("store")].states == ("101", "102", "103")


def _hostile_frame() -> pd.DataFrame:
    """Columns of which a single cell decides what they are."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": [f"{value:.3f}" for value in rng.normal(size=N)],
            "date": [f"2024-0{i % 9 + 1}-1{i % 7}" for i in range(N)],
            "nominal": ["a", "b"] * (N // 2),
            "constant": ["k"] * N,
            "flag": ["TRUE"] * N,
            "integer": [i % 11 for i in range(N)],
            "key": [f"id{i}" for i in range(N)],
            "": range(1, N + 1),
            "text": [None] * N,
            "empty": [None] * N,
            "truth": [None] * N,
            "day": [None] * N,
        }
    )
    odd = {
        "number": "offline",
        "date": "2024-02-31",
        "nominal": "z",
        "constant": "other",
        "flag": "FALSE",
        "integer": 11,
        "key": "id1",
        "text": "hello",
        "empty": "3.5",
        "truth": "true",
        "day": "2024-01-05",
    }
    for column, cell in odd.items():
        frame.loc[0, column] = cell
    return frame


@pytest.mark.parametrize(
    "model",
    [*map(classifier, CLASSIFIERS), AveragedKDBRegressor(random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_a_row_alone_decides_nothing_of_the_folds(model: Any) -> None:
    frame = _hostile_frame()
    target = np.arange(N) % 20 if isinstance(model, AveragedKDBRegressor) else Y
    plan = model.learn_plan(frame)
    variables = []
    for rows in (slice(1, N), slice(0, N - 5)):
        model.fit(frame[rows], target[rows], plan=plan)
        found = getattr(model, "predict_proba", model.predict)(frame)
        assert np.isfinite(found).all()
        variables.append([(v.name, v.kind) for v in model.encoder_.domain])
    assert variables[0] == variables[1]
    names = [name for name, _ in variables[0]]
    assert {"constant", "flag", "text", "empty", "truth", "day: days"} <= {*names}
    assert not {"key", ""} & {*names}


def test_a_plan_depends_on_no_row_without_weight() -> None:
    frame, weights = _hostile_frame(), np.ones(N)
    weights[0] = 0.0
    model = NaiveBayesClassifier()
    assert dict(model.learn_plan(frame).columns)["number"].missing == ("offline",)
    assert dict(model.learn_plan(frame, weights).columns)["number"].missing == ()
