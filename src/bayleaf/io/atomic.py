"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

# The name of the temporary file, too, may have no more than 255 bytes.
_MOST_OF_A_NAME = 40


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary path that takes the place of `path` when the block succeeds.

    If the block raises or the program is interrupted, an older file stays as it was.

    Raises
    ------
    OSError
        If the folder does not exist or cannot be written.
    """
    check_writable(path)
    # A link stays a link: what it points to is replaced.
    target = Path(path).resolve()
    check_writable(target)
    if target.exists() and not target.is_file():
        # A device or pipe, such as /dev/null, has no older content to keep.
        yield target
        return
    try:
        handle, name = tempfile.mkstemp(
            dir=target.parent,
            prefix=f".{target.name[:_MOST_OF_A_NAME]}.",
            suffix=".part",
        )
    except OSError as error:
        raise OSError(f"cannot write {target}: {error.strerror}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files private; give the mode that open() would have given.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(target.stat().st_mode if target.exists() else 0o666 & ~mask)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: str | Path) -> None:
    """Raise early if a file can surely not be written, before work goes into it.

    Raises
    ------
    OSError
        If the path is a folder or a link to itself, or its folder is missing or may
        not be written.
    """
    target = Path(path)
    try:
        target.stat()
    except OSError as error:
        # A missing file is written; what a link that leads to itself names never is.
        if error.errno == errno.ELOOP:
            raise OSError(f"cannot write {target}: its link leads to itself") from error
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {target}: it is a folder")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {target}: the folder {target.parent} does not exist"
        )
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(
            f"cannot write {target}: the folder {target.parent} may not be written"
        )
