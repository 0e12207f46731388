"""Nothing unfinished and nothing of a machine stands in the sources."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXTS = [
    path
    for folder in ("src", "tests", "benchmarks", "docs", "tools")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".md", ".rst", ".toml"} and "_build" not in path.parts
] + sorted(ROOT.glob("*.md"))
UNFINISHED = re.compile(
    r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b"
)
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home|tmp)/")


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    """Where a pattern stands, as file, line number and what was found."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {found[0]}"
        for path in TEXTS
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if (found := pattern.search(line))
    ]


def test_nothing_unfinished_is_left() -> None:
    wrong = lines_with(UNFINISHED)
    assert not wrong, "\n".join(wrong)


def test_no_path_of_a_machine_is_named() -> None:
    wrong = lines_with(MACHINE_PATH)
    assert not wrong, "\n".join(wrong)


def test_what_is_looked_for_would_be_found() -> None:
    assert UNFINISHED.search("# TO" + "DO: more")
    assert MACHINE_PATH.search("see /" + "tmp/notes")
