"""Short runs of few cells, interrupted as a terminal does and taken up again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from systems import need

# Runs the command with those cells of the short run that have some values.
PROGRAM = """
import sys
from importlib import import_module

from bayleaf.cli import main

paper, output, name, values = sys.argv[1:5]
protocol = import_module(f"bayleaf.reproduction.{paper}")
few = [c for c in protocol.cells() if c.quick and c.text(name) in values.split(",")]
protocol.cells = lambda: few
sys.argv[1:] = ["reproduce", paper, "--quick", "--output", output]
sys.exit(main())
"""
FEW = {
    "wiering2003": ("set", "iris,hepatitis,glass,ecoli"),
    "desjardins2008": ("method", "FLAT,ABS-E"),
}


def command(paper: str, output: Path) -> list[str]:
    return [sys.executable, "-c", PROGRAM, paper, str(output), *FEW[paper]]


def finished_cells(output: Path) -> dict[str, int]:
    return {p.name: p.stat().st_mtime_ns for p in output.rglob("*.json")}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    "paper",
    ["wiering2003", "desjardins2008"],
)
def test_a_short_run_goes_on_where_it_was_interrupted(
    data_folder: Path, tmp_path: Path, paper: str
) -> None:
    need("killpg")
    environment = {**os.environ, "BAYLEAF_DATA": str(data_folder)}
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    process = subprocess.Popen(
        command(paper, stopped),
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(finished_cells(stopped)) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    kept = finished_cells(stopped)
    assert process.returncode == 130
    assert f"interrupted; {len(kept)} of " in said.splitlines()[-1]
    for output in (stopped, whole):
        subprocess.run(command(paper, output), env=environment, check=True)
    after = finished_cells(stopped)
    assert 2 <= len(kept) < len(after)
    assert {name: after[name] for name in kept} == kept
    for name in (f"{paper}.csv", f"{paper}.md"):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes()
