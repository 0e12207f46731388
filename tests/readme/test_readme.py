"""Every code block of the README runs, in order, in one folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from readme.fenced_blocks import (
    Outcome,
    blocks_of,
    commands,
    hidden_code,
    run_blocks,
    run_in_process,
    run_program,
)

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
# The command line is run; the others need a checkout or a network and are only read.
PROGRAMS = {"bayleaf", "make", "pip", "git"}


def blocks() -> list[tuple[str, str]]:
    """The fenced blocks of the README."""
    return blocks_of(README.read_text(encoding="utf-8"))


def test_first_code_block_starts_before_line_20() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines, 1) if line.startswith("```"))
    assert first < 20


def test_every_block_has_a_language_that_is_run() -> None:
    assert blocks()
    assert {language for language, _ in blocks()} <= {"python", "console", "text"}


def test_a_stranger_reads_450_words_and_one_picture() -> None:
    text = README.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|\]\([^)]*\)", "", text, flags=re.DOTALL)
    assert 300 < len(re.findall(r"\w+", prose)) < 500
    assert text.count("![") == 1


def test_blocks_without_a_plain_language_are_seen() -> None:
    text = "```\na\n```\n\n```python title=x\nb\n```\n"
    assert blocks_of(text) == [("", "a\n"), ("python title=x", "b\n")]


def test_no_code_hides_in_other_fences_or_indents() -> None:
    assert hidden_code(README.read_text(encoding="utf-8")) == []


def test_console_blocks_call_known_programs() -> None:
    called = [
        words[0]
        for language, block in blocks()
        if language == "console"
        for words in commands(block)
    ]
    assert called
    assert set(called) <= PROGRAMS


@pytest.mark.slow
@pytest.mark.parametrize(
    "run", [run_in_process, pytest.param(run_program, marks=pytest.mark.long)]
)
def test_every_block_runs(
    run: Callable[[list[str], Path], Outcome],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    assert run_blocks(text, "README.md", tmp_path, run, is_complete=True) > 0


def test_make_commands_name_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [
        words[1]
        for language, block in blocks()
        if language == "console"
        for words in commands(block)
        if words[0] == "make"
    ]
    targets += re.findall(r"`make (\w+)`", README.read_text(encoding="utf-8"))
    assert "demo" in targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
