"""No regular expression uses what Python before 3.11.5 gets wrong.

Possessive repeats and atomic groups came with Python 3.11, and before 3.11.5 they match
wrongly where the text inside them can be matched in several ways.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SOURCE = Path(__file__).parents[2] / "src"
FILES = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if re.search(r"^\s*(import|from) re\b", path.read_text(encoding="utf-8"), re.M)
]
# What `re` calls them where it shows a pattern taken apart.
UNSAFE = ("POSSESSIVE_REPEAT", "ATOMIC_GROUP")


def unsafe_parts(pattern: str, flags: int = 0) -> list[str]:
    """What a pattern uses of the two; nothing if the text is no pattern."""
    shown = io.StringIO()
    with (
        contextlib.redirect_stdout(shown),
        contextlib.suppress(re.error),
        warnings.catch_warnings(action="ignore"),
    ):
        re.compile(pattern, flags | re.DEBUG)
    return [part for part in UNSAFE if part in shown.getvalue()]


def texts(tree: ast.Module, names: dict[str, Any]) -> Iterator[str]:
    """All texts of a module but its docstrings, any of which may be a pattern.

    Names of the module that stand in an f-string have their values there; what else
    stands in one is taken for a letter.
    """
    nodes = list(ast.walk(tree))
    skipped = {node.value for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            skipped |= set(node.values)
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(rendered(part, names) for part in node.values)
        elif isinstance(node, ast.Constant) and node not in skipped:
            yield rendered(node, names)


def rendered(part: ast.expr, names: dict[str, Any]) -> str:
    """What a text, or a part of an f-string, comes to."""
    if isinstance(part, ast.Constant):
        return part.value if isinstance(part.value, str) else ""
    assert isinstance(part, ast.FormattedValue)
    name = part.value.id if isinstance(part.value, ast.Name) else ""
    return str(names.get(name, "x"))


def held(value: Any) -> Iterator[re.Pattern[str]]:
    """The compiled patterns in a value."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from held(tuple(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from held(item)


def module_of(path: Path) -> ModuleType:
    """The module of a file of the sources."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return importlib.import_module(".".join(parts).removesuffix(".__init__"))


def patterns_of(path: Path) -> list[tuple[str, int]]:
    """Texts of a file that may be patterns, and its compiled patterns, with flags."""
    names = vars(module_of(path))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    compiled = [(one.pattern, one.flags) for one in held(tuple(names.values()))]
    return [(text, 0) for text in texts(tree, names)] + compiled


def test_no_repeat_is_possessive_and_no_group_atomic() -> None:
    assert FILES
    wrong = [
        f"{path.relative_to(SOURCE)}: {pattern}"
        for path in FILES
        for pattern, flags in patterns_of(path)
        if unsafe_parts(pattern, flags)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_patterns_of_the_lexer_are_among_those_looked_at() -> None:
    module = importlib.import_module("bayleaf.io.formats.bif")
    assert len(list(held(module._TOKENS))) == 4


@pytest.mark.parametrize("code", ['a = r"x*+"', 're.sub(f"{A}+", "")', 'f("(?>x)")'])
def test_an_unsafe_pattern_is_found(code: str) -> None:
    assert any(map(unsafe_parts, texts(ast.parse(code), {"A": "x+"})))


@pytest.mark.parametrize("code", ['"""x++"""', 'r"\\++[*+]+(?:x+)+"', 'f"{B}+"'])
def test_a_safe_pattern_is_not_taken_for_one(code: str) -> None:
    assert not any(map(unsafe_parts, texts(ast.parse(code), {"A": "x+"})))
