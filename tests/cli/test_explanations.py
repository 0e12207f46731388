"""``bayleaf explain`` and ``inspect`` tell what explain/ finds, in 80 columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import load
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.explain import (
    counterfactuals,
    credible_intervals,
    importance,
    robustness,
    robustness_of_rows,
)
from offenders import check_each
from oracles.small_tables import classifier, small_table

Run = Callable[..., Any]

LONG = "kind of soil as it was found below the grass by the surveyors last spring"


@pytest.fixture(scope="module", params=CLASSIFIERS)
def saved(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """A model file of each kind, with long names, and a table with the class."""
    X, y = small_table(3, missing=0.1)
    X = X.rename(columns={"soil": LONG})
    labels = pd.Series([f"class {label} of the plants" for label in y], name="growth")
    folder = tmp_path_factory.mktemp(request.param)
    model, table = folder / "model.json", folder / "table.csv"
    classifier(request.param).fit(X, labels).save(model)
    X.assign(growth=labels).to_csv(table, index=False)
    return model, table


def printed(run: Run, *words: Any) -> str:
    """What a command prints."""
    done = run(*words)
    assert done.code == 0, done.err
    return str(done.out)


@pytest.mark.few(5)
@pytest.mark.usefixtures("few_draws")
def test_all_answers_fit_a_terminal(saved: tuple[Path, Path], run: Run) -> None:
    model, table = saved
    options = ["--line", 3, "--line", 5, "--intervals", "--counterfactuals", 2]
    text = printed(run, "explain", model, table, *options)
    assert "line 3: " in text
    assert "line 5: " in text
    assert text.count("95 % credible intervals") == 2
    assert "another class" in text
    text += printed(run, "inspect", model)
    text += printed(run, "inspect", model, "--structure", "text")
    text += printed(run, "inspect", model, "--importance", table)
    assert "I(X;C) bits" in text
    assert [line for line in text.splitlines() if len(line) > 80] == []


@pytest.mark.few(5)
@pytest.mark.usefixtures("few_draws")
def test_json_holds_what_the_functions_return(
    saved: tuple[Path, Path], run: Run
) -> None:
    path, table = saved
    options = ["--line", 2, "--intervals", "--counterfactuals", 3, "--immutable", "wet"]
    told = json.loads(printed(run, "explain", path, table, *options, "--json"))
    model = load(path)
    X = pd.read_csv(table).drop(columns="growth")
    (row,) = told
    (interval,) = credible_intervals(model, X.iloc[[1]], random_state=0)
    assert row["intervals"] == json.loads(json.dumps(interval.to_dict()))
    found = counterfactuals(model, X.iloc[[1]], n=3, immutable=["wet"])
    assert row["counterfactuals"] == json.loads(json.dumps(found.to_dict()))
    assert isinstance(row["contexts"], list)
    assert row["weight_of_evidence_bits"] == pytest.approx(
        sum(term["bits"] for term in row["terms"])
    )


@pytest.mark.few(4)
def test_costs_ways_and_robustness_are_those_of_the_functions(
    saved: tuple[Path, Path], run: Run
) -> None:
    path, table = saved
    words = ["--cost", "wet=3", "--cost", "height=0.5", "--direction", "height=up"]
    words += ["--cost-per-step", "height", "--max-changes", 2, "--counterfactuals", 3]
    words += ["--robustness", "--immutable", "windy", "--json"]
    (told,) = json.loads(printed(run, "explain", path, table, "--line", 2, *words))
    model = load(path)
    row = pd.read_csv(table).drop(columns="growth").iloc[[1]]
    found = counterfactuals(
        model,
        row,
        n=3,
        max_changes=2,
        immutable=["windy"],
        cost={"wet": 3, "height": 0.5},
        direction={"height": "up"},
        cost_per_step=["height"],
    )
    assert told["counterfactuals"] == json.loads(json.dumps(found.to_dict()))
    certificate = robustness(model, row, features=["wet", LONG, "height"])
    assert told["robustness"] == json.loads(json.dumps(certificate.to_dict()))


def test_the_robustness_of_all_lines_is_a_distribution(
    tmp_path: Path, run: Run
) -> None:
    X, y = small_table(3, n_rows=30, missing=0.1)
    model = classifier("tan").fit(X, y)
    model.save(tmp_path / "model.json")
    X.to_csv(tmp_path / "table.csv", index=False)
    words = ["explain", tmp_path / "model.json", tmp_path / "table.csv"]
    words += ["--robustness", "--all-lines"]
    found = robustness_of_rows(model, X)
    assert printed(run, *words).rstrip("\n") == found.to_text()
    told = json.loads(printed(run, *words, "--json"))
    assert told["distribution"] == found.distribution
    assert [row.pop("line") for row in told["rows"]] == list(range(1, len(X) + 1))
    assert told["rows"] == json.loads(json.dumps(found.to_dict()["rows"]))


@pytest.mark.few(4)
def test_importance_is_that_of_the_rows(saved: tuple[Path, Path], run: Run) -> None:
    path, table = saved
    told = json.loads(printed(run, "inspect", path, "--importance", table, "--json"))
    frame = pd.read_csv(table)
    expected = importance(load(path), frame.drop(columns="growth"), frame["growth"])
    assert told == json.loads(json.dumps(expected.to_dict()))


def test_a_conflict_is_told(tmp_path: Path, run: Run) -> None:
    X, y = small_table(8, n_rows=400)
    classifier("kdb", k=1).fit(X, y).save(tmp_path / "model.json")
    table = tmp_path / "table.csv"
    table.write_text("wet,windy,soil,height\nno,yes,clay,0.1\nno,no,clay,0.1\n")
    text = printed(run, "explain", tmp_path / "model.json", table)
    assert "the values are in conflict" in text
    calm = printed(run, "explain", tmp_path / "model.json", table, "--line", 2)
    assert "conflict" not in calm


def test_tables_below_latent_variables_are_the_networks(
    tmp_path: Path, run: Run
) -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(2, size=(300, 2))
    X = pd.DataFrame(np.where(bits, "on", "off"), columns=["a", "b"]).astype(object)
    y = np.where(bits[:, 0] == bits[:, 1], "same", "other")
    model = classifier("hnb").fit(X, y)
    assert model.latents_
    model.save(tmp_path / "model.json")
    told = json.loads(
        printed(run, "inspect", tmp_path / "model.json", "--table", "a", "--json")
    )
    for row in told:
        expected = model.network_.query({"class": row["class"]}, "a")["a"]
        found = [row["a = off"], row["a = on"]]
        assert found == pytest.approx(expected.probabilities.tolist())


def test_a_mixtures_tables_are_asked_of_rows(tmp_path: Path, run: Run) -> None:
    X, y = small_table(3)
    classifier("mixture").fit(X, y).save(tmp_path / "model.json")
    done = run("inspect", tmp_path / "model.json", "--table", "wet")
    assert done.code == 2
    assert "explain a row" in done.err


def test_rules_fit_a_terminal(tmp_path: Path, run: Run) -> None:
    rng = np.random.default_rng(0)
    winds = rng.integers(4, size=(500, 2))
    names = [f"the wind's direction as measured at {hour} o'clock" for hour in (6, 18)]
    X = pd.DataFrame(np.array(["north", "east", "south", "west"])[winds], columns=names)
    y = np.where(winds[:, 0] == winds[:, 1], "the storm is near", "a quiet evening")
    classifier("hnb").fit(X.astype(object), y).save(tmp_path / "long.json")
    text = printed(run, "inspect", tmp_path / "long.json", "--rules")
    assert "collapsed into 2 states" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


MISFITS = [
    ("explain {model} {table} --immutable wet", "or --robustness"),
    ("explain {model} {table} --cost wet=2", "--cost belongs to --counterfact"),
    ("explain {model} {table} --max-changes 2", "belongs to --counterfactuals"),
    ("explain {model} {table} --counterfactuals 1 --cost wet", "feature=number"),
    ("explain {model} {table} --counterfactuals 1 --cost wet=x", "got 'wet=x'"),
    ("explain {model} {table} --counterfactuals 1 --cost wet=0", "above 0, got"),
    (
        "explain {model} {table} --counterfactuals 1 --cost wet=1 --cost wet=2",
        "names 'wet' twice",
    ),
    (
        "explain {model} {table} --counterfactuals 1 --direction wet=up",
        "'wet' has no order",
    ),
    ("explain {model} {table} --all-lines", "belongs to --robustness"),
    ("explain {model} {table} --robustness --immutable we", "did you mean wet"),
    (
        "explain {model} {table} --robustness --all-lines --line 2",
        "leave out --line or --all-lines",
    ),
    ("inspect {model} --target growth", "belongs to --importance"),
    ("inspect {model} --importance {bare}", "has no column 'class'"),
]


def test_options_that_do_not_fit_are_named(tmp_path: Path, run: Run) -> None:
    X, y = small_table(3)
    places = {key: tmp_path / f"{key}.csv" for key in ("table", "bare")}
    places["model"] = tmp_path / "model.json"
    classifier("nb").fit(X, y).save(places["model"])
    X.assign(growth=y).to_csv(places["table"], index=False)
    X.to_csv(places["bare"], index=False)

    def check(case: tuple[str, str]) -> None:
        command, message = case
        done = run(*(part.format(**places) for part in command.split()))
        assert done.code == 2
        assert message in done.err

    check_each(MISFITS, check, lambda case: case[0])
