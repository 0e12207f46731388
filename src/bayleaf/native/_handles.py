"""Objects of the native core that live across calls."""

from __future__ import annotations

import ctypes
import weakref
from typing import NoReturn

from bayleaf.native.library import POINTER, Function, library


class Handle:
    """An object of the native core, freed with this one.

    Never changed once it is made, so that threads may share it and a forked process may
    go on using its copy.

    Parameters
    ----------
    make : Function
        Makes the object; its last parameter takes the address.
    free : str
        Name of the function that frees it.
    *arguments : int or float or None
        What `make` takes before.

    Attributes
    ----------
    address : int
        Where the object lies.
    """

    def __init__(
        self, make: Function, free: str, *arguments: int | float | None
    ) -> None:
        made = ctypes.c_void_p()
        make(*arguments, ctypes.addressof(made))
        assert made.value is not None
        self.address = made.value
        call = library()[free]
        call.argtypes, call.restype = (POINTER,), None
        # What a process holds when it ends goes with it.
        weakref.finalize(self, call, self.address).atexit = False

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled; make it anew")
