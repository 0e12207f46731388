"""Valid calls of what compiled junction trees are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


def known(rng: np.random.Generator) -> Arguments:
    return [0, int(rng.integers(300)), 1, -1], [rng.random(3)]


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {"Known": known}
