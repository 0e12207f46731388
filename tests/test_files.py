"""Locks hold between processes, end with them, and leave no file behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from bayleaf import files
from bayleaf.files import locked


def test_a_lock_is_held_once_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path), pytest.raises(BlockingIOError), locked(path):
        pass
    assert not path.exists()
    with locked(path):
        assert path.exists()


def test_the_file_of_a_killed_process_is_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with locked(path), pytest.raises(BlockingIOError), locked(path):
        pass
    assert not path.exists()


def test_a_lock_that_was_removed_in_between_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lock, calls = tmp_path / "lock", files._lock, []

    def lock_late(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 1:
            # The holder removes its file after this process opened it.
            path.unlink()
        lock(handle)

    monkeypatch.setattr(files, "_lock", lock_late)
    with locked(path), pytest.raises(BlockingIOError), locked(path):
        pass
    assert len(calls) == 3


def test_a_disk_without_locks_gives_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def has_none(handle: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(files, "_lock", has_none)
    with pytest.warns(UserWarning, match="has no locks; let only one"):  # noqa: SIM117
        with locked(tmp_path / "lock"):
            pass
    assert not list(tmp_path.iterdir())

    def fails(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(files, "_lock", fails)
    with pytest.raises(OSError, match="Input/output"), locked(tmp_path / "lock"):
        pass


def test_windows_locks_a_byte_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: set[tuple[int, int]] = set()

    def locking(handle: int, mode: int, n_bytes: int) -> None:
        facts = os.fstat(handle)
        if (facts.st_dev, facts.st_ino) in held:
            raise PermissionError(errno.EACCES, "Permission denied")
        assert (mode, n_bytes) == (2, 1)
        held.add((facts.st_dev, facts.st_ino))

    simulated = SimpleNamespace(locking=locking, LK_NBLCK=2)
    monkeypatch.setitem(sys.modules, "msvcrt", simulated)  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "platform", "win32")
    module: Any = ModuleType("files_of_windows")
    exec(Path(files.__file__).read_text("utf-8"), module.__dict__)
    path = tmp_path / "lock"
    with (
        module.locked(path),
        pytest.raises(BlockingIOError),
        module.locked(path),
    ):
        pass


@pytest.mark.slow
def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from bayleaf.files import locked\n"
        "with locked(Path(sys.argv[1])):\n"
        "    print('locked', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", program, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        with pytest.raises(BlockingIOError), locked(path):
            pass
        running.kill()
    assert path.exists()
    with locked(path):
        pass
    assert not path.exists()
