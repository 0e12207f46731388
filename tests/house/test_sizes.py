"""Files, functions and nesting stay within the hard limits."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "bayleaf"
FILES = sorted(SOURCE.rglob("*.py"))
MAX_FILE, MAX_FUNCTION, MAX_NESTING = 600, 60, 3
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.TryStar, ast.Match)


def body_lines(function: ast.FunctionDef) -> int:
    """Number of lines of a function below its docstring."""
    body = function.body
    has_docstring = isinstance(body[0], ast.Expr) and isinstance(
        getattr(body[0], "value", None), ast.Constant
    )
    first = body[1] if has_docstring and len(body) > 1 else body[0]
    return (function.end_lineno or 0) - first.lineno + 1


def nesting(node: ast.AST, depth: int = 0) -> int:
    """Depth of blocks inside a function; an elif does not count as deeper."""
    deepest = depth
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        for child in children:
            if not isinstance(child, ast.AST):
                continue
            chained = isinstance(node, ast.If) and name == "orelse"
            elif_branch = chained and isinstance(child, ast.If) and len(children) == 1
            deeper = isinstance(child, BLOCKS) and not elif_branch
            deepest = max(deepest, nesting(child, depth + deeper))
    return deepest


def functions(path: Path) -> list[ast.FunctionDef]:
    """All functions of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_stays_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_functions_stay_small(path: Path) -> None:
    sizes = {function.name: body_lines(function) for function in functions(path)}
    assert {name: size for name, size in sizes.items() if size > MAX_FUNCTION} == {}


# Compiled kernels are loops over tiles, columns and rows by their nature.
@pytest.mark.parametrize(
    "path", [p for p in FILES if "kernels" not in p.stem], ids=lambda path: path.stem
)
def test_functions_are_not_deeply_nested(path: Path) -> None:
    depths = {function.name: nesting(function) for function in functions(path)}
    assert {name: deep for name, deep in depths.items() if deep > MAX_NESTING} == {}


def test_a_large_function_is_found() -> None:
    lines = "\n".join(f"    x = {i}" for i in range(70))
    tree = ast.parse(f"def f():\n{lines}\n")
    assert body_lines(tree.body[0]) == 70  # type: ignore[arg-type]


def test_deep_nesting_is_found() -> None:
    code = "def f():\n for a in b:\n  if a:\n   while a:\n    with a:\n     pass\n"
    assert nesting(ast.parse(code).body[0]) == 4
