"""A file appears whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bayleaf import files
from bayleaf.io import atomic
from bayleaf.io.atomic import check_writable, replacing, write_text

Hold = Callable[..., list[float]]


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Hold:
    """Let other programs hold files open: these refuse some replacements."""

    def hold(*held: Path, times: float = float("inf")) -> list[float]:
        pauses: list[float] = []
        replace = Path.replace

        def refuse(source: Path, target: Path) -> Path:
            if target in held and len(pauses) < times:
                raise PermissionError(errno.EACCES, "Access is denied", str(source))
            return replace(source, target)

        monkeypatch.setattr(Path, "replace", refuse)
        monkeypatch.setattr(files.time, "sleep", pauses.append)
        return pauses

    return hold


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


def test_a_file_among_the_folders_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(OSError, match=r"cannot write .*o\.txt: .*f is not a folder"):
        check_writable(tmp_path / "f" / "inner" / "o.txt")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said_with_the_file(tmp_path: Path) -> None:
    os.symlink("/dev/full", tmp_path / "o.txt")
    with pytest.raises(
        OSError, match=r"^cannot write .*o\.txt: the disk has no room; "
    ):
        write_text(tmp_path / "o.txt", "text")


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


def test_a_target_that_is_held_for_a_moment_is_replaced(
    tmp_path: Path, hold: Hold
) -> None:
    target = tmp_path / "scored.csv"
    target.write_text("old")
    pauses = hold(target, times=2)
    write_text(target, "new")
    assert target.read_text() == "new"
    assert len(pauses) == 2
    assert list(tmp_path.iterdir()) == [target]


def test_work_for_a_target_that_is_held_stays_next_to_it(
    tmp_path: Path, hold: Hold
) -> None:
    target = tmp_path / "scored.csv"
    target.write_text("old")
    (tmp_path / "scored.new.csv").write_text("of the user")
    pauses = hold(target)
    with pytest.raises(PermissionError) as error:
        write_text(target, "work")
    assert str(error.value) == (
        f"cannot replace {target}: it is open in another program or protected; the "
        f"result is in {tmp_path / 'scored.new2.csv'}, close the program and rename "
        "that file"
    )
    assert 0.3 < sum(pauses) < 2
    contents = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert contents == {
        "scored.csv": "old",
        "scored.new.csv": "of the user",
        "scored.new2.csv": "work",
    }


def test_a_folder_that_refuses_every_name_is_reported(
    tmp_path: Path, hold: Hold
) -> None:
    hold(tmp_path / "out.txt", tmp_path / "out.new.txt")
    with pytest.raises(PermissionError, match=r"^cannot write .*out.txt: Access is"):
        write_text(tmp_path / "out.txt", "work")


@pytest.mark.skipif(os.name == "nt", reason="Windows protects read-only files")
def test_a_file_of_read_only_mode_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "old.txt"
    target.write_text("old")
    target.chmod(0o400)
    write_text(target, "new")
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o400


def test_on_windows_an_open_target_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "scored.csv"
    target.write_text("old")
    monkeypatch.setattr(sys, "platform", "win32")
    check_writable(target)

    def is_held(path: Path, *_: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", is_held)
    with pytest.raises(PermissionError, match=r"cannot replace .*scored.csv: it is op"):
        check_writable(target)
    check_writable(tmp_path / "new.csv")


@pytest.mark.skipif(os.name == "nt", reason="needs owners of files")
@pytest.mark.parametrize(
    ("folder_mode", "flags", "is_refused"),
    [
        (0o40777, 0, False),
        (0o41777, 0, True),
        (0o40777, stat.UF_IMMUTABLE, True),
    ],
)
def test_targets_that_only_others_may_replace_are_refused(
    folder_mode: int, flags: int, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    facts = SimpleNamespace(st_uid=7, st_flags=flags)
    folder = SimpleNamespace(st_uid=8, st_mode=folder_mode)
    target: Any = SimpleNamespace(
        stat=lambda: facts, parent=SimpleNamespace(stat=lambda: folder)
    )
    assert atomic._is_protected(target) == is_refused
