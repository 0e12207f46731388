"""Functions are not deeply nested."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from house.import_walk import SOURCE, without_garbage_collection

PACKAGES = sorted(
    path.name
    for path in SOURCE.iterdir()
    if path.suffix == ".py" or (path / "__init__.py").exists()
)
MAX_NESTING = 3
# What blocks stand in; expressions, most nodes of a tree, hold none.
HOLDERS = (ast.stmt, ast.excepthandler, ast.match_case)
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.TryStar, ast.Match)


def nesting(node: ast.AST, depth: int = 0) -> int:
    """Depth of blocks inside a function; an elif does not count as deeper."""
    deepest = depth
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        for child in children:
            if not isinstance(child, HOLDERS):
                continue
            chained = isinstance(node, ast.If) and name == "orelse"
            elif_branch = chained and isinstance(child, ast.If) and len(children) == 1
            deeper = isinstance(child, BLOCKS) and not elif_branch
            deepest = max(deepest, nesting(child, depth + deeper))
    return deepest


def deep_functions(path: Path) -> list[str]:
    """Functions of a file that are nested too deeply."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        f"{path.relative_to(SOURCE)}: {node.name}: {depth} > {MAX_NESTING}"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (depth := nesting(node)) > MAX_NESTING
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_are_not_deeply_nested(package: str) -> None:
    files = [SOURCE / package] if package.endswith(".py") else []
    with without_garbage_collection():
        wrong = [
            line
            for path in files or sorted((SOURCE / package).rglob("*.py"))
            for line in deep_functions(path)
        ]
    assert not wrong, "\n".join(wrong)


def test_deep_nesting_is_found() -> None:
    code = "def f():\n for a in b:\n  if a:\n   while a:\n    with a:\n     pass\n"
    assert nesting(ast.parse(code).body[0]) == 4
