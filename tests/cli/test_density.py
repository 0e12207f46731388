"""Density models on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import bayleaf
from bayleaf.cli import main
from offenders import check_each

TREES = {"shape": {"any": {"round": ["disc", "ball"], "edged": ["cube", "cone"]}}}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table in which the place follows the shape's group."""
    rng = np.random.default_rng(0)
    shape = rng.integers(0, 4, 400)
    place = np.where(rng.random(400) < 0.9, shape // 2, rng.integers(0, 2, 400))
    columns = {
        "shape": np.array(["disc", "ball", "cube", "cone"])[shape].tolist(),
        "place": np.array(["floor", "shelf"])[place].tolist(),
        "weight": rng.integers(1, 3, 400).tolist(),
    }
    path = tmp_path / "things.csv"
    pa_csv.write_csv(pa.table(columns), path)
    (tmp_path / "trees.json").write_text(json.dumps(TREES), encoding="utf-8")
    return path


def fit(table: Path, *options: str) -> tuple[int, Path]:
    """Exit code of ``fit --density``, and the model's file."""
    output = table.parent / "net.json"
    words = ["fit", "--density", str(table), "--weight", "weight", "-o", str(output)]
    return main([*words, *options]), output


def test_a_density_model_is_learned_and_shown(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trees = str(table.parent / "trees.json")
    code, output = fit(
        table,
        *("--local-structure", "tree", "--abstraction", "given"),
        *("--hierarchies", trees, "--required-edges", "shape->place"),
    )
    assert code == 0
    assert "TABS-E" in capsys.readouterr().out
    assert main(["inspect", str(output), "--table", "place"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("P(place | shape)\n  shape = round: floor 0.9")
    assert main(["inspect", str(output), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["edges"] == [["shape", "place"]]
    assert main(["inspect", str(output), "--structure", "dot"]) == 0
    assert capsys.readouterr().out.startswith("digraph")
    assert main(["query", str(output), "--given", "shape=cube"]) == 0
    assert "shelf" in capsys.readouterr().out


def test_the_file_is_that_of_the_estimator(table: Path) -> None:
    code, output = fit(table, "--local-structure", "tree", "--abstraction", "local")
    assert code == 0
    loaded = bayleaf.load(output)
    assert loaded.get_params()["abstraction"] == "local"
    rows = pa_csv.read_csv(table)
    own = bayleaf.BayesianNetworkEstimator(
        local_structure="tree", abstraction="local", random_state=0
    )
    own.fit(rows.drop_columns("weight"), sample_weight=rows["weight"].to_numpy())
    cells = rows.drop_columns("weight")
    assert (loaded.score_samples(cells) == own.score_samples(cells)).all()


NO_DENSITY = [
    (["--target", "place"], "--density without --target"),
    (["--model", "nb"], "--density without --target and --model"),
    (["--k", "2"], "--k is no setting of --density; it belongs to kdb"),
    (["--required-edges", "shape"], "--required-edges should have the form"),
    (["--abstraction", "given"], "needs hierarchies"),
    (["--drop", "shape", "--drop", "place"], "has no column left"),
]


def check_refused(
    table: Path, capsys: pytest.CaptureFixture[str], cases: list[tuple[list[str], str]]
) -> None:
    """Check that fit refuses the options of each case with its message."""

    def check(case: tuple[list[str], str]) -> None:
        options, message = case
        code, _ = fit(table, *options)
        assert code == 2
        assert message in capsys.readouterr().err

    check_each(cases, check)


def test_what_makes_no_density_model_is_refused_in_a_sentence(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refused(table, capsys, NO_DENSITY)


LACKING = [
    (["--table", "shap"], "there is no variable 'shap'"),
    (["--rules"], "--rules belongs to classifiers"),
]


def test_what_a_density_model_lacks_is_reported(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, output = fit(table)

    def check(case: tuple[list[str], str]) -> None:
        options, message = case
        assert main(["inspect", str(output), *options]) == 2
        assert message in capsys.readouterr().err

    check_each(LACKING, check)


def test_tiers_and_beliefs_are_taken_from_words(table: Path) -> None:
    tiers = ("--tiers", "place;shape", "--arc-prior", "place->shape=0.99")
    code, output = fit(table, *tiers)
    assert code == 0
    loaded = bayleaf.load(output)
    assert loaded.tiers == [["place"], ["shape"]]
    assert loaded.arc_prior == {("place", "shape"): 0.99}
    assert ("shape", "place") not in loaded.edges_


@pytest.mark.parametrize("text", ["place\n\nshape\n", '[["place"], ["shape"]]'])
def test_tiers_may_stand_in_a_file(table: Path, text: str) -> None:
    path = table.parent / "tiers.txt"
    path.write_text(text, encoding="utf-8")
    code, output = fit(table, "--tiers", str(path))
    assert code == 0
    assert bayleaf.load(output).tiers == [["place"], ["shape"]]


NO_TIERS = [
    (["--tiers", "shape,;place"], "--tiers should have the form name,name;name"),
    (["--tiers", "shape;places"], "tiers names 'places', which is no column"),
    (["--arc-prior", "shape->place"], "--arc-prior should have the form"),
    (["--arc-prior", "shape=0.5"], "--arc-prior should have the form"),
    (["--arc-prior", "shape->place=1"], "above 0 and below 1"),
]


def test_tiers_and_beliefs_that_are_none_are_refused_in_a_sentence(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refused(table, capsys, NO_TIERS)


@pytest.mark.parametrize("model", ["tan", "kdb", "aode"])
def test_models_of_a_class_take_tiers(table: Path, model: str) -> None:
    output = table.parent / "model.json"
    words = ["fit", str(table), "--target", "place", "--model", model, "-o"]
    assert main([*words, str(output), "--tiers", "shape;weight"]) == 0
    assert ("weight", "shape") not in bayleaf.load(output).edges_
