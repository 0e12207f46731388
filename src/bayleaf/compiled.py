"""Numba's compiler with the settings of this library."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])

# What lets a sum run in vectors; NaN and infinity keep their meaning.
_ANY_ORDER = {"reassoc", "contract", "nsz"}


def compiled(function: F) -> F:
    """Compile a function for speed, without the interpreter's lock.

    Compiled code is cached beside the source or in the user's cache folder; where
    neither can be written, the function is compiled anew in each process.
    """
    return _compiled(function)


def compiled_sums(function: F) -> F:
    """Compile a function whose floating-point sums may be added in any order.

    The order depends on the processor alone, neither on threads nor on chance.
    """
    return _compiled(function, fastmath=_ANY_ORDER)


def _compiled(function: F, **settings: Any) -> F:
    """Compile with numba, cached where possible."""
    compiler = partial(numba.njit, nogil=True, **settings)
    try:
        kernel = compiler(cache=True)(function)
    except RuntimeError:
        # "no locator available": no folder for the cache can be written.
        kernel = compiler()(function)
    return kernel  # type: ignore[return-value]
