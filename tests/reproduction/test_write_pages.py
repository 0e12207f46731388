from __future__ import annotations

from pathlib import Path

import pytest

import write_pages
from bayleaf.reproduction.protocols import PAPERS


def test_every_paper_has_a_page() -> None:
    assert set(write_pages.PAGES) == set(PAPERS)


def test_pages_are_written_of_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_pages, "PAGES", {"sahami1996": lambda _: "A sentence."})
    monkeypatch.setattr("sys.argv", ["write_pages.py", str(tmp_path)])
    write_pages.main()
    page = (tmp_path / "sahami1996.md").read_text(encoding="utf-8")
    assert page.startswith("# Sahami 1996, table 2\n\nSahami, M. (1996).")
    assert page.endswith("\n\nA sentence.\n")
    assert "48 printed figures: 9 not identifiable, 39 not run." in page
