"""Every code block of the documentation's pages runs, in order, in one folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from bayleaf.datasets import load_heart
from offenders import check_each
from readme.fenced_blocks import (
    code_blocks_of,
    commands,
    hidden_code,
    run_blocks,
)

DOCS = Path(__file__).parents[2] / "docs"
MADE = {"_build", "generated", "gallery"}
PAGES = [
    path
    for path in sorted(DOCS.rglob("*"))
    if path.suffix in {".md", ".rst"} and MADE.isdisjoint(path.parts)
]
MARKDOWN = [path for path in PAGES if path.suffix == ".md"]
# This page needs Spark, and is run by the test that knows what should come out.
ELSEWHERE = {DOCS / "scale" / "spark.md": "tests/peers/test_spark.py"}
WITH_CODE = [
    path
    for path in MARKDOWN
    if path not in ELSEWHERE and code_blocks_of(path.read_text("utf-8"))
]
# Installing and making need a network or a checkout, and are only read.
# Pages that train many models.
MANY_MODELS = {
    "credit-analyst.md",
    "evaluation.md",
    "hierarchical-mixtures.md",
    "hierarchical-naive-bayes.md",
    "plots.md",
    "researcher.md",
    "structure-learning.md",
}
PROGRAMS = {"bayleaf", "make", "pip"}


def named(path: Path) -> str:
    """A page by its place in the documentation."""
    return str(path.relative_to(DOCS))


def test_pages_are_found_in_all_folders() -> None:
    assert {path.parent.name for path in MARKDOWN} >= {"docs", "methods", "results"}
    assert DOCS / "methods" / "kdb.md" in WITH_CODE


def test_pages_that_are_run_elsewhere_have_their_test() -> None:
    for path, test in ELSEWHERE.items():
        assert path in MARKDOWN
        assert f'"{path.name}"' in (DOCS.parent / test).read_text("utf-8")


def test_every_block_has_a_language_that_is_run() -> None:
    def check(path: Path) -> None:
        blocks = code_blocks_of(path.read_text("utf-8"))
        assert {language for language, _ in blocks} <= {
            "python",
            "console",
            "json",
            "text",
        }

    check_each(MARKDOWN, check, named)


def test_no_code_hides_in_other_fences_or_indents() -> None:
    def check(path: Path) -> None:
        assert hidden_code(path.read_text("utf-8")) == []

    check_each(MARKDOWN, check, named)


def test_console_blocks_call_known_programs() -> None:
    def check(path: Path) -> None:
        for language, block in code_blocks_of(path.read_text("utf-8")):
            if language == "console":
                assert list(commands(block))
                assert {words[0] for words in commands(block)} <= PROGRAMS

    check_each(MARKDOWN, check, named)


def test_commands_are_quoted_for_every_shell() -> None:
    # cmd.exe passes single quotes on.
    def check(path: Path) -> None:
        text = path.read_text("utf-8")
        assert (
            re.findall(r"^\$ .*'.*|pip install(?: [\w.-]+)* '.*", text, re.MULTILINE)
            == []
        )

    sources = (DOCS.parent / "src").rglob("*.py")
    check_each([*MARKDOWN, DOCS.parent / "README.md", *sources], check, str)


def test_pages_of_restructured_text_hold_no_code() -> None:
    def check(path: Path) -> None:
        text = path.read_text("utf-8")
        assert re.findall(r"^\.\. (?:code|prompt)|::$|^>>>", text, re.MULTILINE) == [
            "::" for line in text.splitlines() if line.startswith(".. autosummary::")
        ]

    check_each([path for path in PAGES if path.suffix == ".rst"], check, named)


def _marked(path: Path) -> Any:
    """Pages whose blocks train dozens of models take as long as all others."""
    marks = [pytest.mark.long] if path.name in MANY_MODELS else []
    return pytest.param(path, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("path", [*map(_marked, WITH_CODE)], ids=map(named, WITH_CODE))
def test_every_block_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(load_heart().frame, "heart.csv")
    run_blocks(path.read_text("utf-8"), named(path), tmp_path, is_complete=True)


def test_code_that_fails_or_hides_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run_blocks("```python\nassert False\n```\n", "page", tmp_path)
    for shown in ("", "\n```text\n2\n```\n"):
        text = f"```python\nprint(1)\n```\n{shown}"
        with pytest.raises(AssertionError, match="in place of"):
            run_blocks(text, "page", tmp_path, is_complete=True)
    right = (
        "```python\nprint(1, 1 / 3)\nprint(2)\n```\n\n"
        "```text\n1 0.333333333333\n...\n```\n"
    )
    assert run_blocks(right, "page", tmp_path, is_complete=True) == 0
    with pytest.raises(AssertionError):
        run_blocks("```console\n$ bayleaf fit absent.csv\n```\n", "page", tmp_path)
    assert hidden_code("a list\n\n    indented\n~~~\n") == ["    indented", "~~~"]
