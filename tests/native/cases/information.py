"""Valid calls of the native functions over counts of many pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]

# Where states begin, numbers of stored codes, of codes and of states, whether the
# variable is whole, and a sum: a whole variable, one with a missing state, and one of
# which all is stored.
VARIABLES = np.array(
    [[0, 2, 3, 3, 1, 5], [2, 2, 3, 2, 0, 0], [4, 3, 3, 2, 0, 0]], dtype=np.int64
)


def _pair_information(rng: np.random.Generator) -> Arguments:
    is_real = bool(rng.integers(2))
    stored = rng.integers(9, size=(2, 7, 7)).astype(np.float64 if is_real else np.int32)
    margins = rng.integers(30, 60, size=(2, 7)) * 1.0
    class_counts = np.array([150.0, 250.0])
    terms = rng.integers(100, size=50)
    information = np.zeros((6, 6))
    corner = (0, 0) if rng.integers(2) else (0, 3)
    return (
        *(stored, corner == (0, 0), class_counts, VARIABLES, VARIABLES.copy()),
        *(margins, margins.copy(), terms, 2.0**40, (0, 3), information, corner),
    )


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "pair_information": _pair_information
}
