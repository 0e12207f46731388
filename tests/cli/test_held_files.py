"""Output files that other programs hold open: the work is kept."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayleaf import files
from bayleaf.io import atomic


def test_predictions_for_a_file_that_is_open_elsewhere_are_kept(
    run: Callable[..., Any],
    heart_files: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, table = heart_files("--model", "nb"), heart_files()
    held, free = tmp_path / "scored.csv", tmp_path / "free.csv"
    held.write_text("old")
    replace = Path.replace

    def refuse(source: Path, target: Path) -> Path:
        if target == held:
            raise PermissionError(errno.EACCES, "Access is denied", str(source))
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(files, "_PAUSES", (0,))
    code, _, err = run("predict", model, table, "-o", held)
    assert code == 2
    assert f"cannot replace {held}: it is open in another program" in err
    assert f"the result is in {tmp_path / 'scored.new.csv'}" in err
    assert err.count("\n") == 1
    assert run("predict", model, table, "-o", free).code == 0
    assert (tmp_path / "scored.new.csv").read_bytes() == free.read_bytes()
    assert held.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 3


def test_a_file_that_is_open_elsewhere_is_refused_before_the_table_is_read(
    run: Callable[..., Any],
    heart_files: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = tmp_path / "scored.csv"
    held.write_text("old")
    monkeypatch.setattr(atomic, "_is_protected", lambda path: path == held)
    code, _, err = run("predict", heart_files("--model", "nb"), "none.csv", "-o", held)
    assert code == 2
    assert f"cannot replace {held}: it is open in another program" in err
