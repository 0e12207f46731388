"""How far long work has come, and how long the rest will take."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

_LOGGER = logging.getLogger("bayleaf")
_MINUTE, _HOUR = 60.0, 3600.0


class Pace:
    """Tells of work that goes in steps of about the same length.

    Parameters
    ----------
    n_steps : int
        Number of steps.
    tell : callable, optional
        Gets a line of text at the beginning of each step; the logger "bayleaf" gets it
        too.
    """

    def __init__(self, n_steps: int, tell: Callable[[str], None] | None) -> None:
        self._n_steps, self._tell = n_steps, tell
        self._n_done = 0
        self._start = time.perf_counter()

    def step(self, what: str) -> None:
        """Begin a step: what it is, the share of steps done, and the time left."""
        line = what
        if self._n_done:
            passed = time.perf_counter() - self._start
            left = passed / self._n_done * (self._n_steps - self._n_done)
            share = 100 * self._n_done // self._n_steps
            line = f"{what} ({share} %, {in_words(left)} left)"
        self._n_done += 1
        _LOGGER.info("%s", line)
        if self._tell is not None:
            self._tell(line)


def in_words(seconds: float) -> str:
    """A time to wait, roughly."""
    if seconds < _MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < _HOUR:
        return f"{round(seconds / _MINUTE)} min"
    return f"{seconds / _HOUR:.1f} h"
