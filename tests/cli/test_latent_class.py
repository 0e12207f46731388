"""Mixtures within classes on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bayleaf
from bayleaf.datasets import load_heart

Run = Callable[..., Any]


def test_fit_takes_the_settings_of_the_estimator(
    run: Run, heart: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mixture.json"
    words = ("--model", "latent_class", "--n-components", 3, "--n-restarts", 2)
    more = ("--max-iter", 50, "--tol", 1e-5, "-o", path)
    done = run("fit", heart, "--target", "disease", *words, *more)
    assert done.code == 0, done.err
    table = load_heart()
    model = bayleaf.LatentClassNBClassifier(
        n_components=3, n_restarts=2, max_iter=50, tol=1e-5, random_state=0
    ).fit(table.X, table.y)
    read = bayleaf.load(path)
    assert read.get_params()["tol"] == 1e-5
    assert read.log_likelihood_ == model.log_likelihood_
    assert "component 1 of disease = present" in run("inspect", path).out


def test_the_number_of_components_may_be_auto(
    run: Run, heart: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mixture.json"
    words = ("--model", "latent_class", "--n-components", "auto", "--n-restarts", 1)
    most = ("--max-components", 2)
    done = run("fit", heart, "--target", "disease", *words, *most, "-o", path)
    assert done.code == 0, done.err
    read = bayleaf.load(path)
    assert isinstance(read, bayleaf.LatentClassNBClassifier)
    assert read.get_params()["n_components"] == "auto"
    assert read.n_components_ <= 2


def test_components_are_no_setting_of_another_model(
    run: Run, heart: Path, tmp_path: Path
) -> None:
    out = tmp_path / "m.json"
    words = ("--model", "nb", "--n-components", 3, "-o", out)
    done = run("fit", heart, "--target", "disease", *words)
    assert done.code == 2
    assert "--n-components is no setting of the nb model" in done.err
    assert "latent_class" in done.err
