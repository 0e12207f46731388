"""The shared library of the native core: which is loaded, how calls end, its objects.

The same sources are built once per instruction set, or once for the processor of this
machine. Every build gives the same bits: products and sums are neither fused nor
reordered, and exponentials and logarithms are plain arithmetic.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import bayleaf.native

# Instruction sets, the lowest first; those beyond the first exist on x86-64 only.
LEVELS = ("baseline", "avx2", "avx512")
# With checks of every access to memory, see `make sanitize`; loaded only when it is
# asked for.
_SANITIZED = "sanitized"
_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
# What glibc, musl and macOS report of a library that another one needs.
_CANNOT_OPEN = re.compile(
    r"(\S+): cannot open shared object file|Error loading shared library (\S+):"
    r"|Library not loaded: (\S+)"
)
_FOREIGN = re.compile(
    "wrong ELF class|invalid ELF header|Exec format error|incompatible architecture"
)
_MODULE_NOT_FOUND, _BAD_FORMAT = 126, 193
# Functions of Python's that the core calls, in the order in which it is given them.
_ASKED = (
    *("PyGILState_Ensure", "PyGILState_Release", "PyErr_CheckSignals", "PyErr_Fetch"),
    "PyCapsule_GetPointer",
)
# Ends of a call, as in src/native/support/interface.h.
_INTERRUPTED, _NO_MEMORY = 2, 3

POINTER = ctypes.c_void_p
INTEGER = ctypes.c_int64
FLAG = ctypes.c_bool
REAL = ctypes.c_double

_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, POINTER, ctypes.c_char_p, POINTER)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class NativeCoreError(ImportError):
    """The native core is missing, or cannot be loaded as was asked."""


def _path(name: str) -> Path | None:
    """Path of the library of a level (or "detection"); None if it is not installed."""
    # An editable installation spreads the package over two folders.
    files = (Path(f, f"core_{name}{_SUFFIX}") for f in bayleaf.native.__path__)
    return next((file for file in files if file.is_file()), None)


def _open(name: str) -> ctypes.CDLL:
    """Load the library of a level (or "detection"); NativeCoreError if that fails."""
    path = _path(name)
    if path is None:
        raise NativeCoreError(
            f"bayleaf's native core {f'core_{name}{_SUFFIX}'!r} is missing; install "
            "bayleaf with `pip install .` or `make`, which build it"
        )
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise NativeCoreError(
            f"bayleaf's native core {str(path)!r} cannot be loaded: "
            f"{_reason(path, error)}"
        ) from error


def _reason(path: Path, error: OSError) -> str:
    """Why a library cannot be loaded, by the words of the system, and the remedy."""
    words = " ".join(str(error).split())
    code = getattr(error, "winerror", None)
    match = _CANNOT_OPEN.search(words)
    absent = match[match.lastindex or 0] if match else ""
    is_own = absent.endswith(path.name)
    missing = [absent] if absent and not is_own else []
    if code == _MODULE_NOT_FOUND:
        missing = _missing_dlls(path)
    if missing:
        # Windows does not contain what its own compiler needs.
        source = "vc_redist of Microsoft" if code else "what has it"
        return f"this system lacks {' and '.join(missing)}; install {source}"
    # A file of another processor, which exists, is not found for glibc.
    is_foreign = _FOREIGN.search(words) or code == _BAD_FORMAT
    if is_foreign or (is_own and "No such file" in words):
        return f"it was built for another machine ({words}); reinstall bayleaf"
    return f"{words}; reinstall bayleaf"


def _missing_dlls(path: Path) -> list[str]:
    """The DLLs named in a DLL that cannot be loaded."""
    names = re.findall(rb"[\w.+-]+\.dll", path.read_bytes(), re.IGNORECASE)
    missing = []
    for name in dict.fromkeys(name.decode() for name in names):
        if name.lower() != path.name.lower():
            try:
                ctypes.CDLL(name)
            except OSError:
                missing.append(name)
    return missing


def supported_levels() -> tuple[str, ...]:
    """List the levels that the processor supports, the lowest first.

    The environment variable BAYLEAF_MAX_SIMD hides the levels above the one it names,
    as if the processor lacked them. NativeCoreError if it names no level.
    """
    detection = _open("detection")
    detection.bl_best_level.restype = ctypes.c_char_p
    best = LEVELS.index(detection.bl_best_level().decode())
    highest = os.environ.get("BAYLEAF_MAX_SIMD", "") or LEVELS[-1]
    if highest not in LEVELS:
        raise NativeCoreError(
            f"BAYLEAF_MAX_SIMD must be one of {', '.join(LEVELS)}, got {highest!r}"
        )
    return LEVELS[: min(best, LEVELS.index(highest)) + 1]


def usable_levels() -> tuple[str, ...]:
    """List the levels that are installed and that the processor supports."""
    return tuple(name for name in supported_levels() if _path(name) is not None)


def _chosen_level() -> str:
    """Choose the best usable level, or the one that BAYLEAF_SIMD names.

    NativeCoreError if no level is usable, or if BAYLEAF_SIMD names another.
    """
    usable = usable_levels()
    requested = os.environ.get("BAYLEAF_SIMD", "")
    if requested == _SANITIZED and _path(requested) is not None:
        return requested
    if not usable:
        installed = [name for name in LEVELS if _path(name) is not None]
        built = (
            f"was built for {' and '.join(installed)}" if installed else "is missing"
        )
        raise NativeCoreError(
            f"bayleaf's native core {built}, but this processor supports "
            f"{', '.join(supported_levels())} only; build all levels with "
            "`BAYLEAF_LEVELS=all make` or `pip install .`"
        )
    if requested and requested not in usable:
        raise NativeCoreError(
            "BAYLEAF_SIMD must name an instruction set that is installed and that this "
            f"processor supports ({', '.join(usable)}), got {requested!r}; leave it "
            "unset, or build all levels with `BAYLEAF_LEVELS=all make`"
        )
    return requested or usable[-1]


@cache
def library() -> ctypes.CDLL:
    """The library of the best instruction set that the processor has, loaded once.

    NativeCoreError if it is missing, cannot be loaded, or BAYLEAF_SIMD names one that
    does not run here.
    """
    core = _open(_chosen_level())
    # Lets long loops ask Python for signals.
    functions = [ctypes.cast(getattr(ctypes.pythonapi, n), POINTER) for n in _ASKED]
    core.bl_connect.argtypes = (POINTER,) * len(functions)
    core.bl_take_raised.argtypes = core.bl_watch.argtypes = (POINTER,)
    for function in (core.bl_connect, core.bl_take_raised, core.bl_watch):
        function.restype = None
    core.bl_error.restype = core.bl_level.restype = ctypes.c_char_p
    core.bl_connect(*functions)
    return core


def level() -> str:
    """Name of the instruction set in use, one of `LEVELS`."""
    name: str = library().bl_level().decode()
    return name


class Function:
    """A function of the library by its name, with parameters of some kinds.

    Kinds are POINTER, INTEGER, FLAG and REAL. What fails inside it is raised.
    """

    __slots__ = ("_call", "_kinds", "_name")

    def __init__(self, name: str, *kinds: type) -> None:
        self._name, self._kinds = name, kinds
        self._call: Any = None

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

    None ends it.
    """
    library().bl_watch(address)


class Handle:
    """An object of the native core at `address`, freed with this one.

    `make` takes the arguments and where to write the address; `free` is the name of a
    capsule's destructor. Never changed once it is made, so that threads may share it
    and a forked process may go on using its copy.
    """

    def __init__(self, make: Callable[..., None], free: str, *arguments: Any) -> None:
        made = ctypes.c_void_p()
        make(*arguments, ctypes.addressof(made))
        assert made.value is not None
        self.address = made.value
        # Freed without a step of Python's, in which Ctrl-C would be heard and lost.
        destructor = ctypes.cast(library()[free], POINTER)
        self._capsule = _new_capsule(self.address, None, destructor)

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled; make it again")
