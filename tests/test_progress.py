"""What is told of long work: the stage, the share done, the time left."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayleaf import (
    AveragedKDBClassifier,
    BayesianNetworkEstimator,
    HierarchicalMixtureNBClassifier,
    HNBClassifier,
    LatentClassNBClassifier,
    progress,
)
from bayleaf.data.codes import Codes
from bayleaf.datasets import load_heart
from bayleaf.evaluation import compare, cross_validate_density
from bayleaf.graph.dag import DAG
from bayleaf.latent.network_parameters import learn_parameters
from bayleaf.progress import Work, displayed, in_words, listening
from property.networks import random_network

HEART, DISEASE = load_heart(return_X_y=True)


def _told(work: Callable[[], Any]) -> list[str]:
    lines: list[str] = []
    with listening(lines.append):
        work()
    return lines


def test_share_and_time_left_follow_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("bayleaf.progress.time.perf_counter", lambda: clock[0])

    def work() -> None:
        steps = Work(4)
        for name in "abcd":
            steps.step(name)
            clock[0] += 90.0

    assert _told(work) == [
        "a",
        "b (25 %, 4 min left)",
        "c (50 %, 3 min left)",
        "d (75 %, 2 min left)",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "1 s"), (42.4, "42 s"), (90.0, "2 min"), (7200.0, "2.0 h")],
)
def test_times_are_rough(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_parts_of_work_share_a_line() -> None:
    def work() -> None:
        with Work() as outer:
            outer.say("outer")
            with Work() as inner:
                inner.say("inner")
                Work().say("innermost")
            outer.say("outer again")

    assert _told(work) == [
        "outer",
        "outer; inner",
        "outer; inner; innermost",
        "outer again",
    ]


def test_threads_tell_of_the_work_they_were_given() -> None:
    def work() -> None:
        with Work(8) as steps:
            threads = [
                threading.Thread(target=steps.step, args=(f"step {i}",))
                for i in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    lines = _told(work)
    assert sorted(line.split(" (")[0] for line in lines) == [
        f"step {i}" for i in range(8)
    ]


def test_comparisons_tell_and_log_every_fold(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="bayleaf"):
        told = _told(lambda: compare(HEART, DISEASE, ["nb", "tan"], n_folds=3))
    folds = [line for line in told if ";" not in line]
    assert folds[0] == "nb: fold 1 of 3"
    assert all(
        re.fullmatch(r"(nb|tan): fold \d of 3 \(\d+ %, .+ left\)", line)
        for line in folds[1:]
    )
    assert folds[-1].startswith("tan: fold 3 of 3 (83 %")
    assert "nb: fold 1 of 3; NaiveBayesClassifier: learning the model" in told
    logged = [r.getMessage() for r in caplog.records]
    assert [line for line in logged if "fold" in line] == folds
    assert any("learning the model took" in line for line in logged)


LONG_WORK = {
    "network search": (
        lambda: BayesianNetworkEstimator(random_state=0, n_restarts=2).fit(HEART),
        r"learning the network; search [12] of 2: \d+ moves",
    ),
    "tree search": (
        lambda: BayesianNetworkEstimator(
            local_structure="tree", random_state=0, n_restarts=1
        ).fit(HEART),
        r"learning the network; search 1 of 1: \d+ moves",
    ),
    "arc strength": (
        lambda: BayesianNetworkEstimator(random_state=0).arc_strength(HEART, 3),
        r"bootstrap sample 3 of 3 \(66 %, \d+ s left\); .*learning the network",
    ),
    "density folds": (
        lambda: cross_validate_density(
            {"flat": BayesianNetworkEstimator(random_state=0)}, HEART, n_folds=2
        ),
        r"flat: fold 2 of 2 \(50 %, \d+ s left\); .*learning the network",
    ),
    "EM": (
        lambda: learn_parameters(
            random_network(np.random.default_rng(0), [2, 2], DAG(((), (0,)))),
            Codes.from_columns(
                [np.array([0, 1, 2, 0]), np.array([2, 1, 0, 1])], [2, 2]
            ),
        ),
        r"step 1 of at most 500",
    ),
    "mixture": (
        lambda: HierarchicalMixtureNBClassifier(random_state=0, n_passes=3).fit(
            HEART, DISEASE
        ),
        r"learning the model; .*pass 3 of 3 \(66 %, \d+ s left\)",
    ),
    "latent classes": (
        lambda: LatentClassNBClassifier(random_state=0).fit(HEART, DISEASE),
        r"learning the model; .*starts of \d+ components? a class \(\d+ %, ",
    ),
    "latent variables": (
        lambda: HNBClassifier(random_state=0).fit(HEART, DISEASE),
        r"learning the model; \d+ latent variables? found",
    ),
    "averaged networks": (
        lambda: AveragedKDBClassifier(random_state=0).fit(HEART, DISEASE),
        r"learning the model; counting networks \(\d+ %, \d+ s left\)",
    ),
}


@pytest.mark.parametrize("name", LONG_WORK)
def test_long_work_tells_how_far_it_has_come(name: str) -> None:
    work, pattern = LONG_WORK[name]
    lines = _told(work)
    assert any(re.search(pattern, line) for line in lines), lines


def test_nothing_is_told_to_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    with displayed(0):
        compare(HEART, DISEASE, ["nb"], n_folds=2)
    compare(HEART, DISEASE, ["nb"], n_folds=2)
    shown = capsys.readouterr()
    assert shown.out + shown.err == ""


def test_files_get_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr("bayleaf.progress.time.monotonic", lambda: clock[0])
    with displayed():
        work = Work()
        for number in range(30):
            work.say(f"number {number}\x1b[31m")
            clock[0] += 4.0
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["number 3\\x1b[31m", "number 6\\x1b[31m"]
    assert len(lines) == 9


def test_what_is_shown_inside_what_is_shown_is_one_display() -> None:
    told = _told(lambda: compare(HEART, DISEASE, ["nb"], n_folds=2, verbose=1))
    assert told


PROGRAM = """
import sys, time
from bayleaf.progress import Work, displayed
with displayed():
    work = Work(5)
    for number in range(5):
        work.step(f"stage {number} [bold] " + "long " * 40)
        if sys.argv[1] == "error" and number == 3:
            raise ValueError("broken")
        time.sleep(0.5 if sys.argv[1] != "quick" else 0.01)
"""


def _on_terminal(
    *words: str, interrupt_after: float | None = None
) -> tuple[str, float]:
    """What a program writes to a terminal, and when its first character came."""
    master, slave = pytest.importorskip("pty").openpty()
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        stdin=slave, stdout=slave, stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"},
    )  # fmt: skip
    os.close(slave)
    if interrupt_after is not None:
        timer = threading.Timer(interrupt_after, program.send_signal, [2])
        timer.start()
    found = b""
    with contextlib.suppress(OSError):
        # The end of a terminal is an error.
        while piece := os.read(master, 65536):
            found += piece
    program.wait()
    os.close(master)
    return found.decode()


# The line comes a second after the work has begun.
@pytest.mark.slow
@pytest.mark.parametrize("words", ["whole", "error", "interrupted"])
def test_a_terminal_gets_a_line_and_is_left_clean(words: str) -> None:
    shown = _on_terminal(words, interrupt_after=2.0 if words == "interrupted" else None)
    assert re.search(r"stage [123] \[bold\] long .* left\)|stage [123] \[bold", shown)
    # The cursor that was hidden is shown again, and the line is wiped.
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert all(len(line) <= 80 for line in re.split(r"[\r\n]+", plain))
    if words == "error":
        assert "ValueError: broken" in shown


def test_quick_work_shows_nothing() -> None:
    assert _on_terminal("quick") == ""


def test_the_line_of_a_display_is_as_wide_as_its_terminal() -> None:
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=40, force_terminal=True, color_system=None)
    with progress._live(lambda: console) as tell:
        tell("words " * 20)
        time.sleep(progress._PATIENCE_SECONDS + 0.2)
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", file.getvalue())
    assert "…" in shown
    assert shown.strip().count("\n") == 0
