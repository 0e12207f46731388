"""The papers' tables, as they print them."""

from __future__ import annotations

import csv
from importlib.resources import files


def read_printed(name: str) -> list[dict[str, str]]:
    """Rows of a paper's printed table, by column name.

    `name` is the file's in this folder, without its suffix.
    """
    path = files(__package__) / f"{name}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
