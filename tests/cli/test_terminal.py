"""No name of a table or file reaches a terminal as anything but visible text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from oracles.terminal import HOSTILE, on_terminal, write_table

pytestmark = pytest.mark.skipif(
    not hasattr(os, "openpty"), reason="needs terminals as Unix has them"
)

TARGET = HOSTILE[6]
MODELS = ("nb", "tan", "hnb", "auto", "aode", "mixture", "latent_class", "network")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hostile table, models of it, and a network."""
    from bayleaf.cli import main

    place = tmp_path_factory.mktemp("hostile")
    table = str(place / "t.parquet")
    write_table(place / "t.parquet")
    for name in MODELS:
        file = str(place / f"{name}.json")
        assert (
            main(["fit", table, "--target", TARGET, "--model", name, "-o", file]) == 0
        )
    density = str(place / "density.json")
    assert main(["fit", table, "--density", "-o", density]) == 0
    return place


def commands() -> list[list[str]]:
    """Commands that print names."""
    fit = ["fit", "t.parquet", "--target", TARGET]
    found = [
        [*fit, "--model", name, "-o", "new.json"] for name in ("nb", "hnb", "auto")
    ]
    found += [["fit", "t.parquet", "--density", "-o", "new.json"]]
    for name in MODELS:
        model = f"{name}.json"
        found += [
            ["inspect", model],
            ["explain", model, "t.parquet", "--line", "1"],
            ["predict", model, "t.parquet"],
        ]
    found += [
        ["inspect", "density.json"],
        ["query", "tan.json"],
        ["query", "density.json"],
        [
            "compare",
            "t.parquet",
            "--target",
            TARGET,
            "--models",
            "nb",
            "tan",
            "--folds",
            "2",
        ],
        ["evaluate", "t.parquet", "--target", TARGET, "--model", "nb", "--folds", "2"],
        ["sample", "tan.json", "--rows", "5"],
        ["hierarchy", "learn", "t.parquet"],
        ["report", "tan.json", "t.parquet", "--folds", "2", "-o", "r.html"],
        ["explore", "tan.json", "-o", "e.html"],
        ["convert", "tan.json", "x.bif"],
        # Errors name what they refuse.
        ["fit", "t.parquet", "--target", "x\x1b[31m"],
        ["fit", "no\x1b[31m.csv", "--target", "y"],
        ["query", "tan.json", "--evidence", "c\rback=\x1b[2J"],
        ["explain", "tan.json", "t.parquet", "--line", "9\x07"],
        ["\x1b[31m"],
        ["fit", "--\x1b[31m"],
        ["predict", "t.parquet", "t.parquet"],
    ]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("words", commands(), ids=lambda words: " ".join(words[:2]))
def test_a_terminal_gets_no_control_character(words: list[str], folder: Path) -> None:
    shown = on_terminal(words, folder)
    assert shown.strip() or words[0] == "convert"
    # What waits for a second may tell a terminal how far it has come.
    shown = re.sub(r"\x1b\[(\?25[lh]|[0-9;]*m|\d*[AK]|2K|1A)|\r", "", shown)
    strange = {c for c in shown if not c.isprintable() and c not in "\n\t"}
    assert not strange, (strange, shown[:500])
    if words[0] not in {"predict", "sample"}:
        # A table is CSV, in which cells may have lines.
        assert "i\nline" not in shown


@pytest.mark.parametrize("words", [["inspect", "tan.json"], ["query", "tan.json"]])
def test_pipes_get_no_control_character_either(words: list[str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bayleaf", *words],
        cwd=folder, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0
    assert not {c for c in done.stdout if not c.isprintable() and c not in "\n\t"}
