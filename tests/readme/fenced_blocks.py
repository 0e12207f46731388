"""Fenced code blocks of Markdown pages: find them, and run them as a reader would."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bayleaf.cli import main

# Exit code, output and messages of a command.
Outcome = tuple[int, bytes, str]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DIGITS = re.compile(r"\d+\.\d{9,}(?:e-?\d+)?")
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


def shown_outputs(block: str) -> list[str]:
    """What a console block shows below each of its command lines."""
    parts = re.split(r"^\$ .*\n?", block, flags=re.MULTILINE)
    return [part.strip("\n") for part in parts[1:]]


def is_output(found: str, shown: str) -> bool:
    """Whether a page shows an output; ``...`` stands for what differs or is long.

    Digits that depend on the processor are rounded away.
    """
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    want, got = (_DIGITS.sub(_rounded, text) + "\n" for text in (shown, found))
    return doctest.OutputChecker().check_output(want, got, flags)


def _rounded(number: re.Match[str]) -> str:
    """A number of very many digits with eight of them."""
    return f"{float(number[0]):.8g}"


def hidden_code(text: str) -> list[str]:
    """Lines in other fences or indents, where no test would find them."""
    outside = BLOCK.sub("", text)
    return re.findall(r"^(?:~~~|[ \t]+```| {4,}\S).*", outside, re.MULTILINE)


def run_blocks(
    text: str,
    name: str,
    folder: Path,
    run: Callable[[list[str], Path], Outcome] | None = None,
    *,
    is_complete: bool = False,
) -> int:
    """Run a page's blocks in order, in the current folder; count the commands run.

    Python shares one namespace. Of console blocks the command line is run, and JSON is
    only read; installing and making need a checkout or a network. Commands run in this
    process, or as ``run`` does it. A text block below Python code, and lines below a
    command line, must be what is printed; with `is_complete` none is left out.
    """
    n_commands = 0
    for printed, shown in outputs_of(text, name, folder, run):
        if printed is not None:
            n_commands += printed.is_command
            if shown or is_complete:
                assert is_output(printed.text, shown), (
                    f"{name} shows\n{shown}\nin place of\n{printed.text}"
                )
    return n_commands


class Printed(NamedTuple):
    """What Python code or a command line printed."""

    text: str
    is_command: bool


def outputs_of(
    text: str,
    name: str,
    folder: Path,
    run: Callable[[list[str], Path], Outcome] | None = None,
) -> Iterator[tuple[Printed | None, str]]:
    """Run a page's blocks; give what each, or each command, printed and what it shows.

    What is not run has printed None.
    """
    namespace: dict[str, object] = {"__name__": "__main__"}
    blocks = code_blocks_of(text)
    for (language, block), (below, shown) in zip(
        blocks, [*blocks[1:], ("", "")], strict=True
    ):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(block, name, "exec"), namespace)
            yield (
                Printed(output.getvalue().rstrip(), is_command=False),
                shown.rstrip() if below == "text" else "",
            )
        elif language == "json":
            json.loads(block)
        elif language == "console":
            for words, own in zip(commands(block), shown_outputs(block), strict=True):
                if words[0] == "bayleaf":
                    found = check_command(words[1:], folder, run or run_in_process)
                    yield Printed(found.rstrip(), is_command=True), own
                else:
                    yield None, own


def check_command(
    arguments: list[str], folder: Path, run: Callable[[list[str], Path], Outcome]
) -> str:
    """Check that a command line succeeds and prints or writes something; its output."""
    code, output, messages = run(arguments, folder)
    assert code == 0, messages
    assert output or Path(folder, arguments[-1]).exists()
    return output.decode(errors="replace")


def run_in_process(arguments: list[str], folder: Path) -> Outcome:
    """Run a command line with the streams of a pipe, without a new process."""
    output, messages = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(messages),
    ):
        code = main(arguments)
    output.flush()
    return code, output.buffer.getvalue(), messages.getvalue()


def run_program(arguments: list[str], folder: Path) -> Outcome:
    """Run a command line by the installed program."""
    script = Path(sys.executable).with_name("bayleaf")
    program = [str(script)] if script.exists() else [sys.executable, "-m", "bayleaf"]
    result = subprocess.run(
        [*program, *arguments], cwd=folder, capture_output=True, check=False
    )
    return result.returncode, result.stdout, result.stderr.decode()
