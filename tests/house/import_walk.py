"""What the files of the package import, anywhere in them."""

from __future__ import annotations

import ast
import gc
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "bayleaf"
# Whole statements, over several lines where they have brackets. Parsing these alone
# takes a tenth of the time of parsing the files.
_STATEMENT = re.compile(
    r"^[ \t]*(?:from[ \t]+[.\w]+[ \t]+import[ \t]*(?:\([^)]*\)|[^\n(]+)"
    r"|import[ \t][^\n]+)",
    re.MULTILINE,
)
_CALL = re.compile(r"(?:import_module|__import__)\(\s*[\"']([.\w]+)[\"']")


def names_imported(node: ast.AST, package: list[str]) -> Iterator[str]:
    """Full dotted names that one statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*above, node.module] if node.module else above)
        yield from (f"{module}.{alias.name}" for alias in node.names)


def _statements(text: str) -> Iterator[ast.stmt]:
    """Import statements of a file; prose that only looks like one is left out."""
    for match in _STATEMENT.finditer(text):
        try:
            yield from ast.parse(textwrap.dedent(match[0])).body
        except SyntaxError:
            continue


@cache
def imported_modules(path: Path, source: Path) -> list[str]:
    """Names of the package that a file imports, anywhere in it, in order."""
    package = ["bayleaf", *path.relative_to(source).parent.parts]
    text = path.read_text(encoding="utf-8")
    names = {
        name for node in _statements(text) for name in names_imported(node, package)
    }
    names |= {match[1] for match in _CALL.finditer(text)}
    return sorted(name for name in names if name.split(".")[0] == "bayleaf")


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Parse many files at a third of the cost: trees are not searched for garbage."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
