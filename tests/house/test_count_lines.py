"""Lines of the package are counted by what they hold."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "count_lines.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("count_lines", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_code_docstrings_comments_and_blank_lines_are_counted(
    tool: ModuleType,
) -> None:
    text = '"""A module\n\nof two paragraphs."""\n\n# Why.\nX = [\n    1,  # one\n]\n'
    text += 'def f():\n    """Return text."""\n    return """a\n\nb"""\n'
    assert tool.lines_of(text) == (1, 7, 4, 1, 1)


def test_counts_of_files_add_up(tool: ModuleType) -> None:
    one = tool.lines_of("x = 1\n")
    assert tool.total([one, one]) == (2, 2, 0, 0, 0)
