"""What the files of the package import, wherever in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "bayleaf"


def names_imported(node: ast.AST, package: list[str]) -> Iterator[str]:
    """Full dotted names that one statement or call imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*above, node.module] if node.module else above)
        yield from (f"{module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and node.args:
        called = getattr(node.func, "attr", getattr(node.func, "id", None))
        name = getattr(node.args[0], "value", None)
        if called in {"import_module", "__import__"} and isinstance(name, str):
            yield name


@cache
def imported_modules(path: Path, source: Path) -> list[str]:
    """Names of the package that a file imports, anywhere in it, in order."""
    package = ["bayleaf", *path.relative_to(source).parent.parts]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {name for node in ast.walk(tree) for name in names_imported(node, package)}
    return sorted(name for name in names if name.split(".")[0] == "bayleaf")
