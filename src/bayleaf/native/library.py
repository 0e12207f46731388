"""The shared library of the native core: which is loaded, and how calls end.

The same sources are built once for each instruction set. Every build gives the same
bits, because products and sums are neither fused nor reordered.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

import bayleaf.native

# Instruction sets, the lowest first; those beyond the first exist on x86-64 only.
LEVELS = ("baseline", "avx2", "avx512")
# With checks of every access to memory, see `make sanitize`; loaded only when it is
# asked for.
_SANITIZED = "sanitized"
_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
# Ends of a call, as in src/native/support/interface.h.
_INTERRUPTED, _NO_MEMORY = 2, 3

POINTER = ctypes.c_void_p
INTEGER = ctypes.c_int64
FLAG = ctypes.c_bool
REAL = ctypes.c_double


class NativeCoreError(ImportError):
    """The native core is missing, or cannot be loaded as was asked."""


def _path(level: str) -> Path | None:
    """The file of a level, or None if this installation has none."""
    # An editable installation spreads the package over two folders.
    files = [
        Path(folder, f"core_{level}{_SUFFIX}") for folder in bayleaf.native.__path__
    ]
    return next((file for file in files if file.is_file()), None)


def _open(level: str) -> ctypes.CDLL:
    """Load the library of one level.

    Raises
    ------
    NativeCoreError
        If it is missing or is built for another kind of machine.
    """
    path = _path(level)
    if path is None:
        raise NativeCoreError(
            f"bayleaf's native core {f'core_{level}{_SUFFIX}'!r} is missing; install "
            "bayleaf with `pip install .` or `make`, which build it"
        )
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise NativeCoreError(
            f"bayleaf's native core {str(path)!r} cannot be loaded ({error}); it was "
            "built for another machine: install bayleaf anew"
        ) from error


def _chosen_level(best: str) -> str:
    """The level to load: the best that is built and runs here, or what is asked for.

    Raises
    ------
    NativeCoreError
        If the environment variable BAYLEAF_SIMD names no level, or one that this
        processor or this installation lacks.
    """
    runnable = LEVELS[: LEVELS.index(best) + 1]
    built = [level for level in runnable if _path(level) is not None]
    asked = os.environ.get("BAYLEAF_SIMD", "")
    if not asked:
        return built[-1]
    if asked == _SANITIZED and _path(asked) is not None:
        return asked
    if asked not in built:
        raise NativeCoreError(
            f"BAYLEAF_SIMD={asked!r} is no instruction set that runs here; use one of "
            f"{', '.join(built)}, or leave it unset"
        )
    return asked


def _connect(core: ctypes.CDLL) -> None:
    """Let long loops ask Python for signals."""
    names = (
        "PyGILState_Ensure",
        "PyGILState_Release",
        "PyErr_CheckSignals",
        "PyErr_Fetch",
        "PyCapsule_GetPointer",
    )
    addresses = [
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in names
    ]
    core.bl_connect.argtypes = (POINTER,) * len(names)
    core.bl_connect.restype = None
    core.bl_connect(*addresses)
    core.bl_error.restype = ctypes.c_char_p
    core.bl_take_raised.argtypes = (POINTER,)
    core.bl_take_raised.restype = None
    core.bl_watch.argtypes = (POINTER,)
    core.bl_watch.restype = None


@cache
def library() -> ctypes.CDLL:
    """The library of the best instruction set that the processor has, loaded once.

    Raises
    ------
    NativeCoreError
        If it is missing, cannot be loaded, or BAYLEAF_SIMD asks for one that does not
        run here.
    """
    core = _open("baseline")
    core.bl_best_level.restype = ctypes.c_char_p
    level = _chosen_level(core.bl_best_level().decode())
    if level != "baseline":
        core = _open(level)
    core.bl_level.restype = ctypes.c_char_p
    _connect(core)
    return core


def level() -> str:
    """Name of the instruction set in use, one of `LEVELS`."""
    name: str = library().bl_level().decode()
    return name


class Function:
    """One function of the library, which raises what goes wrong inside it.

    Parameters
    ----------
    name : str
        Its name in the C interface.
    *kinds : type
        Types of its parameters: POINTER, INTEGER, FLAG or REAL.
    """

    __slots__ = ("_call", "_kinds", "_name")

    def __init__(self, name: str, *kinds: type) -> None:
        self._name, self._kinds = name, kinds
        self._call: ctypes._NamedFuncPointer | None = None

    def __call__(self, *arguments: int | float | None) -> None:
        """Call it; raises what `_raise` makes of a status other than zero."""
        call = self._call
        if call is None:
            # Loaded at the first call, so that importing costs nothing.
            call = library()[self._name]
            call.argtypes, call.restype = self._kinds, ctypes.c_int32
            self._call = call
        status = call(*arguments)
        if status:
            _raise(status)


def _raise(status: int) -> None:
    """Raise what a status stands for."""
    core = library()
    if status == _INTERRUPTED:
        error = (ctypes.c_void_p * 3)()
        core.bl_take_raised(error)
        if error[0]:
            restore = ctypes.pythonapi.PyErr_Restore
            restore.argtypes, restore.restype = (ctypes.c_void_p,) * 3, None
            # What a signal's handler raised goes on as if it had been raised here.
            restore(*error)
        raise KeyboardInterrupt
    if status == _NO_MEMORY:
        raise MemoryError("the native core could not get the memory it needs")
    raise ValueError(core.bl_error().decode("utf-8", "replace"))


def watch_flag(address: int | None) -> None:
    """Let this thread's loops stop once the int32 at an address is not zero.

    Parameters
    ----------
    address : int or None
        None ends it.
    """
    library().bl_watch(address)
