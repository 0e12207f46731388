"""Ctrl-C at any time ends what is running with KeyboardInterrupt, soon and for good."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contract.interrupt_program import cases
from timing import LATE, SOON

PROGRAM = Path(__file__).with_name("interrupt_program.py")
CASES = list(cases(1))


def _reports(
    names: list[str], least: float, n_times: int, n_jobs: int
) -> list[dict[str, Any]]:
    """What the program reports of some cases; nothing may stand on standard error."""
    arguments = [str(each) for each in (least, n_times, n_jobs, 0)]
    result = subprocess.run(
        [sys.executable, PROGRAM, *arguments, *names],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    # Python writes "Exception ignored" there where an interruption was lost.
    assert result.stderr == ""
    assert result.returncode == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


def _check(report: dict[str, Any]) -> None:
    assert report["wrong"] == []
    assert min(report["longest"], report["longest_work"]) < SOON
    assert report["longest"] < LATE


@pytest.mark.slow
def test_each_estimator_can_be_interrupted_once() -> None:
    reports = _reports(CASES, 0.02, 1, 1)
    assert [report["case"] for report in reports] == CASES
    for report in reports:
        _check(report)
    # Times vary, so that some end before they are interrupted.
    assert sum(report["n_interrupted"] for report in reports) > len(CASES) / 2


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interruptions_at_random_times_do_no_harm(n_jobs: int) -> None:
    names = CASES[n_jobs - 1 :: 2]
    reports = _reports(names, 0.4, 2, n_jobs)
    assert [report["case"] for report in reports] == names
    for report in reports:
        _check(report)
