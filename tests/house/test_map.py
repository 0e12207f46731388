"""The map of the house in CONTRIBUTING.md is complete and true."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAP = CONTRIBUTING.partition("| place |")[2].partition("\n\n")[0]
PLACES = [
    place
    for line in MAP.splitlines()
    if line.startswith("| `")
    for place in re.findall(r"`([^`]+)`", line.split("|")[1])
]


def test_places_on_the_map_exist() -> None:
    assert PLACES
    missing = [
        place
        for place in PLACES
        if not (ROOT / "src" / "bayleaf" / place).exists()
        and not (ROOT / place).exists()
    ]
    assert not missing, "\n".join(missing)


def test_every_package_is_on_the_map() -> None:
    packages = {path.parent.name for path in ROOT.glob("src/bayleaf/*/__init__.py")}
    assert packages
    assert {f"{name}/" for name in packages} <= set(PLACES)


def test_folders_of_tests_on_the_map_exist() -> None:
    row = next(
        line for line in CONTRIBUTING.splitlines() if line.startswith("| `tests/`")
    )
    named = re.findall(r"`(\w+)/`", row.split("|")[2])
    missing = [name for name in named if not (ROOT / "tests" / name).exists()]
    assert [name for name in missing if name != "src"] == []


def test_make_targets_in_contributing_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
    assert set(re.findall(r"`make (\w+)`", CONTRIBUTING)) <= targets
