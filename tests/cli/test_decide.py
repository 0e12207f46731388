"""``bayleaf decide``: policies and values of information on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oracles.decision_problems import oil_wildcatter

Run = Callable[..., Any]


@pytest.fixture
def oil(tmp_path: Path) -> Path:
    path = tmp_path / "oil.xdsl"
    oil_wildcatter().save(path)
    return path


def test_decide_prints_the_best_policies(run: Run, oil: Path) -> None:
    done = run("decide", oil)
    assert done.code == 0, done.err
    assert done.out == f"{oil_wildcatter().solve()}\n"


def test_decide_takes_evidence_and_fixed_decisions(run: Run, oil: Path) -> None:
    done = run("decide", oil, "--given", "test=no", "--given", "oil=!dry", "--json")
    solution = json.loads(done.out)
    assert solution["expected_utility"] == pytest.approx(110)
    assert [policy["decision"] for policy in solution["policies"]] == ["drill"]
    weights = ["--likelihood", "oil=dry:0,wet:0.2,soaking:0.3"]
    again = run("decide", oil, "--given", "test=no", *weights, "--json")
    assert json.loads(again.out)["expected_utility"] == pytest.approx(
        (0.06 * 50 + 0.06 * 200) / 0.12
    )


def test_decide_prints_what_observations_are_worth(run: Run, oil: Path) -> None:
    done = run("decide", oil, "--information", "--before", "drill")
    assert done.out.splitlines() == [
        "utility gained by observing before drill",
        "oil         32.5",
        "all of them 32.5",
    ]
    values = json.loads(run("decide", oil, "--information", "--json").out)
    assert values == {
        "before": "test",
        "values": {"oil": pytest.approx(32.5)},
        "all": pytest.approx(32.5),
    }


def test_decide_refuses_in_one_sentence(run: Run, oil: Path, tmp_path: Path) -> None:
    network = tmp_path / "plain.net"
    network.write_text('node a { states = ("x" "y"); } potential (a) { data = (1 0); }')
    cases = [
        ([oil, "--given", "structure=open"], "decision 'test' influences it"),
        ([oil, "--before", "drill"], "--before is about --information"),
        ([oil, "--information", "--before", "oil"], "'oil' is not a decision"),
        ([network], "plain.net: the file has no utility"),
        ([tmp_path / "net.bif"], "no suffix of a format for influence diagrams"),
    ]
    for words, problem in cases:
        done = run("decide", *words)
        assert (done.code, done.out) == (2, "")
        assert problem in done.err
        assert done.err.count("\n") == 1
