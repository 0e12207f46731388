"""A file appears whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bayleaf.io.atomic import check_writable, replacing


def test_a_file_appears_when_all_is_written(tmp_path: Path) -> None:
    target = tmp_path / "new.txt"
    with replacing(target) as temporary:
        temporary.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [target]


def test_an_older_file_stays_if_writing_fails(tmp_path: Path) -> None:
    target = tmp_path / "old.txt"
    target.write_text("old")
    with pytest.raises(TypeError), replacing(target) as temporary:
        temporary.write_text(b"no text")  # type: ignore[arg-type]
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_interruption_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "new.txt"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with replacing(tmp_path / "new") as temporary:
        temporary.touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_older_file_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "old.txt"
    target.touch()
    target.chmod(0o640)
    with replacing(target) as temporary:
        temporary.touch()
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_folder_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=r"cannot write .*: it is a folder"):
        check_writable(tmp_path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"the folder .*gone does not exist"):
        check_writable(tmp_path / "gone" / "file")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs file modes")
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match=r"the folder .* may not be written"):
            check_writable(tmp_path / "file")
    finally:
        tmp_path.chmod(0o700)


def test_a_name_that_is_too_long_is_told(tmp_path: Path) -> None:
    target = tmp_path / ("x" * 300)
    with pytest.raises(OSError, match="File name too long"), replacing(target):
        pass
