"""Nothing unfinished and nothing of a machine stands in the sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_nothing_unfinished_is_left(path: Path) -> None:
    assert UNFINISHED.search(path.read_text(encoding="utf-8")) is None


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_no_path_of_a_machine_is_named(path: Path) -> None:
    assert MACHINE_PATH.search(path.read_text(encoding="utf-8")) is None
