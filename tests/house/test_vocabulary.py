"""Names, messages and docs use the words that users search for.

Each expression below has a better one next to it. Old text still has many of them: the
number is how often each one occurs today, and it may only go down. Rewriting old text
lowers the number; new text has none of them.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from house.import_walk import without_garbage_collection

ROOT = Path(__file__).parents[2]


class Expression(NamedTuple):
    """An expression to avoid, what to write, and how often it is left."""

    pattern: str
    instead: str
    n_left: int


# In the sources of Python and C++ and in the documentation, whatever the case.
EXPRESSIONS = [
    Expression(r"\btold\b", "reported, passed, message", 262),
    Expression(r"\b(tell|tells|telling)\b", "report, show, distinguish", 161),
    Expression(r"\b(say|says|said|saying)\b", "contain, report, specify", 362),
    Expression(r"\b(stand|stands|stood)\b(?! for)", "be, be stored, be listed", 210),
    Expression(r"\b(hears|wish|wishes|wished)\b", "receives, request", 0),
    Expression(r"\b(knows|asks)\b", "has, contains, queries, requests", 69),
    Expression(
        r"\b(is|are|was|were|be) no\b"
        r"(?! (longer|more|less|larger|fewer|greater|smaller|better|worse))",
        "is not a",
        273,
    ),
    Expression(r"\bwhole numbers?\b", "integer", 7),
    Expression(r"\btruth values?\b", "boolean", 0),
    Expression(r"\bbeside\b", "and, next to, in addition to", 122),
    Expression(r"\banew\b", "again, re-", 2),
    Expression(r"\b(nobody|somebody)\b", "name who: users, callers", 15),
    Expression(r"\bis another\b", "differs, is distinct", 5),
    Expression(r"\b(becomes?|became) of\b", "how ... is handled", 11),
    Expression(r"\bby way of\b", "through, by", 0),
    Expression(
        r"\b(bytes|cells|nats|bits|seconds|states|tables?|counts?|values?|rows|networks?"
        r"|one|number) a (row|feature|line|column|state|class|file|second|table|network"
        r"|group|node|cell)\b",
        "per row, per feature",
        44,
    ),
]
# Names of variables, parameters, functions and classes in the package.
NAMES = {
    "told": ("message, with_explanation, is_reported", 87),
    "said": ("log_likelihood, reported, text", 15),
    "found": ("result, scores, matches: the noun of what it is", 458),
    "own": ("what it belongs to", 434),
    "kept": ("what is kept: columns, rows, states", 90),
    "parted": ("parts, groups", 0),
    "wanted": ("requested, targets", 59),
    "asked": ("requested, request", 25),
    "gone": ("eliminated, removed", 4),
    "torn": ("parent_missing", 1),
    "one": ("the noun of what it is", 120),
    "every": ("all_rows, all_features", 14),
    "more": ("extra_terms, further_columns", 35),
    "still": ("fixed", 0),
    "here": ("state, position", 9),
    "beside": ("extra_terms", 5),
    "place": ("index, position or offset", 281),
    "places": ("indices, positions or offsets", 125),
}


def texts() -> Iterator[Path]:
    """Sources and documentation, generated pages apart."""
    for pattern in ("*.py", "*.cpp", "*.h"):
        yield from sorted((ROOT / "src").rglob(pattern))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if not {"_build", "generated", "gallery"} & set(path.parts):
            yield path
    yield from sorted(ROOT.glob("*.md"))


@cache
def lower_texts() -> list[tuple[Path, str]]:
    """All texts in lower case, each with its path below the root.

    Outputs that pages show repeat words of the package, and are left empty.
    """
    output = re.compile(r"(?<=^```text\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
    return [
        (
            path.relative_to(ROOT),
            output.sub(
                lambda m: "\n" * m[0].count("\n"), path.read_text("utf-8")
            ).lower(),
        )
        for path in texts()
    ]


def hits(pattern: str) -> list[str]:
    """File, line and text of every match."""
    return [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for path, text in lower_texts()
        for match in re.finditer(pattern, text)
    ]


def names_in(tree: ast.AST) -> Iterator[str]:
    """Names that a module gives to variables, parameters, functions and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


@cache
def name_counts() -> Counter[str]:
    """How often each name is given in the package, leading underscores apart."""
    with without_garbage_collection():
        return Counter(
            name.strip("_")
            for path in (ROOT / "src").rglob("*.py")
            for name in names_in(ast.parse(path.read_text("utf-8")))
        )


def verdict(what: str, instead: str, n_left: int, n_now: int) -> str | None:
    """Compare a count with the one that is left; None if they are equal."""
    if n_now > n_left:
        return f"{what}: {n_now} times, {n_left} before; write instead: {instead}"
    if n_now < n_left:
        return f"{what}: {n_now} times are left; lower its number from {n_left}"
    return None


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda one: one.pattern)
def test_an_expression_to_avoid_is_not_written_again(expression: Expression) -> None:
    matches = hits(expression.pattern)
    wrong = verdict(
        expression.pattern, expression.instead, expression.n_left, len(matches)
    )
    assert wrong is None, "\n".join([*matches, wrong or ""])


@pytest.mark.slow
def test_names_to_avoid_are_not_given_again() -> None:
    counts = name_counts()
    wrong = [
        line
        for name, (instead, n_left) in NAMES.items()
        if (line := verdict(f"name {name!r}", instead, n_left, counts[name]))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_constants_are_limits_by_max_and_min() -> None:
    counts = name_counts()
    limits = sum(n for name, n in counts.items() if re.match("(?i)(most|least)_", name))
    wrong = verdict("names most_..., least_...", "max_..., min_...", 169, limits)
    assert wrong is None, wrong


def test_more_and_fewer_occurrences_are_both_reported() -> None:
    assert "write instead: index" in (verdict("place", "index", 1, 2) or "")
    assert "lower its number from 2" in (verdict("place", "index", 2, 1) or "")
    assert verdict("place", "index", 2, 2) is None


def test_names_of_every_kind_are_found() -> None:
    code = "class A:\n def b(self, c):\n  d: int = 1\n  for e in f: pass\n"
    assert {"A", "b", "c", "d", "e"} <= set(names_in(ast.parse(code)))
