"""Windows, as far as a process on Linux can be made to look like it.

`install` changes the process that calls it, so it is called in a new one, before
bayleaf is imported. What the project asks of Python then answers as on Windows:

- modules and functions of Unix do not exist (`ABSENT_MODULES`, `ABSENT_NAMES`), and
  processes can only be spawned;
- a file that is open or memory-mapped, a folder with such a file and a read-only file
  cannot be replaced, renamed or removed, and a mapped one not be emptied;
- names that Windows refuses cannot be given to files; folders cannot be opened, and
  links not be made;
- texts are written with CR LF, in cp1252 unless an encoding is named. The project must
  name one, and is stopped where it does not.

Other libraries have versions for Windows. They find their modules of Unix, so that what
they do here stands for what those do there; the native core is that of Linux.

Not simulated: paths with drives and backslashes, names whose case does not matter,
files that Arrow opens (their names are checked by `check_names` afterwards), files that
are open in other processes, the console, Ctrl-C, times of change in steps of 100 ns,
the length of paths.
"""

from __future__ import annotations

import builtins
import errno
import importlib.util
import io
import locale
import multiprocessing
import multiprocessing.context
import os
import shutil
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

_MODULES = """
_posixsubprocess crypt curses fcntl grp posix pty pwd readline resource spwd syslog
termios tty
"""
# Of os, signal, socket, sys and time.
_NAMES = """
AF_UNIX O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK SIGALRM SIGCHLD SIGCONT SIGHUP
SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGUSR1 SIGUSR2 WNOHANG alarm chown fchmod fchown fork
forkpty getegid geteuid getgid getloadavg getpgid getuid killpg lchown major minor
mkfifo mknod nice openpty posix_fallocate posix_spawn pread pthread_kill
pthread_sigmask pwrite register_at_fork sched_getaffinity sched_setaffinity sendfile
setitimer setpgid setsid setuid sigwait statvfs sysconf tzset uname
"""
ABSENT_MODULES, ABSENT_NAMES = frozenset(_MODULES.split()), frozenset(_NAMES.split())
ENCODING = "cp1252"
# What the project finds otherwise, by module.
CHANGED = {
    "os": {"name": "nt", "linesep": "\r\n"},
    "sys": {"platform": "win32"},
}
# Loads the core that was built for this system.
_EXCEPTED = frozenset({"bayleaf.native.library"})
_RESERVED = frozenset(
    ["CON", "PRN", "AUX", "NUL"]
    + [f"{n}{i}" for n in ("COM", "LPT") for i in range(1, 10)]
)
# The project, and programs that use it.
_PROJECT = frozenset({"bayleaf", "__main__", "__mp_main__"})
# Callers of open() that stand between a program and its file.
_BETWEEN = frozenset({"pathlib", __name__})
_SPECIAL = ABSENT_NAMES.union(*CHANGED.values())
_frame = sys._getframe
_plain_open = io.open
_plain_import = builtins.__import__
_plain_find_spec = importlib.util.find_spec


def install() -> None:
    """Make this process look like one on Windows; there is no way back."""
    for module in (os, signal, socket, sys, time):
        module.__class__ = _Hiding
    builtins.__import__ = _import
    importlib.util.find_spec = _find_spec
    io.open = builtins.open = _open  # type: ignore[assignment]
    locale.getpreferredencoding = lambda do_setlocale=True: ENCODING
    # Windows removes a tree by paths, not by open folders.
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    shutil._USE_CP_SENDFILE = False  # type: ignore[attr-defined]
    contexts = multiprocessing.context._concrete_contexts  # type: ignore[attr-defined]
    for name in ("fork", "forkserver"):
        contexts.pop(name, None)
    multiprocessing.set_start_method("spawn", force=True)
    sys.addaudithook(_audit)


def piped_streams(content: bytes = b"") -> tuple[io.TextIOWrapper, ...]:
    """Standard input of some content, output and error, as in a pipe of Windows."""
    return (
        io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)), ENCODING),  # type: ignore[arg-type]
        io.TextIOWrapper(io.BytesIO(), ENCODING, "strict", newline="\r\n"),
        io.TextIOWrapper(io.BytesIO(), ENCODING, "backslashreplace", newline="\r\n"),
    )


def check_names(folder: Path) -> None:
    """Raise OSError if Windows could not hold the files and folders of a folder."""
    for place, folders, files in os.walk(folder):
        names = [*folders, *files]
        for name in names:
            _check_name(os.path.join(place, name))
        assert len({name.casefold() for name in names}) == len(names), names


class _Hiding(ModuleType):
    """A module in which the project does not find what Windows lacks."""

    def __getattribute__(self, name: str) -> Any:
        if name in _SPECIAL and _is_project(_frame(1).f_globals):
            own = super().__getattribute__("__name__")
            if name in ABSENT_NAMES:
                raise AttributeError(f"module {own!r} has no attribute {name!r}")
            return CHANGED.get(own, {}).get(name) or super().__getattribute__(name)
        return super().__getattribute__(name)


def _is_project(namespace: Any) -> bool:
    """Whether code with these globals is the project's, or a program that uses it."""
    name = str((namespace or {}).get("__name__"))
    return name.split(".")[0] in _PROJECT and name not in _EXCEPTED


def _import(name: str, namespace: Any = None, *more: Any, **named: Any) -> Any:
    """Import a module, unless the project asks for one that Windows lacks."""
    if name == "msvcrt" and _is_project(namespace):
        return _MSVCRT
    if name.split(".")[0] in ABSENT_MODULES and _is_project(namespace):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return _plain_import(name, namespace, *more, **named)


def _locking(handle: int, mode: int, n_bytes: int) -> None:
    """Lock an open file, which fails if another process has locked it."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise PermissionError(errno.EACCES, "Permission denied") from error


_MSVCRT = SimpleNamespace(LK_NBLCK=2, locking=_locking)


def _find_spec(name: str, package: str | None = None) -> Any:
    """Find a module that Windows has."""
    return None if name in ABSENT_MODULES else _plain_find_spec(name, package)


def _open(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Callable[..., int] | None = None,
) -> Any:
    """Open a file: texts in cp1252 with CR LF, where nothing else is asked for."""
    caller = _caller()
    if _is_project(caller) and str(file).startswith(("/proc/", "/sys/")):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(file))
    if "b" not in mode:
        if encoding in {None, "locale"}:
            if str(caller.get("__name__")).startswith("bayleaf"):
                raise UnicodeError(f"{file} is opened without an encoding")
            encoding = ENCODING
        if newline is None and "r" not in mode and "+" not in mode:
            newline = "\r\n"
    return _plain_open(
        file, mode, buffering, encoding, errors, newline, closefd, opener
    )


def _caller() -> dict[str, Any]:
    """The globals of the function that opens a file, by `pathlib` or itself."""
    frame: FrameType | None = _frame(2)
    while frame and frame.f_globals.get("__name__") in _BETWEEN:
        frame = frame.f_back
    return frame.f_globals if frame else {}


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse what Windows refuses, whoever asks for it."""
    check = _CHECKS.get(event)
    if check is not None:
        check(*arguments)


def _check_open(path: Any, mode: str | None, flags: int) -> None:
    """No folder is opened, no refused name given, no mapped file emptied."""
    if not isinstance(path, str | bytes | os.PathLike):
        return
    text = os.fsdecode(path)
    if os.path.isdir(text):
        raise _denied(text, 5)
    if not os.path.exists(text):
        _check_name(text)
    elif flags & (os.O_WRONLY | os.O_RDWR) and _is_read_only(text):
        raise _denied(text, 5)
    if flags & os.O_TRUNC and os.path.realpath(text) in _mapped_paths():
        raise _denied(text, 1224)


def _check_rename(source: Any, target: Any, *_: object) -> None:
    """Neither file is in use, and the other has a name that can be given."""
    _check_name(os.fsdecode(target))
    if os.path.isdir(target):
        raise _denied(os.fsdecode(target), 5)
    for path in (source, target):
        _check_free(path)


def _check_free(path: Any, *_: object) -> None:
    """A file or folder is not read-only, and nothing of it is in use."""
    if not os.path.lexists(path):
        return
    own = os.path.realpath(os.fsdecode(path))
    if _is_read_only(own):
        raise _denied(own, 5)
    inside = os.path.join(own, "")
    for other in _open_paths() | _mapped_paths() | {os.getcwd()}:
        if other == own or other.startswith(inside):
            raise _denied(own, 32)


def _is_read_only(path: str) -> bool:
    """Whether a file has Windows' attribute of that name."""
    return os.path.isfile(path) and not os.stat(path).st_mode & stat.S_IWRITE


def _check_new_folder(path: Any, *_: object) -> None:
    """A new folder has a name that can be given."""
    _check_name(os.fsdecode(path))


def _refuse_link(source: Any, target: Any, *_: object) -> None:
    """Links need a privilege."""
    raise _denied(os.fsdecode(target), 1314)


_CHECKS: dict[str, Callable[..., None]] = {
    "open": _check_open,
    "os.mkdir": _check_new_folder,
    "os.remove": _check_free,
    "os.rename": _check_rename,
    "os.rmdir": _check_free,
    "os.symlink": _refuse_link,
}


def _check_name(path: str) -> None:
    """Raise OSError if Windows could not name a file so."""
    name = os.path.basename(path.rstrip("/"))
    refused = set('<>:"|?*\\') | {chr(i) for i in range(32)}
    is_bad = (
        not refused.isdisjoint(name)
        or (name[-1:] in {".", " "} and name not in {".", ".."})
        or name.split(".")[0].strip().upper() in _RESERVED
    )
    if is_bad:
        raise OSError(errno.EINVAL, "Invalid argument", path)


def _open_paths() -> set[str]:
    """Real paths of the files that this process has open."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:
            # The one that listed them.
            continue
    return found


def _mapped_paths() -> set[str]:
    """Real paths of the files that are mapped into memory."""
    with _plain_open("/proc/self/maps", encoding="utf-8") as lines:
        fields = [line.rstrip("\n").split(maxsplit=5) for line in lines]
    return {each[5] for each in fields if len(each) == 6}


def _denied(path: str, number: int) -> PermissionError:
    """The error of Windows, with its number."""
    error = PermissionError(
        errno.EACCES, "The process cannot access the file: it is in use or protected"
    )
    error.filename = path
    error.winerror = number  # type: ignore[attr-defined]
    return error
