"""Files, folders, functions and nesting stay within the limits."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "bayleaf"
FILES = sorted(SOURCE.rglob("*.py"))
MAX_FILE, MAX_FOLDER, MAX_FUNCTION, MAX_NESTING = 400, 16, 60, 3
# What is still to be made smaller: a name that is no longer too large must go.
LARGE_FILES: set[str] = set()
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.TryStar, ast.Match)


def place(path: Path) -> str:
    """Where a file or folder is in the package."""
    return path.relative_to(SOURCE).as_posix()


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


def offenders(found: dict[str, int], limit: int, known: set[str]) -> list[str]:
    """What is larger than a limit and not known to be, and what is known wrongly."""
    large = {name: size for name, size in found.items() if size > limit}
    new = [f"{name}: {large[name]}, more than {limit}" for name in large.keys() - known]
    settled = [f"{name}: large no more" for name in known - large.keys()]
    return sorted(new) + sorted(settled)


def test_files_stay_small() -> None:
    lines = {
        place(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in FILES
    }
    wrong = offenders(lines, MAX_FILE, LARGE_FILES)
    assert not wrong, "\n".join(wrong)


def test_folders_stay_small() -> None:
    sizes = Counter(place(path.parent) for path in FILES)
    wrong = offenders(sizes, MAX_FOLDER, set())
    assert not wrong, "\n".join(wrong)


def test_functions_stay_small() -> None:
    sizes = {
        f"{place(path)}: {function.name}": body_lines(function)
        for path in FILES
        for function in functions(path)
    }
    wrong = offenders(sizes, MAX_FUNCTION, set())
    assert not wrong, "\n".join(wrong)


def test_functions_are_not_deeply_nested() -> None:
    depths = {
        f"{place(path)}: {function.name}": nesting(function)
        for path in FILES
        for function in functions(path)
    }
    wrong = offenders(depths, MAX_NESTING, set())
    assert not wrong, "\n".join(wrong)


def test_what_is_new_and_what_is_settled_is_told() -> None:
    found = {"a": 5, "b": 3, "c": 9}
    assert offenders(found, 4, {"b", "c"}) == [
        "a: 5, more than 4",
        "b: large no more",
    ]


def test_a_large_function_is_found() -> None:
    lines = "\n".join(f"    x = {i}" for i in range(70))
    tree = ast.parse(f"def f():\n{lines}\n")
    assert body_lines(tree.body[0]) == 70  # type: ignore[arg-type]


def test_deep_nesting_is_found() -> None:
    code = "def f():\n for a in b:\n  if a:\n   while a:\n    with a:\n     pass\n"
    assert nesting(ast.parse(code).body[0]) == 4
