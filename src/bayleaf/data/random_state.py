"""Where random numbers come from."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from bayleaf.wording import quoted

RandomState = int | np.random.Generator | np.random.RandomState | None


def random_generator(random_state: Any) -> np.random.Generator:
    """The generator that a `random_state` stands for; ValueError for other types.

    A generator is used as it is, a RandomState seeds a new one; both move on.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, 4, np.uint64))
    whole = isinstance(random_state, numbers.Integral) and int(random_state) >= 0
    if random_state is None or whole or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    raise ValueError(
        "random_state must be None, an integer of at least 0, a "
        f"numpy.random.Generator or a numpy.random.RandomState, got "
        f"{quoted(random_state)}"
    )
