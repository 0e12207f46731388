"""Replace, lock and check files in the same way on every system and disk."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

# Seconds between attempts: virus scanners hold a new file open for about 0.1 s.
_PAUSES = (0.05, 0.1, 0.2, 0.4)
# Errors of disks, most of them on a network, that offer no locks.
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        """Lock an open file; PermissionError if another process holds the lock."""
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        """Lock an open file; BlockingIOError if another process holds the lock."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def replace_file(source: Path, target: Path) -> None:
    """Move a finished file to its target; keep it next to a target that is refused.

    PermissionError then names both; Windows refuses to replace files that are open.
    """
    try:
        _move(source, target)
    except PermissionError as error:
        try:
            result = _new_name(target)
            source.replace(result)
        except OSError:
            raise PermissionError(f"cannot write {target}: {error.strerror}") from error
        raise PermissionError(
            f"cannot replace {target}: it is open in another program or protected; "
            f"the result is in {result}, close the program and rename that file"
        ) from error


def _move(source: Path, target: Path) -> None:
    """Rename a file, in several attempts."""
    for pause in _PAUSES:
        with contextlib.suppress(PermissionError):
            source.replace(target)
            return
        time.sleep(pause)
    source.replace(target)


def _new_name(target: Path) -> Path:
    """Create an empty file whose name no other file has: scored.new.csv."""
    labels = itertools.chain(["new"], (f"new{n}" for n in itertools.count(2)))
    while True:
        result = target.with_name(f"{target.stem}.{next(labels)}{target.suffix}")
        with contextlib.suppress(FileExistsError):
            result.touch(exist_ok=False)
            return result


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file that exists only as long; BlockingIOError if it is held.

    A killed process leaves its file, but not its lock. A disk without locks gives a
    warning.
    """
    handle = _locked_handle(path)
    try:
        yield
    finally:
        # Removed while it is locked, so that no other process can lock it in between;
        # Windows removes closed files only, and keeps one that another process opened.
        try:
            path.unlink()
        except OSError:
            os.close(handle)
            with contextlib.suppress(OSError):
                path.unlink()
        else:
            os.close(handle)


def _locked_handle(path: Path) -> int:
    """Open and lock a file; again if its last holder removed it in between."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            has_locks = _try_lock(handle)
        except OSError:
            os.close(handle)
            raise
        if not has_locks:
            warnings.warn(
                f"the disk of {path.parent} has no locks; let only one process at a "
                "time write there",
                stacklevel=2,
            )
            return handle
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        os.close(handle)


def _try_lock(handle: int) -> bool:
    """Lock an open file; False if its disk has no locks."""
    try:
        _lock(handle)
    except PermissionError as error:
        raise BlockingIOError(*error.args) from error
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return False
        raise
    return True
