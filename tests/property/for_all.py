"""Properties checked on few random examples in each run, on many in the slow suite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings


def for_all(
    *strategies: Any, quick: int, slow: int, **named: Any
) -> Callable[[Callable[..., None]], Callable[[int], None]]:
    """Make a check of random examples a test; `quick` and `slow` number the examples.

    Strategies are those of `hypothesis.given`.
    """

    def make(check: Callable[..., None]) -> Callable[[int], None]:
        few, many = quick, pytest.param(slow, marks=pytest.mark.slow)

        @pytest.mark.parametrize("n_examples", [few, many])
        def test(n_examples: int) -> None:
            limited = settings(deadline=None, max_examples=n_examples)
            limited(given(*strategies, **named)(check))()

        test.__name__, test.__qualname__ = check.__name__, check.__qualname__
        test.__module__, test.__doc__ = check.__module__, check.__doc__
        return test

    return make
