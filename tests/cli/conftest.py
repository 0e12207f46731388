from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyarrow.csv as pa_csv
import pytest

from bayleaf.cli import main
from bayleaf.datasets import load_heart
from bayleaf.explain import credible_intervals


class Run(NamedTuple):
    """What a command line left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Run the command line with some words."""

    def call(*words: object) -> Run:
        code = main([str(word) for word in words])
        out, err = capfd.readouterr()
        return Run(code, out, err)

    return call


@pytest.fixture(scope="session")
def heart_files(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Give the heart table as a CSV file, or a model of it by the options of fit.

    Every file is made once, so tests must not change it.
    """
    folder = tmp_path_factory.mktemp("heart")
    table = folder / "heart.csv"
    pa_csv.write_csv(load_heart().frame, table)
    models: dict[tuple[str, ...], Path] = {}

    def file(*options: str) -> Path:
        if not options:
            return table
        if options not in models:
            path = folder / f"{len(models)}.json"
            target = [] if "--density" in options else ["--target", "disease"]
            words = ["fit", str(table), *target, *options, "-o", str(path)]
            # What this prints must not be taken for the output of the first test.
            silent = io.StringIO()
            with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
                assert main(words) == 0, silent.getvalue()
            models[options] = path
        return models[options]

    return file


@pytest.fixture
def heart(tmp_path: Path, heart_files: Callable[..., Path]) -> Path:
    """The heart table as a CSV file."""
    return Path(shutil.copy(heart_files(), tmp_path / "heart.csv"))


@pytest.fixture
def model(tmp_path: Path, heart: Path, heart_files: Callable[..., Path]) -> Path:
    """A TAN model file of the heart table."""
    return Path(shutil.copy(heart_files("--model", "tan"), tmp_path / "heart.json"))


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw parameters fifty times for an interval, which by default takes long."""
    monkeypatch.setitem(credible_intervals.__kwdefaults__, "n_draws", 50)
