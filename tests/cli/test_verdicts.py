"""What commands report first is the sentence that a person would say."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayleaf import TANClassifier
from bayleaf.datasets import load_heart
from cli.test_terminal import forked_on_terminal

Run = Callable[..., Any]


@pytest.fixture
def fit(run: Run, heart: Path, tmp_path: Path) -> Run:
    """Fit a model of the heart table."""

    def call(*words: object) -> Any:
        done = run("fit", heart, "-o", tmp_path / "m.json", *words)
        assert done.code == 0, done.err
        return done

    return call


def test_fit_begins_with_the_leave_one_out_score(fit: Run) -> None:
    first, *lines = fit("--target", "disease", "--model", "tan").out.splitlines()
    heart = load_heart()
    model = TANClassifier().fit(heart.X, heart.y)
    score = model.loo_score_
    right = f"{100 * (1 - score.error):.0f}"
    verdict = " ".join([first, *lines[:4]])
    assert verdict.startswith(
        f"disease: {right} of 100 rows are predicted right when left out, 56 by always "
        f"predicting absent; log-loss {score.log_loss / math.log(2):.3f} bits per row, "
        "0.991 without features."
    )


def test_fit_lists_arcs_on_request_alone(fit: Run) -> None:
    words = ("--target", "disease", "--model", "tan")
    for more in ((), ("--arcs",), ("--verbose",)):
        assert (" -> " in fit(*words, *more).out) == bool(more)
    assert " -> " not in fit("--density").out
    assert " -> " in fit("--density", "--arcs").out
    assert json.loads(fit(*words, "--json").out)["arcs"]


@pytest.mark.parametrize("model", ["latent_class", "aode", "network"])
def test_fit_scores_folds_of_what_has_no_quick_leave_one_out(
    model: str, fit: Run, run: Run, heart: Path
) -> None:
    out = " ".join(fit("--target", "disease", "--model", model).out.split())
    words = ("--target", "disease", "--model", model, "--folds", 5, "--json")
    (scores,) = json.loads(run("evaluate", heart, *words).out)
    accuracy = sum(fold["accuracy"] for fold in scores["folds"]) / 5
    right = f"{100 * accuracy:.0f} of 100 rows are predicted right"
    assert out.startswith(f"disease: {right} in 5 held-out folds, ")


def test_fit_names_the_command_that_scores_what_is_slow_or_has_no_target(
    fit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayleaf.cli.commands.fit._PATIENCE", 0.0)
    first, *_ = fit("--target", "disease", "--model", "latent_class").out.splitlines()
    assert first.startswith("disease: bayleaf evaluate measures")
    assert "bayleaf report" in fit("--density").out.splitlines()[0]
    first, *_ = fit("--target", "age", "--model", "regressor").out.splitlines()
    assert first.startswith("age: the 90 % interval")


def test_fit_measures_log_likelihoods_in_bits(fit: Run) -> None:
    for words in (("--target", "disease", "--model", "tan"), ("--density",)):
        assert "nats" not in fit(*words).out


def test_audit_begins_with_the_largest_difference_between_groups(
    run: Run, model: Path, heart: Path
) -> None:
    words = ("audit", model, heart, "--by", "sex", "--folds", 3)
    out = run(*words).out
    rates = {
        group["group"][0]: group["classes"][0]["selection_rate"]["value"]
        for group in json.loads(run(*words, "--json").out)["groupings"][0]["groups"]
    }
    assert " ".join(out.split()).startswith(
        "2 of 3 differences between groups are unlikely to be chance; the largest: of "
        f"all rows, present is predicted for {100 * rates['female']:.0f} of 100 "
        f"(female) and {100 * rates['male']:.0f} of 100 (male)."
    )


def test_drift_begins_with_what_has_changed(run: Run, model: Path, heart: Path) -> None:
    assert run("drift", model, heart).out.startswith(
        "270 rows against the model: nothing differs by more than chance explains."
    )
    rows = heart.read_text().replace("asymptomatic", "typical angina")
    heart.write_text(rows)
    out = " ".join(run("drift", model, heart).out.split())
    assert out.startswith("270 rows against the model: 1 of 14 variables and ")
    assert "changed, most of all chest_pain (" in out.partition(".")[0]
    heart.write_text(rows.replace("typical angina", "elsewhere"))
    out = " ".join(run("drift", model, heart).out.split())
    assert "cells with values not seen in training." in out


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs terminals as Unix has")
def test_colours_and_full_width_are_for_terminals_alone(
    run: Run, model: Path, heart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heart.write_text(heart.read_text().replace("asymptomatic", "typical angina"))
    words = ["drift", str(model), str(heart)]
    plain = run(*words).out
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 80
    shown = forked_on_terminal(words, heart.parent)
    first = next(line for line in shown.splitlines() if "against the model" in line)
    assert "\x1b[1;34m270 rows against the model" in first
    assert len(first) > 100
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[0-9;]*3\d", forked_on_terminal(words, heart.parent))


def test_compare_begins_with_the_best_model_and_what_differs_from_it(
    run: Run, heart: Path
) -> None:
    words = (heart, "--target", "disease", "--model", "nb,tan", "--folds", 4)
    models = json.loads(run("compare", *words, "--json").out)["models"]
    right = max(models, key=lambda one: one["accuracy"]["mean"])
    loss = min(models, key=lambda one: one["log_loss"]["mean"])
    bits = loss["log_loss"]["mean"] / math.log(2)
    for command in ("compare", "evaluate"):
        out = " ".join(run(command, *words).out.split())
        assert out.startswith(
            f"disease: {right['model']} predicts "
            f"{100 * right['accuracy']['mean']:.0f} of 100 held-out rows right, "
            "56 by always predicting absent; "
        )
        lowest = f"{loss['model']} has the lowest log-loss, {bits:.3f} bits per row; "
        assert lowest in out
        other = next(one for one in models if one is not right)
        differs = other["tests"]["accuracy"]["significant"]
        assert (f"not significantly worse: {other['model']}. " in out) != differs
    alone = run("evaluate", *words[:3], "--model", "nb", "--folds", 4).out
    assert "significantly" not in alone.partition(".\n")[0]
