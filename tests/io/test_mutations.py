"""Mutated files are read or refused, see `mutation_program.py`."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="memory is measured by its peak")
PROGRAM = Path(__file__).with_name("mutation_program.py")


def test_a_few_mutated_files_are_read_or_refused() -> None:
    counted = runpy.run_path(str(PROGRAM))["attack"](30)
    assert counted["fault"] == 0
    assert counted["refused"] > 0


@pytest.mark.parametrize(
    ("n_files", "first"),
    [
        pytest.param(400, 0, marks=pytest.mark.slow),
        pytest.param(5100, 400, marks=[pytest.mark.slow, pytest.mark.long]),
    ],
)
def test_mutated_files_are_read_or_refused(n_files: int, first: int) -> None:
    # A process of its own: memory is measured by its peak.
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(n_files), str(first)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "fault" not in done.stdout, done.stdout
    assert "'refused'" in done.stdout
