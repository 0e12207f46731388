"""The gallery's programs run by themselves and draw what they promise."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from offenders import check_each

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("plot_*.py"))


def named(path: Path) -> str:
    """A program by its name."""
    return path.stem


def test_there_are_six_of_them_and_nothing_else_is_a_program() -> None:
    assert len(EXAMPLES) == 6
    assert sorted(FOLDER.glob("*.py")) == EXAMPLES


def test_each_begins_with_a_title_and_an_underline() -> None:
    def check(path: Path) -> None:
        docstring = ast.get_docstring(ast.parse(path.read_text("utf-8")))
        assert docstring is not None
        title, underline = docstring.splitlines()[:2]
        assert underline == "=" * len(title)

    check_each(EXAMPLES, check, named)


# `make docs` runs all of them.
@pytest.mark.few("plot_heart_rules")
@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_it_runs_in_its_folder_without_a_warning(path: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=FOLDER,
        env=os.environ | {"MPLBACKEND": "agg", "MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout
    assert "plt.show()" in path.read_text("utf-8")
