"""Commands whose streams, signals or surroundings are not as usual."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bayleaf.cli import main
from bayleaf.cli.app import app
from bayleaf.cli.display import ShownMessages, ShownText
from cli.forked_programs import Streams, exit_code, start_fork, start_process
from oracles.decision_problems import oil_wildcatter

Files = Mapping[str, str]
IGNORED = [
    getattr(signal, name)
    for name in ("SIGHUP", "SIGTERM", "SIGINT")
    if hasattr(signal, name)
]


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
        "decide": ["decide", files["diagram"]],
        "demo": ["demo", "-o", f"{out}/d.html"],
        "hierarchy learn": ["hierarchy", "learn", table, "--drop", "disease"],
        "hierarchy check": ["hierarchy", "check", files["hierarchies"], table],
    }


NAMES = sorted(commands(defaultdict(str)))
# What they are asked for goes to a file alone.
SILENT = {"convert", "export"}
# These work for half a minute before they print.
LONGEST = ["demo", "reproduce"]
# The others take longer.
QUICK = {"predict", "query", "convert", "hierarchy learn"}
SLOW, LONG = [pytest.mark.slow], [pytest.mark.slow, pytest.mark.long]
EVERY_COMMAND = [
    *(
        pytest.param(name, start_fork, id=name, marks=[] if name in QUICK else SLOW)
        for name in NAMES
    ),
    # A process of its own imports all that a command needs once more.
    *(
        pytest.param(
            name,
            start_process,
            id=f"{name} in a new process",
            marks=SLOW if name == "predict" else LONG,
        )
        for name in NAMES
    ),
]
Start = Callable[[Sequence[str], Streams], int]


@pytest.fixture(scope="module")
def files(
    tmp_path_factory: pytest.TempPathFactory, heart_files: Callable[..., Path]
) -> Files:
    """A table, a model, value hierarchies and a folder to write to."""
    folder = tmp_path_factory.mktemp("streams")
    found = {
        "table": str(heart_files()),
        "model": str(heart_files("--model", "tan")),
        "hierarchies": str(folder / "hierarchies.json"),
        "diagram": str(folder / "oil.xdsl"),
        "out": str(folder),
    }
    oil_wildcatter().save(found["diagram"])
    learn = ["hierarchy", "learn", found["table"], "--drop", "disease"]
    assert main([*learn, "-o", found["hierarchies"]]) == 0
    return found


@pytest.fixture
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let forks of the longest commands compare one model and reproduce one cell."""
    from bayleaf import evaluation
    from bayleaf.reproduction import sahami1996

    compare, cells = evaluation.compare, sahami1996.cells()[:1]
    monkeypatch.setattr(
        evaluation, "compare", lambda X, y, _, **more: compare(X, y, ["nb"], **more)
    )
    monkeypatch.setattr(sahami1996, "cells", lambda: cells)


def run_program(
    start: Start, words: Sequence[str], streams: Streams
) -> tuple[int, list[str]]:
    """Run with the given streams, the others empty; give exit code and messages.

    Lines on the cells of a table are left out.
    """
    with open(os.devnull, "r+b") as nowhere, tempfile.TemporaryFile() as messages:
        unused = {0: nowhere.fileno(), 1: nowhere.fileno(), 2: messages.fileno()}
        code = exit_code(start(words, unused | dict(streams)))
        messages.seek(0)
        lines = messages.read().decode().splitlines()
    return code, [line for line in lines if "cells" not in line]


@contextlib.contextmanager
def pipe_without_reader() -> Iterator[int]:
    """Give the end to write to of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def test_every_command_is_tried() -> None:
    tried = {name.split()[0] for name in NAMES}
    assert {name for name in app if not name.startswith("-")} <= tried


@pytest.mark.few(5)
@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize(("name", "start"), EVERY_COMMAND)
def test_closed_output_is_reported_in_one_sentence(
    name: str, start: Start, files: Files
) -> None:
    code, messages = run_program(start, commands(files)[name], {1: None})
    if name in SILENT:
        assert (code, messages) == (0, [])
        return
    assert code == 2
    assert messages == ["bayleaf: cannot write to standard output: it is closed"]


@pytest.mark.few(5)
@pytest.mark.usefixtures("little_work")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(("name", "start"), EVERY_COMMAND)
def test_full_output_without_a_place_for_messages(
    name: str, start: Start, files: Files
) -> None:
    with open("/dev/full", "wb") as full:
        streams = {1: full.fileno(), 2: None}
        code, _ = run_program(start, commands(files)[name], streams)
    assert code == (0 if name in SILENT else 2)


@pytest.mark.few(5)
@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize(("name", "start"), EVERY_COMMAND)
def test_a_reader_that_has_gone_is_no_error(
    name: str, start: Start, files: Files
) -> None:
    with pipe_without_reader() as writing:
        streams = {0: None, 1: writing}
        code, messages = run_program(start, commands(files)[name], streams)
    # Output that fits a buffer is written, and missed, after this message.
    assert [line for line in messages if not line.startswith("written to ")] == []
    assert code == 0


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("words", "start"),
    [
        (["--help"], start_fork),
        pytest.param(["fit", "--help"], start_fork, marks=SLOW),
        (["--version"], start_process),
        pytest.param(["--help"], start_process, marks=SLOW),
        pytest.param(["fit", "--help"], start_process, marks=SLOW),
    ],
)
def test_a_reader_of_help_that_has_gone_is_no_error(
    words: list[str], start: Start
) -> None:
    with pipe_without_reader() as writing:
        assert run_program(start, words, {1: writing}) == (0, [])


@pytest.mark.parametrize("start", [start_fork, pytest.param(start_process, marks=SLOW)])
def test_closed_input_is_reported_in_one_sentence(start: Start, files: Files) -> None:
    words = ["predict", files["model"], "-"]
    code, (sentence,) = run_program(start, words, {0: None})
    assert code == 2
    assert sentence.startswith("bayleaf: ")
    assert "standard input: it is closed" in sentence


@pytest.mark.parametrize("start", [start_fork, pytest.param(start_process, marks=SLOW)])
def test_without_a_place_for_messages_they_are_not_among_the_output(
    start: Start,
) -> None:
    with tempfile.TemporaryFile() as output:
        streams = {1: output.fileno(), 2: None}
        code, _ = run_program(start, ["nonsense"], streams)
        assert (code, output.seek(0, os.SEEK_END)) == (2, 0)


@pytest.mark.few(5)
@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize(("name", "start"), EVERY_COMMAND)
def test_signals_ignored_at_the_start_stay_ignored(
    name: str, start: Start, files: Files
) -> None:
    with open(os.devnull, "wb") as nowhere, tempfile.TemporaryFile() as messages:
        streams = {1: nowhere.fileno(), 2: messages.fileno()}
        # As nohup and shells without job control do.
        before = {kind: signal.signal(kind, signal.SIG_IGN) for kind in IGNORED}
        try:
            process = start(commands(files)[name], streams)
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)
        status = None
        while status is None:
            for kind in IGNORED:
                os.kill(process, kind)
            time.sleep(0.002)
            ended, status_now = os.waitpid(process, os.WNOHANG)
            status = status_now if ended else None
        messages.seek(0)
        interrupted = b"interrupted" in messages.read()
    assert (os.waitstatus_to_exitcode(status), interrupted) == (0, False)


# Nobody may write to /proc, not even the system's administrator.
NOWHERE = next(path for path in ("/proc", "/") if Path(path).exists())
RUN_ALL = """
import json, sys
from bayleaf.cli import main
for words in json.loads(sys.argv[1]):
    if main(words) != 0:
        sys.exit(str(words))
"""


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["predict"], marks=SLOW),
        # One process for all, because what warns does so once it is imported.
        pytest.param([name for name in NAMES if name not in LONGEST], marks=SLOW),
        pytest.param(LONGEST, marks=LONG),
    ],
    ids=lambda names: names[0] if len(names) == 1 else f"{len(names)} commands",
)
def test_in_poor_surroundings_no_command_warns(names: list[str], files: Files) -> None:
    calls = [commands(files)[name] for name in names]
    program = ["-m", "bayleaf", *calls[0]]
    if len(calls) > 1:
        program = ["-c", RUN_ALL, json.dumps(calls)]
    kept = ("PATH", "PYTHONPATH", "BAYLEAF_DATA")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-O", *program],
        cwd=NOWHERE,
        env={k: os.environ[k] for k in kept if k in os.environ}
        | {"LANG": "C", "TMPDIR": NOWHERE},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    usual = ("written to ", "sahami1996: ", "bayleaf: 0 cells filled in")
    assert all(line.startswith(usual) for line in done.stderr.splitlines()), done.stderr


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
