"""Fenced code blocks of Markdown pages: find them, and run them as a reader would."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Sphinx reads these; there is nothing to run.
DIRECTIVE = re.compile(r"\{\w+\}")


def blocks_of(text: str) -> list[tuple[str, str]]:
    """What stands behind the opening fence, and the text, of each fenced block."""
    return BLOCK.findall(text)


def code_blocks_of(text: str) -> list[tuple[str, str]]:
    """The blocks that are no directives."""
    return [block for block in blocks_of(text) if not DIRECTIVE.match(block[0])]


def commands(block: str) -> Iterator[list[str]]:
    """Words of each command line of a console block."""
    for line in block.splitlines():
        if line.startswith("$ "):
            yield shlex.split(line[2:])


def hidden_code(text: str) -> list[str]:
    """Lines in other fences or indents, where no test would find them."""
    outside = BLOCK.sub("", text)
    return re.findall(r"^(?:~~~|[ \t]+```| {4,}\S).*", outside, re.MULTILINE)


def run_blocks(text: str, name: str, folder: Path) -> int:
    """Run a page's blocks in order, in the current folder; count the commands run.

    Python shares one namespace. Of console blocks the command line is run, and JSON is
    only read; installing and making need a checkout or a network.
    """
    namespace: dict[str, object] = {"__name__": "__main__"}
    n_commands = 0
    for language, block in code_blocks_of(text):
        if language == "python":
            exec(compile(block, name, "exec"), namespace)
        elif language == "json":
            json.loads(block)
        else:
            for words in commands(block):
                if words[0] == "bayleaf":
                    run_bayleaf(words[1:], folder)
                    n_commands += 1
    return n_commands


def run_bayleaf(arguments: list[str], folder: Path) -> None:
    """Run a command line of a page; it must succeed and print or write something."""
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
