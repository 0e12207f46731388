"""The table of everyday tasks says how many lines they take, here and elsewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from readme.fenced_blocks import code_blocks_of

PAGE = Path(__file__).parents[2] / "docs" / "networks.md"
TASK = re.compile(r"^# (\d+)\. (.*)$", re.MULTILINE)
ROW = re.compile(r"^\| (\d+)\. (.*?) \| (\d+) \| (.*) \|$", re.MULTILINE)


def tasks() -> dict[str, str]:
    """The code of each task, by its number and name."""
    text = PAGE.read_text("utf-8")
    (block,) = [code for _, code in code_blocks_of(text) if TASK.search(code)]
    _, *parts = TASK.split(block)
    found = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {f"{number}. {name}": code for number, name, code in found}


def test_there_are_forty_tasks_with_their_lines() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8"))
    found = tasks()
    assert [f"{number}. {name}" for number, name, *_ in rows] == list(found)
    assert [number for number, *_ in rows] == [str(i) for i in range(1, 41)]
    statements = [len(ast.parse(code).body) for code in found.values()]
    assert statements == [int(own) for *_, own, _ in rows]


def test_no_task_takes_more_than_one_line_more_than_elsewhere() -> None:
    for number, name, own, others in ROW.findall(PAGE.read_text("utf-8")):
        lines = [int(n) for n in others.split(" | ") if n != "–"]
        assert int(own) <= min(lines, default=int(own)) + 1, (number, name)
