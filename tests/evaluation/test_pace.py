"""What is told of long work: the step, the share done, the time left."""

from __future__ import annotations

import re

import pytest

from bayleaf.datasets import load_heart
from bayleaf.evaluation import compare
from bayleaf.evaluation.pace import Pace, in_words


def test_share_and_time_left_follow_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("bayleaf.evaluation.pace.time.perf_counter", lambda: clock[0])
    told: list[str] = []
    pace = Pace(4, told.append)
    for name in "abcd":
        pace.step(name)
        clock[0] += 90.0
    assert told == ["a", "b (25 %, 4 min left)", "c (50 %, 3 min left)", told[3]]
    assert told[3] == "d (75 %, 2 min left)"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "1 s"), (42.4, "42 s"), (90.0, "2 min"), (7200.0, "2.0 h")],
)
def test_times_are_rough(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_comparisons_tell_and_log_every_fold(caplog: pytest.LogCaptureFixture) -> None:
    X, y = load_heart(return_X_y=True)
    told: list[str] = []
    with caplog.at_level("INFO", logger="bayleaf"):
        compare(X, y, ["nb", "tan"], n_folds=3, progress=told.append)
    assert told[0] == "nb: fold 1 of 3"
    assert all(
        re.fullmatch(r"(nb|tan): fold \d of 3 \(\d+ %, .+ left\)", t) for t in told[1:]
    )
    assert told[-1].startswith("tan: fold 3 of 3 (83 %")
    assert [r.getMessage() for r in caplog.records if "fold" in r.getMessage()] == told
