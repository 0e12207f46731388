"""Commands whose streams, signals or surroundings are not as usual."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest

from bayleaf.cli import main
from bayleaf.cli.app import app
from bayleaf.cli.streams import ShownMessages, ShownText
from bayleaf.datasets import load_heart

Files = Mapping[str, str]
IGNORED = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)


def commands(files: Files) -> dict[str, list[str]]:
    """A call of every command and sub-command; all print something but convert."""
    table, model, out = files["table"], files["model"], files["out"]
    target = ["--target", "disease"]
    few = [*target, "--folds", "2"]
    return {
        "fit": ["fit", table, *target, "--model", "nb", "-o", f"{out}/m.json"],
        "check": ["check", table, *target],
        "predict": ["predict", model, table],
        "evaluate": ["evaluate", table, *few, "--model", "nb"],
        "compare": ["compare", table, *few, "--models", "nb,tan"],
        "inspect": ["inspect", model, "--table", "age"],
        "explain": ["explain", model, table, "--counterfactuals", "1"],
        "explore": ["explore", model, "-o", f"{out}/e.html"],
        "query": ["query", model],
        "sample": ["sample", model, "-n", "100000"],
        "convert": ["convert", model, f"{out}/m.bif"],
        "export": ["export", model, "-o", f"{out}/m.sql"],
        "report": ["report", model, table, "--folds", "2", "-o", f"{out}/r.html"],
        "audit": ["audit", model, table, *target, "--by", "sex"],
        "reproduce": ["reproduce", "sahami1996", "--quick", "--output", f"{out}/p"],
        "counts": ["counts", table, "--like", model, "-o", f"{out}/c.counts"],
        "drift": ["drift", model, table],
        "impute": ["impute", model, table],
        "demo": ["demo", "-o", f"{out}/d.html"],
        "hierarchy learn": ["hierarchy", "learn", table, "--drop", "disease"],
        "hierarchy check": ["hierarchy", "check", files["hierarchies"], table],
    }


NAMES = sorted(commands(defaultdict(str)))
# What they are asked for goes to a file alone.
SILENT = {"convert", "export"}
QUICK = {"predict", "query", "convert", "hierarchy learn"}
# These work for half a minute before they print.
LONG = {"demo", "reproduce"}
EVERY_COMMAND = [
    pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow)
    for name in NAMES
]
ALL_BUT_LONG = [
    pytest.param(*param.values, marks=[*param.marks, pytest.mark.long])
    if param.values[0] in LONG
    else param
    for param in EVERY_COMMAND
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """A table, a model, value hierarchies and a folder to write to."""
    folder = tmp_path_factory.mktemp("streams")
    found = {
        "table": str(folder / "heart.csv"),
        "model": str(folder / "heart.json"),
        "hierarchies": str(folder / "hierarchies.json"),
        "out": str(folder),
    }
    pa_csv.write_csv(load_heart().frame, found["table"])
    fit = ["fit", found["table"], "--target", "disease", "--model", "tan"]
    assert main([*fit, "-o", found["model"]]) == 0
    learn = ["hierarchy", "learn", found["table"], "--drop", "disease"]
    assert main([*learn, "-o", found["hierarchies"]]) == 0
    return found


def program(words: list[str], *options: str) -> list[str]:
    """The command line as a process of its own."""
    return [sys.executable, *options, "-m", "bayleaf", *words]


def check_sentence(text: str) -> None:
    """Check that there is one sentence of the program or nothing."""
    lines = text.splitlines()
    assert len(lines) <= 1, text
    assert all(line.startswith("bayleaf: ") for line in lines), text


def test_every_command_is_tried() -> None:
    tried = {name.split()[0] for name in NAMES}
    assert {name for name in app if not name.startswith("-")} <= tried


@pytest.mark.parametrize("name", ALL_BUT_LONG)
def test_closed_output_is_said_in_one_sentence(name: str, files: Files) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *program(commands(files)[name])],
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    told = [line for line in done.stderr.splitlines() if "cells" not in line]
    if name in SILENT:
        assert (done.returncode, told) == (0, [])
        return
    assert done.returncode == 2
    assert told == ["bayleaf: cannot write to standard output: it is closed"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("name", ALL_BUT_LONG)
def test_full_output_without_a_place_for_messages(name: str, files: Files) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" >/dev/full 2>&-', "sh", *program(commands(files)[name])],
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == (0 if name in SILENT else 2)


@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_a_reader_that_has_gone_is_no_error(name: str, files: Files) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *program(commands(files)[name])],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writing)
    told = [line for line in done.stderr.splitlines() if "cells" not in line]
    assert (done.returncode, told) == (0, [])


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["--version"]])
def test_a_reader_of_help_that_has_gone_is_no_error(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        program(words), stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_closed_input_is_said_in_one_sentence(files: Files) -> None:
    words = program(["predict", files["model"], "-"])
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *words], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "standard input: it is closed" in done.stderr
    check_sentence(done.stderr)


def test_without_a_place_for_messages_they_are_not_among_the_output() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *program(["nonsense"])], stdout=subprocess.PIPE
    )
    assert (done.returncode, done.stdout) == (2, b"")


def _ignore_all() -> None:
    """Ignore the signals, as nohup and shells without job control do."""
    for kind in IGNORED:
        signal.signal(kind, signal.SIG_IGN)


@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_signals_ignored_at_the_start_stay_ignored(name: str, files: Files) -> None:
    with subprocess.Popen(
        program(commands(files)[name]),
        preexec_fn=_ignore_all,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as running:
        while running.poll() is None:
            for kind in IGNORED:
                running.send_signal(kind)
            time.sleep(0.02)
        assert running.stderr is not None
        told = running.stderr.read()
    assert (running.returncode, b"interrupted" in told) == (0, False)


@pytest.mark.parametrize("name", ALL_BUT_LONG)
def test_in_poor_surroundings_no_command_warns(name: str, files: Files) -> None:
    # Nobody may write to /proc, not even the system's administrator.
    nowhere = next(p for p in ("/proc", "/") if Path(p).exists())
    kept = ("PATH", "PYTHONPATH", "BAYLEAF_DATA")
    done = subprocess.run(
        program(commands(files)[name], "-W", "error", "-O"),
        cwd=nowhere,
        env={k: os.environ[k] for k in kept if k in os.environ}
        | {"LANG": "C", "TMPDIR": nowhere},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told = ("written to ", "sahami1996: ", "bayleaf: 0 cells filled in")
    assert all(line.startswith(told) for line in done.stderr.splitlines()), done.stderr


class Failing(io.StringIO):
    """A stream that cannot be written."""

    def __init__(self, error: Callable[[], OSError]) -> None:
        super().__init__()
        self._error = error

    def write(self, text: str) -> int:
        """Fail."""
        raise self._error()


def _no_space() -> OSError:
    return OSError(28, "No space left on device")


def test_an_error_of_the_output_names_it() -> None:
    stream: Any = ShownText(Failing(_no_space), "standard output")
    with pytest.raises(OSError, match="write to standard output: No space left"):
        stream.write("text")


def test_messages_that_cannot_be_written_are_dropped() -> None:
    stream = ShownMessages(Failing(_no_space), "standard error")
    assert stream.write("text") == 4
    assert ShownMessages(None, "standard error").write("text") == 4


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_an_encoding_lacks_is_escaped(encoding: str) -> None:
    below = io.BytesIO()
    stream = ShownText(io.TextIOWrapper(below, encoding=encoding), "output")
    stream.write("é\u2588\ud800\n")
    stream.flush()
    known = "é\u2588\\ud800\n".encode(encoding, "backslashreplace")
    assert below.getvalue() == known
