"""A table whose names and values would do harm in a page that did not escape them."""

from __future__ import annotations

import numpy as np
import pandas as pd

NAMES = (
    "<script>window.harm = 1</script>",
    "\"><img src=x onerror='window.harm = 2'>",
    "</style></title><svg onload=window.harm=3>",
    "back\\slash {{ 7 * 7 }} {% raw %} ${harm}",
    "\u05e9\u05dc\u05d5\u05dd \u202eevil",
    "nul\x00 and \x1b[31m",
    "long " + "x" * 10_000,
    "]]><!--",
    "http://example.invalid/a.js",
)
VALUES = (
    "<script>window.harm = 4</script>",
    "' onmouseover='window.harm = 5",
    "&lt;b&gt; --> </table>",
    "\u0645\u0631\u062d\u0628\u0627",
    "v" * 10_000,
)
TARGET = '<b>class</b>" onload="window.harm=6'
CLASSES = ("<script>alert(1)</script>", "no\x00 & </script>")


def hostile_table(n_rows: int = 240) -> pd.DataFrame:
    """Rows in which every name and value is hostile and some cells are missing."""
    rng = np.random.default_rng(7)
    label = rng.integers(0, 2, n_rows)
    columns = {}
    for place, name in enumerate(NAMES):
        noise = rng.random(n_rows) < 0.3 + 0.05 * place
        codes = np.where(noise, rng.integers(0, len(VALUES), n_rows), label)
        cells = np.array(VALUES, dtype=object)[codes]
        cells[rng.random(n_rows) < 0.02] = None
        columns[name] = cells
    columns[TARGET] = np.array(CLASSES, dtype=object)[label]
    return pd.DataFrame(columns)
