"""Hierarchical mixtures on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bayleaf
from bayleaf.datasets import load_heart
from offenders import check_each

Run = Callable[..., Any]


def test_fit_takes_the_settings_of_the_estimator(
    run: Run, heart: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mixture.json"
    words = ("--model", "mixture", "--architecture", "2-3", "--n-mixtures", 2)
    more = ("--n-passes", 3, "--sigma", 0.5, "--gamma", 0.2, "--noise", 0.05)
    rest = ("--missing-denominator", "all_rows", "--no-deduplicate-rows", "-o", path)
    done = run("fit", heart, "--target", "disease", *words, *more, *rest)
    assert done.code == 0, done.err
    table = load_heart()
    model = bayleaf.HierarchicalMixtureNBClassifier(
        architecture=(2, 3),
        n_mixtures=2,
        n_passes=3,
        sigma=0.5,
        gamma=0.2,
        noise=0.05,
        missing_denominator="all_rows",
        deduplicate_rows=False,
        random_state=0,
    ).fit(table.X, table.y)
    read = bayleaf.load(path)
    assert read.log_likelihood_ == model.log_likelihood_
    assert "1.00 gate root" in run("inspect", path).out


def test_learning_may_be_of_all_rows_at_once(
    run: Run, heart: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mixture.json"
    words = ("--model", "mixture", "--architecture", 3, "--learning", "batch")
    done = run("fit", heart, "--target", "disease", *words, "-o", path)
    assert done.code == 0, done.err
    read = bayleaf.load(path)
    assert read.get_params()["learning"] == "batch"
    assert list(read.get_params()["architecture"]) == [3]


def test_a_wrong_architecture_is_refused(run: Run, heart: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.json"

    def check(text: str) -> None:
        words = ("--model", "mixture", f"--architecture={text}", "-o", out)
        done = run("fit", heart, "--target", "disease", *words)
        assert done.code == 2
        assert "architecture" in done.err
        assert not out.exists()

    check_each(["2-x", "2-", "-2", "2,2", "2.5", "0", "two"], check)
