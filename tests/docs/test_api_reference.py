"""The API reference names everything that is public, and nothing else."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from typing import Any

import bayleaf
from offenders import check_each

REFERENCE = Path(__file__).parents[2] / "docs" / "api.rst"
LISTED = re.findall(r"^   (bayleaf[\w.]*)$", REFERENCE.read_text("utf-8"), re.MULTILINE)
PACKAGES = [
    "bayleaf",
    *(f"bayleaf.{m.name}" for m in pkgutil.iter_modules(bayleaf.__path__) if m.ispkg),
]
PUBLIC = [
    f"{package}.{name}"
    for package in PACKAGES
    for name in getattr(importlib.import_module(package), "__all__", ())
    if not name.startswith("__")
]


def found(path: str) -> Any:
    """What a dotted name stands for."""
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def is_listed(path: str) -> bool:
    """Whether the reference holds it, if under another of its names."""
    return path in LISTED or any(
        found(other) is found(path)
        for other in LISTED
        if other.rsplit(".", 1)[1] == path.rsplit(".", 1)[1]
    )


def test_public_names_are_found_in_several_packages() -> None:
    assert len({path.rsplit(".", 1)[0] for path in PUBLIC}) > 5


def test_public_names_are_in_the_reference() -> None:
    def check(path: str) -> None:
        assert is_listed(path), f"add {path} to docs/api.rst"

    check_each(PUBLIC, check)


def test_names_in_the_reference_exist_with_a_docstring() -> None:
    def check(path: str) -> None:
        assert found(path).__doc__, "there is no docstring"

    check_each(LISTED, check)


def test_no_name_is_listed_twice() -> None:
    assert sorted(set(LISTED)) == sorted(LISTED)


def test_a_name_that_the_reference_lacks_is_noticed() -> None:
    assert not is_listed("bayleaf.wording.name_list")
