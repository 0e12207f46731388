"""Noisy OR and MAX as the tables that they mean."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray


def noisy_max_table(
    effects: Sequence[NDArray[np.float64]], leak: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The table of the most severe of independent effects, shape (*parents, states).

    `effects` has one array (parent's states, states) per parent, `leak` is (states,);
    the first state is the most severe. The effect is at most as severe as a state if
    all are (Diez 1993, eq. 20), so that cumulative sums multiply.
    """
    at_most = [np.cumsum(part[..., ::-1], axis=-1) for part in (*effects, leak)]
    both = reduce(lambda a, b: a[..., None, :] * b, at_most)
    # The leak has no axis of a parent.
    cumulative = both[..., 0, :] if effects else both
    return np.diff(cumulative, axis=-1, prepend=0.0)[..., ::-1]
