"""Lines of the package: code, docstrings, comments, blank; one line per package.

python tools/count_lines.py
"""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "bayleaf"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


class Lines(NamedTuple):
    """Numbers of files and of lines of each kind."""

    files: int
    code: int
    docstrings: int
    comments: int
    blank: int


def lines_of(text: str) -> Lines:
    """Count the lines of one file; a line with code and a comment is code."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            first = node.body[0]
            docstrings |= set(range(first.lineno, (first.end_lineno or 0) + 1))
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        span = range(token.start[0], token.end[0] + 1)
        if token.type == tokenize.COMMENT:
            comments.update(span)
        elif token.type not in _NOT_CODE:
            code.update(span)
    code -= docstrings
    comments -= code
    n_lines = len(text.splitlines())
    blank = n_lines - len(code | docstrings | comments)
    return Lines(1, len(code), len(docstrings), len(comments), blank)


def total(parts: list[Lines]) -> Lines:
    """Add counts up."""
    return Lines(*(sum(column) for column in zip(*parts, strict=True)))


def main() -> None:
    """Print the table, the largest package first."""
    packages: dict[str, list[Lines]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        counts = lines_of(path.read_text(encoding="utf-8"))
        packages.setdefault(package, []).append(counts)
    table = {name: total(parts) for name, parts in packages.items()}
    ordered = sorted(table.items(), key=lambda item: -sum(item[1][1:]))
    rows = [*ordered, ("all of Python", total(list(table.values())))]
    heads = ("package", *Lines._fields, "total")
    print(f"{heads[0]:14}" + "".join(f"{head:>12}" for head in heads[1:]))
    for name, counts in rows:
        print(f"{name:14}" + "".join(f"{n:12}" for n in (*counts, sum(counts[1:]))))
    for title, folder, ends in (
        ("C++", ROOT / "src" / "native", (".cpp", ".h")),
        ("JavaScript", SOURCE, (".js",)),
        ("tests", ROOT / "tests", (".py",)),
    ):
        files = [path for path in folder.rglob("*") if path.suffix in ends]
        n_lines = sum(len(path.read_text("utf-8").splitlines()) for path in files)
        print(f"{title:14}{len(files):12}{'':48}{n_lines:12}")


if __name__ == "__main__":
    main()
