"""Write what the code of pages prints below it: ``python write_outputs.py PAGE...``.

Outputs that are right stay as they are, with their ``...``; others are written again,
long ones cut at their end.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from pathlib import Path

import pyarrow.csv

from bayleaf.datasets import load_heart
from readme.fenced_blocks import BLOCK, DIRECTIVE, is_output, outputs_of

_MAX_LINES = 16
_DATE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z by bayleaf \S+")
_SECONDS = re.compile(r"(?<=[\w-]) +\d+\.\d{3} +\d+\.\d{3}$", re.MULTILINE)
_COMMAND = re.compile(r"^(\$ .*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def page_with_outputs(text: str, name: str, folder: Path) -> str:
    """A page whose code has its outputs below."""
    outputs = iter([*outputs_of(text, name, folder)])

    def output(shown: str) -> str:
        printed, _ = next(outputs)
        if printed is None or is_output(printed.text, shown):
            return shown
        text = _DATE.sub("...", printed.text)
        if "fit s  pred. s" in text:
            text = _SECONDS.sub("  ...", text)
        lines = text.splitlines()
        cut = ["..."] if len(lines) > _MAX_LINES else []
        return "\n".join(line.rstrip() for line in [*lines[:_MAX_LINES], *cut])

    def command(found: re.Match[str]) -> str:
        below = output(found[2].strip("\n"))
        return found[1] + "\n" + (below + "\n" if below else "")

    def block(found: re.Match[str]) -> str:
        language, code, shown = found[1], found[2], found[4] or ""
        if DIRECTIVE.match(language) or language == "json":
            return found[0]
        if language == "console":
            return f"```console\n{_COMMAND.sub(command, code)}```\n"
        below = output(shown.rstrip())
        text = f"```text\n{below}\n```\n" if below else ""
        return f"```{language}\n{code}```\n" + (f"\n{text}" if text else "")

    with_text = re.compile(
        BLOCK.pattern + r"\n(\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
    )
    return with_text.sub(block, text)


def main(pages: list[str]) -> None:
    """Write the outputs of some pages."""
    for page in map(Path, pages):
        path = page.resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            pyarrow.csv.write_csv(load_heart().frame, "heart.csv")
            text = page_with_outputs(path.read_text("utf-8"), page.name, Path(folder))
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
