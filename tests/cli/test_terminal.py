"""No name of a table or file reaches a terminal as anything but visible text."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bayleaf.cli import main
from cli.forked_programs import exit_code, start_fork
from oracles.terminal import HOSTILE, on_terminal, write_table

pytestmark = pytest.mark.skipif(
    not hasattr(os, "openpty"), reason="needs terminals as Unix has them"
)

TARGET = HOSTILE[6]
MODELS = ("nb", "tan", "hnb", "auto", "aode", "mixture", "latent_class", "network")


@pytest.fixture(scope="module")
def tan_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hostile table and a TAN model of it."""
    place = tmp_path_factory.mktemp("hostile")
    write_table(place / "t.parquet")
    fit(place, "tan")
    return place


@pytest.fixture(scope="module")
def folder(tan_folder: Path) -> Path:
    """A hostile table and models of all kinds of it, one without a class."""
    for name in MODELS:
        if name != "tan":
            fit(tan_folder, name)
    words = ["fit", str(tan_folder / "t.parquet"), "--density"]
    assert main([*words, "-o", str(tan_folder / "density.json")]) == 0
    return tan_folder


def fit(place: Path, name: str) -> None:
    """Fit a model to the table in a folder, and save it there."""
    words = ["fit", str(place / "t.parquet"), "--target", TARGET, "--model", name]
    assert main([*words, "-o", str(place / f"{name}.json")]) == 0


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


def forked_on_terminal(words: list[str], folder: Path) -> str:
    """Run a command in a fork on a terminal; return what it writes, errors included."""
    master, slave = os.openpty()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", "120")
        process = start_fork(words, dict.fromkeys(range(3), slave))
    os.close(slave)
    found = b""
    with contextlib.suppress(OSError):
        # The end of a terminal is an error.
        while piece := os.read(master, 65536):
            found += piece
    os.close(master)
    assert exit_code(process) in {0, 2}
    return found.decode("utf-8", "replace").replace("\r\n", "\n")


@pytest.mark.few(14)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "show"),
    [
        *((words, forked_on_terminal) for words in commands()),
        (["inspect", "tan.json"], on_terminal),
        (["fit", "no\x1b[31m.csv", "--target", "y"], on_terminal),
    ],
    ids=lambda part: " ".join(part[:2]) if isinstance(part, list) else part.__name__,
)
def test_a_terminal_gets_no_control_character(
    words: list[str], show: Callable[[list[str], Path], str], folder: Path
) -> None:
    shown = show(words, folder)
    assert shown.strip() or words[0] == "convert"
    # What waits for a second may tell a terminal how far it has come.
    shown = re.sub(r"\x1b\[(\?25[lh]|[0-9;]*m|\d*[AK]|2K|1A)|\r", "", shown)
    strange = {c for c in shown if not c.isprintable() and c not in "\n\t"}
    assert not strange, (strange, shown[:500])
    if words[0] not in {"predict", "sample"}:
        # A table is CSV, in which cells may have lines.
        assert "i\nline" not in shown


@pytest.mark.parametrize("words", [["inspect", "tan.json"], ["query", "tan.json"]])
def test_pipes_get_no_control_character_either(
    words: list[str], tan_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tan_folder)
    monkeypatch.setenv("NO_COLOR", "1")
    reading, writing = os.pipe()
    process = start_fork(words, {1: writing})
    os.close(writing)
    with open(reading, encoding="utf-8", newline="") as stream:
        shown = stream.read()
    assert exit_code(process) == 0
    assert shown
    assert not {c for c in shown if not c.isprintable() and c not in "\n\t"}
