"""Numba's compiler with the settings of this library."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile a function for speed, without the interpreter's lock.

    Compiled code is cached beside the source or in the user's cache folder; where
    neither can be written, the function is compiled anew in each process.
    """
    try:
        kernel = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        # "no locator available": no folder for the cache can be written.
        kernel = numba.njit(nogil=True)(function)
    return kernel  # type: ignore[return-value]
