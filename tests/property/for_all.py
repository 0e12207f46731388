"""Properties checked on few random examples in each run, on many in the long tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

QUIET = settings(deadline=None)
LONG = [pytest.mark.slow, pytest.mark.long]


def for_all(
    *strategies: Any, few: int, many: int, quiet: settings = QUIET, **named: Any
) -> Callable[[Callable[..., None]], Callable[[int], None]]:
    """Make a check of random examples a test; `few` and `many` number the examples.

    Strategies are those of `hypothesis.given`; `quiet` holds all other settings.
    """

    def make(check: Callable[..., None]) -> Callable[[int], None]:
        @pytest.mark.parametrize("n_examples", [few, pytest.param(many, marks=LONG)])
        def test(n_examples: int) -> None:
            limited = settings(quiet, max_examples=n_examples)
            limited(given(*strategies, **named)(check))()

        test.__name__, test.__qualname__ = check.__name__, check.__qualname__
        test.__module__, test.__doc__ = check.__module__, check.__doc__
        return test

    return make
