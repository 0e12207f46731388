"""Objects of the native core that live across calls."""

from __future__ import annotations

import ctypes
from typing import NoReturn

from bayleaf.native.library import POINTER, Function, library

_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, POINTER, ctypes.c_char_p, POINTER)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class Handle:
    """An object of the native core, freed with this one.

    Never changed once it is made, so that threads may share it and a forked process may
    go on using its copy.

    Parameters
    ----------
    make : Function
        Makes the object; its last parameter takes the address.
    free : str
        Name of the function that frees it, the destructor of a capsule.
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
        # Freed without a step of Python's, in which Ctrl-C would be heard and lost.
        destructor = ctypes.cast(library()[free], POINTER)
        self._capsule = _new_capsule(self.address, None, destructor)

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled; make it anew")
