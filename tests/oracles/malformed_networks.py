"""Malformed network files are refused in one sentence with the file and the line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bayleaf.io import NetworkFileError


def check_refused(
    read: Callable[[Path], object], path: Path, line: int | None, problem: str
) -> None:
    """Check that a file is refused; `problem` is a regular expression."""
    with pytest.raises(NetworkFileError, match=problem) as caught:
        read(path)
    message = str(caught.value)
    where = path.name if line is None else f"{path.name}, line {line}"
    assert message.startswith(f"{where}: ")
    assert "\n" not in message
    assert len(message) <= 300
