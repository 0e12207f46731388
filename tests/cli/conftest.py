from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyarrow.csv as pa_csv
import pytest

from bayleaf.cli import main
from bayleaf.datasets import load_heart


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


@pytest.fixture
def heart(tmp_path: Path) -> Path:
    """The heart table as a CSV file."""
    path = tmp_path / "heart.csv"
    pa_csv.write_csv(load_heart().frame, path)
    return path


@pytest.fixture
def model(tmp_path: Path, heart: Path, run: Callable[..., Run]) -> Path:
    """A TAN model file of the heart table."""
    path = tmp_path / "heart.json"
    done = run("fit", heart, "--target", "disease", "--model", "tan", "-o", path)
    assert done.code == 0, done.err
    return path
