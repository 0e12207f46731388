"""A table whose names move cursors, and every command's output on a terminal."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

HOSTILE = (
    "a\x1b[31mred", "b\x07bell", "c\rback", "d\u202eturned", "e\u2066f", "g\x9bh",
    "i\nline", "j\u2028k", "l\x00m", "n\u200fo", "p\x1b]0;title\x07q", "r\x08s",
)  # fmt: skip


def write_table(path: Path, seed: int = 0) -> None:
    """A Parquet file with hostile names of columns, values and classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(HOSTILE[:2], 80)
    columns = {
        name: np.where(rng.random(80) < 0.7, np.where(y == y[0], *HOSTILE[2:4]), value)
        for name, value in zip(HOSTILE[2:], HOSTILE[::-1], strict=False)
    }
    table = pd.DataFrame(
        {**columns, "number\x1b[2J": rng.normal(size=80), HOSTILE[6]: y}
    )
    table.to_parquet(path)


def on_terminal(words: list[str], folder: Path) -> str:
    """What a command writes to a terminal, standard error included."""
    master, slave = os.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "bayleaf", *words],
        stdin=slave, stdout=slave, stderr=slave, cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(slave)
    found = b""
    with contextlib.suppress(OSError):
        # The end of a terminal is an error.
        while piece := os.read(master, 65536):
            found += piece
    program.wait()
    os.close(master)
    return found.decode("utf-8", "replace").replace("\r\n", "\n")
