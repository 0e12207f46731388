"""Whether what work is about to allocate fits into the memory that is free."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bayleaf.wording import quoted

# Less than this is tried without a look: looking takes longer than it would save.
_WORTH_A_LOOK = 1 << 27
_MEBIBYTE = 1 << 20
# Limit, use and details of a control group, in the second version and in the first.
# psutil reports the machine's memory, whatever a control group allows.
_CONTROL_GROUPS = [
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
        "total_inactive_file",
    ),
]
_CONTROL_FOLDER = Path("/sys/fs/cgroup")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def size_in_bytes(size: str | int, name: str) -> int:
    """Bytes of a size such as ``2GB`` or ``512MiB``; a number is bytes already.

    ValueError names the parameter or option `name` if it is not a size above zero.
    """
    found = _SIZE.fullmatch(str(size))
    n_bytes = 0
    if found is not None and not isinstance(size, bool):
        unit = 1024 if found[3] else 1000
        n_bytes = int(float(found[1]) * unit ** _POWERS[found[2].lower()])
    if n_bytes < 1:
        raise ValueError(f"{name} must be a size such as 2GB, got {quoted(size)}")
    return n_bytes


def check_memory(needed: float, what: str, mend: str) -> None:
    """Refuse work that would need more memory than there is, before it begins.

    ValueError if fewer than `needed` bytes are free; it names `what` needs them and how
    to `mend` that. Nothing is refused where the free memory is unknown.
    """
    if needed < _WORTH_A_LOOK:
        return
    free = free_bytes()
    if free is not None and needed > free:
        raise ValueError(
            f"{what} would take about {_in_words(needed)} of memory, but "
            f"{_in_words(free)} are free; {mend}"
        )


class NotEnoughMemoryError(MemoryError):
    """Work needs more memory than there is; the message names a remedy."""


@contextmanager
def naming_remedy(what: str, mend: str) -> Iterator[None]:
    """Replace a MemoryError by one that names `what` needs memory and how to `mend` it.

    What NumPy and the native core raise names the last array at best. An error that
    names a remedy already passes.
    """
    try:
        yield
    except NotEnoughMemoryError:
        raise
    except MemoryError as error:
        raise NotEnoughMemoryError(
            f"{what} needs more memory than this process may take; {mend}"
        ) from error


def free_bytes() -> float | None:
    """Bytes that this process may still allocate; None where that is unknown.

    The least of what the system has free, what is left of the control group's share
    and of the process's limit of address space.
    """
    found = [
        free for free in (_of_system(), _of_control_group(), _of_process()) if free
    ]
    return min(found, default=None)


def _of_system() -> float | None:
    """What the system could give without writing memory to disk."""
    import psutil

    with suppress(OSError, psutil.Error):
        return float(psutil.virtual_memory().available)
    return None


def _of_control_group() -> float | None:
    """What a container may still take; file pages that can go count as free."""
    for *files, idle in _CONTROL_GROUPS:
        limit, used, details = (_lines(_CONTROL_FOLDER / name) for name in files)
        if limit and used and limit[0].isdigit():
            pages = dict(line.split()[:2] for line in details)
            kept = float(used[0]) - float(pages.get(idle, 0))
            return max(1.0, float(limit[0]) - kept)
    return None


def _of_process() -> float | None:
    """What a limit of address space leaves, as one set by ulimit -v."""
    if sys.platform == "win32":
        return None
    import resource

    import psutil

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    with suppress(OSError, psutil.Error):
        return max(1.0, float(limit - psutil.Process().memory_info().vms))
    return None


def _lines(path: Path) -> list[str]:
    """Lines of a file of the system; none if it is not there."""
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def _in_words(size: float) -> str:
    if size < 1024 * _MEBIBYTE:
        return f"{size / _MEBIBYTE:.0f} MiB"
    return f"{size / (1024 * _MEBIBYTE):.1f} GiB"
