"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TextIO

from bayleaf.files import replace_file
from bayleaf.progress import Work
from bayleaf.wording import size_text

# The name of the temporary file, too, may have no more than 255 bytes.
_MAX_OF_NAME = 40
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
# Names of temporary files.
_PARTIAL = re.compile(rf"\..{{1,{_MAX_OF_NAME}}}\.[0-9a-f]{{8}}\.part", re.DOTALL)
# What the files that are written are added to, if anything.
_written: ContextVar[list[Path] | None] = ContextVar("written", default=None)


@contextlib.contextmanager
def written_files(files: list[Path]) -> Iterator[None]:
    """Add the paths of files that a block writes to a list."""
    former = _written.set(files)
    try:
        yield
    finally:
        _written.reset(former)


@contextlib.contextmanager
def replacing(
    path: str | Path, *, remedy: str = "make room and run it again"
) -> Iterator[Path]:
    """Give a temporary path that takes the place of `path` when the block succeeds.

    If the block raises or the program is interrupted, an older file stays as it was.
    OSError if the folder does not exist or cannot be written, or, with a `remedy`, if
    the disk is full.
    """
    check_writable(path)
    target = Path(path)
    with _naming(target, remedy):
        if target.exists() and not target.is_file():
            # A device or pipe, such as /dev/null, has no older content to keep.
            yield target
            return
        with _temporary(target) as temporary:
            yield temporary
    files = _written.get()
    if files is not None:
        files.append(target)


@contextlib.contextmanager
def _naming(target: Path, remedy: str) -> Iterator[None]:
    """Name the file, once, in the error of a disk that is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise OSError(
            f"cannot write {target}: the disk has no room; {remedy}"
        ) from error


@contextlib.contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """A file that takes the place of another; see `replacing`."""
    # A link stays a link: what it points to is replaced.
    target = target.resolve()
    check_writable(target)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary = target.with_name(
        f".{target.name[:_MAX_OF_NAME]}.{secrets.token_hex(4)}.part"
    )
    try:
        # Others can read it only once it has the mode of the file that it replaces.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        os.close(os.open(temporary, flags, 0o666 if mode is None else 0o600))
    except OSError as error:
        if error.errno in _FULL:
            raise
        raise OSError(f"cannot write {target}: {error.strerror}") from error
    try:
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        replace_file(temporary, target)
    finally:
        # A file that is still open after an error cannot be removed on Windows.
        with contextlib.suppress(OSError):
            temporary.unlink()


def is_partial(path: Path) -> bool:
    """Whether a file is one that `replacing` began, as killed programs leave it."""
    return _PARTIAL.fullmatch(path.name) is not None


@contextlib.contextmanager
def text_file(
    path: str | Path, encoding: str = "utf-8", errors: str = "strict"
) -> Iterator[TextIO]:
    """Give a text to write to, in the manner of `replacing`; its lines end in LF."""
    with (
        replacing(path) as temporary,
        temporary.open("w", encoding=encoding, errors=errors, newline="\n") as file,
    ):
        yield file


def write_text(
    path: str | Path, text: str, encoding: str = "utf-8", errors: str = "strict"
) -> None:
    """Write a text file whole or not at all; its lines end in LF."""
    with text_file(path, encoding, errors) as file:
        file.write(text)


def write_export(path: str | Path, text: str, errors: str = "strict") -> None:
    """Write a text file, and report its size before; see `write_text`."""
    report_size(path, len(text))
    write_text(path, text, errors=errors)


def report_size(path: str | Path, n_bytes: int) -> None:
    """Report how large a file is that is going to be written."""
    Work().step(f"writing {Path(path).name}, {size_text(n_bytes)}")


def check_writable(path: str | Path) -> None:
    """Raise OSError early, before work goes into it, if a file cannot be written.

    That is: the path is a folder, a link to itself or a file that cannot be replaced,
    or its folder is missing or may not be written.
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
        file = next((folder for folder in target.parents if folder.is_file()), None)
        if file is not None:
            raise NotADirectoryError(f"cannot write {target}: {file} is not a folder")
        raise FileNotFoundError(
            f"cannot write {target}: the folder {target.parent} does not exist"
        )
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(
            f"cannot write {target}: the folder {target.parent} may not be written"
        )
    if target.is_file() and _is_protected(target):
        raise PermissionError(
            f"cannot replace {target}: it is open in another program or protected; "
            "close that program, or name another file"
        )


def _is_protected(target: Path) -> bool:
    """Whether replacing a file would fail; a mode without writing protects no file."""
    if sys.platform == "win32":
        # An open file cannot be replaced there.
        try:
            with target.open("r+b"):
                return False
        except PermissionError:
            return True
    facts, folder = target.stat(), target.parent.stat()
    # The file systems of macOS and BSD know files that not even root may change.
    if getattr(facts, "st_flags", 0) & (stat.UF_IMMUTABLE | stat.SF_IMMUTABLE):
        return True
    # In folders such as /tmp, users replace their own files alone.
    owners = (0, facts.st_uid, folder.st_uid)
    return bool(folder.st_mode & stat.S_ISVTX) and os.geteuid() not in owners
