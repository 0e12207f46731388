"""The model that ``fit`` takes by default, on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pytest

import bayleaf
from bayleaf.datasets import load_heart
from bayleaf.wording import size_text

Run = Callable[..., Any]


@pytest.fixture
def averaged(heart_files: Callable[..., Path]) -> Path:
    """A file of the default model on the heart table."""
    return heart_files("--n-networks", "3")


def test_fit_takes_averaged_kdb_by_default(averaged: Path) -> None:
    assert type(bayleaf.load(averaged)).__name__ == "AveragedKDBClassifier"


def test_predictions_are_those_of_the_estimator(
    run: Run, averaged: Path, heart: Path, tmp_path: Path
) -> None:
    out = tmp_path / "scored.csv"
    assert run("predict", averaged, heart, "-o", out).code == 0
    table = load_heart()
    expected = bayleaf.load(averaged).predict_proba(table.X)[:, 1]
    np.testing.assert_array_equal(
        pa_csv.read_csv(out).column("probability_present"), expected
    )


def test_inspect_shows_the_shape_of_a_feature(run: Run, averaged: Path) -> None:
    shown = run("inspect", averaged, "--shape", "age").out
    assert shown.startswith("age: bits in favour of each class")
    values = json.loads(run("inspect", averaged, "--shape", "age", "--json").out)
    assert values["kind"] == "numeric"
    assert sum(state["rows"] for state in values["states"]) == 270
    done = run("inspect", averaged, "--shape", "agee")
    assert done.code == 2
    assert "agee" in done.err
    assert "age" in done.err


def test_a_shape_is_asked_of_any_model(run: Run, model: Path) -> None:
    done = run("inspect", model, "--shape", "age")
    assert done.code == 0
    assert "bits in favour of each class" in done.out


def test_a_table_of_one_network_is_asked_of_one_network_alone(
    run: Run, averaged: Path
) -> None:
    done = run("inspect", averaged, "--table", "age")
    assert done.code == 2
    assert "several networks" in done.err


def test_the_drawing_carries_the_weights_of_arcs(run: Run, averaged: Path) -> None:
    dot = run("inspect", averaged, "--structure", "dot").out
    edges = bayleaf.load(averaged).edges_
    edge = next(edge for edge in edges if edge[0] == "disease")
    assert f'"disease" -> "{edge[1]}" [label="{edge.weight:.2f}"' in dot
    text = run("inspect", averaged, "--structure", "text").out
    assert f"disease ({edge.weight:.2f})" in text


def test_explain_tells_evidence_alone_from_that_by_parents(
    run: Run, averaged: Path, heart: Path
) -> None:
    values = json.loads(run("explain", averaged, heart, "--line", 3, "--json").out)
    terms = (values[0] if isinstance(values, list) else values)["terms"]
    for term in terms:
        assert sum(term["increments"]) == pytest.approx(term["contribution"])


@pytest.mark.parametrize(
    ("words", "attribute"),
    [
        (["--k", "auto"], "k_"),
        (["--n-features", "auto"], "n_features_"),
        (["--theta", "auto"], "theta_"),
    ],
)
def test_kdb_takes_auto(
    run: Run, heart: Path, tmp_path: Path, words: list[str], attribute: str
) -> None:
    path = tmp_path / "kdb.json"
    done = run(
        "fit",
        heart,
        *("--target", "disease", "--model", "kdb", *words),
        *("--calibration", "leave_one_out", "-o", path),
    )
    assert done.code == 0, done.err
    assert "temperature" in done.out
    model = bayleaf.load(path)
    assert model.temperature_ != 1.0
    assert model.get_params()[attribute.rstrip("_")] == "auto"


def test_a_setting_of_another_model_is_refused(run: Run, heart: Path) -> None:
    done = run(
        "fit",
        heart,
        *("--target", "disease", "--model", "nb", "--n-networks", 3, "-o", "x.json"),
    )
    assert done.code == 2
    assert "belongs to auto" in done.err


def test_the_size_of_a_model_is_limited_and_reported(
    run: Run, heart: Path, tmp_path: Path
) -> None:
    out = tmp_path / "small.json"
    words = ("fit", heart, "--target", "disease", "--n-networks", "3", "-o", out)
    done = run(*words, "--max-model-size", "250kB")
    assert done.code == 0
    assert "its tables take" in done.out
    assert f"({size_text(out.stat().st_size)})" in done.err
    read = bayleaf.load(out)
    assert read.max_model_size == 250_000 > read.model_.n_bytes
    assert f"less than {read.model_.min_rows} rows" in done.out
    for size, sentence in (
        ("1kB", "max_model_size=1000 is too small for 3 networks over 13 features"),
        ("much", "--max-model-size must be a size such as 2GB, got 'much'"),
    ):
        done = run(*words, "--max-model-size", size)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert sentence in done.err


def test_too_little_memory_is_refused_with_a_limit_that_is_enough(
    run: Run, heart: Path, tmp_path: Path
) -> None:
    words = ("fit", heart, "--target", "disease", "-o", tmp_path / "m.json")
    done = run(*words, "--memory", "1kB")
    assert (done.code, done.err.count("\n")) == (2, 1)
    enough = re.search(r"memory=1000 is too small.*; (\d+) is enough", done.err)
    assert enough is not None
    assert run(*words, "--memory", enough[1]).code == 0
