"""Pages of the documentation on a simulated Windows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from docs.test_code_blocks import DOCS, WITH_CODE

PROGRAM = Path(__file__).with_name("windows_pages.py")
# What a newcomer reads first, and files in many ways.
FIRST = ("start.md", "reading-tables.md")
GUIDE = [path for path in WITH_CODE if path.parent == DOCS and path.name in FIRST]
OTHERS = [path for path in WITH_CODE if path not in GUIDE]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
@pytest.mark.parametrize(
    "pages",
    [GUIDE, pytest.param(OTHERS, marks=pytest.mark.long)],
    ids=["guide", "other pages"],
)
def test_every_block_runs(pages: list[Path], tmp_path: Path) -> None:
    assert len(pages) >= len(FIRST)
    done = subprocess.run(
        [sys.executable, PROGRAM, tmp_path, *pages], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
