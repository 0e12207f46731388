"""Latent variables on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def hierarchical(heart_files: Callable[..., Path]) -> Path:
    """A model file with latent variables."""
    words = ("--search", "significance", "--significance-level", "0.001")
    return heart_files("--model", "hnb", *words)


def test_inspect_prints_the_rules(run: Run, hierarchical: Path) -> None:
    shown = run("inspect", hierarchical, "--rules").out
    assert "chest_pain = asymptomatic and exercise_induced_angina = yes" in shown
    values = json.loads(run("inspect", hierarchical, "--rules", "--json").out)
    (angina,) = [v for v in values if "chest_pain" in v["children"]]
    assert [len(state["rules"]) for state in angina["states"]] == [1, 1, 1]


def test_rules_are_asked_of_latent_variables_alone(run: Run, model: Path) -> None:
    done = run("inspect", model, "--rules")
    assert done.code == 2
    assert "hnb" in done.err


def test_the_expanded_network_answers_and_is_converted(
    run: Run, hierarchical: Path, tmp_path: Path
) -> None:
    done = run("query", hierarchical, "--given", "sex=male", "--target", "disease")
    assert done.code == 0, done.err
    assert run("convert", hierarchical, tmp_path / "hnb.net").code == 0
    again = run(
        "query", tmp_path / "hnb.net", "--given", "sex=male", "--target", "disease"
    )
    assert again.out == done.out


def test_a_level_outside_its_range_is_refused(run: Run, heart: Path) -> None:
    words = ("--model", "hnb", "--significance-level", 2)
    done = run("fit", heart, "--target", "disease", *words, "-o", "x.json")
    assert done.code == 2
    assert "significance_level" in done.err


def test_given_latents_and_pairs_kept_apart_are_read(
    run: Run, heart_files: Callable[..., Path]
) -> None:
    made = heart_files(
        *(
            "--model",
            "hnb",
            "--search",
            "given",
            "--latents",
            "age,sex;age,sex,st_slope",
        )
    )
    shown = json.loads(run("inspect", made, "--rules", "--json").out)
    assert [latent["children"] for latent in shown] == [
        ["age", "sex"],
        ["st_slope", "L1"],
    ]


def test_given_latents_that_are_no_names_are_refused(
    run: Run, heart_files: Callable[..., Path], tmp_path: Path
) -> None:
    words = "fit", heart_files(), "--target", "disease", "--model", "hnb"
    for option in ("--latents", "--required-joins", "--forbidden-joins"):
        done = run(*words, option, ",", "-o", tmp_path / "m.json")
        assert (done.code, f"{option} should have the form" in done.err) == (2, True)
