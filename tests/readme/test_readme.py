"""Every code block of the README runs, in order, in one folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The command line is run; the others need a checkout or a network and are only read.
PROGRAMS = {"bayleaf", "make", "pip", "git"}


def blocks_of(text: str) -> list[tuple[str, str]]:
    """What stands behind the opening fence, and the text, of each fenced block."""
    return BLOCK.findall(text)


def blocks() -> list[tuple[str, str]]:
    """The fenced blocks of the README."""
    return blocks_of(README.read_text(encoding="utf-8"))


def commands(block: str) -> Iterator[list[str]]:
    """Words of each command line of a console block."""
    for line in block.splitlines():
        if line.startswith("$ "):
            yield shlex.split(line[2:])


def test_first_code_block_starts_before_line_20() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines, 1) if line.startswith("```"))
    assert first < 20


def test_every_block_has_a_language_that_is_run() -> None:
    assert blocks()
    assert {language for language, _ in blocks()} <= {"python", "console"}


def test_blocks_without_a_plain_language_are_seen() -> None:
    text = "```\na\n```\n\n```python title=x\nb\n```\n"
    assert blocks_of(text) == [("", "a\n"), ("python title=x", "b\n")]


def test_no_code_hides_in_other_fences_or_indents() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if re.match(r"~~~|[ \t]+```| {4,}\S", line)] == [
        line
        for _, block in blocks()
        for line in block.splitlines()
        if line[:4] == "    "
    ]


def test_console_blocks_call_known_programs() -> None:
    called = [
        words[0]
        for language, block in blocks()
        if language == "console"
        for words in commands(block)
    ]
    assert called
    assert set(called) <= PROGRAMS


def test_every_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    n_commands = 0
    for language, block in blocks():
        if language == "python":
            exec(compile(block, "README.md", "exec"), namespace)
            continue
        for words in commands(block):
            if words[0] == "bayleaf":
                run_bayleaf(words[1:], tmp_path)
                n_commands += 1
    assert n_commands > 0


def run_bayleaf(arguments: list[str], folder: Path) -> None:
    """Run a command line of the README; it must succeed and print something."""
    script = Path(sys.executable).with_name("bayleaf")
    program = [str(script)] if script.exists() else [sys.executable, "-m", "bayleaf"]
    result = subprocess.run(
        [*program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout or Path(folder, arguments[-1]).exists()


def test_make_commands_name_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [
        words[1]
        for language, block in blocks()
        if language == "console"
        for words in commands(block)
        if words[0] == "make"
    ]
    assert "demo" in targets
    assert "test" in targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
