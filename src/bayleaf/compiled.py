"""Kernels: loops over arrays that run compiled, or interpreted where little is done.

A kernel is written once. Calling it compiles it with numba; `kernel_for` gives the form
that suits an amount of work, and interpreted kernels never load numba.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper, wraps
from threading import RLock
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., object])

# Steps of inner loops up to which interpreting takes less time than loading numba: a
# step takes about a microsecond, loading some tenths of a second.
LITTLE_WORK = 200_000
# What lets a sum run in vectors; NaN and infinity keep their meaning.
_ANY_ORDER = {"reassoc", "contract", "nsz"}

# The names of each module with kernels of one form in the place of the module's own.
_NAMES: dict[tuple[str, bool], dict[str, Any]] = {}
_LOCK = RLock()


def compiled(function: F) -> F:
    """Compile a function, when it is first called, for speed without the lock.

    Compiled code is cached beside the source or in the user's cache folder; where
    neither can be written, the function is compiled anew in each process.
    """
    return cast(F, _Kernel(function, {}))


def compiled_sums(function: F) -> F:
    """Compile a function whose floating-point sums may be added in any order.

    The order depends on the processor alone, neither on threads nor on chance. See
    `compiled`.
    """
    return cast(F, _Kernel(function, {"fastmath": _ANY_ORDER}))


def is_little(work: float) -> bool:
    """Whether so many steps of inner loops are done before numba is loaded."""
    return work <= LITTLE_WORK


def kernel_for(kernel: F, work: float) -> F:
    """Give the form of a kernel that suits an amount of work.

    Parameters
    ----------
    kernel : callable
        What `compiled` or `compiled_sums` returned.
    work : float
        Estimate of the steps of inner loops, in all calls of all kernels that the same
        question needs. It must follow from the data alone, so that answers never vary,
        or be a `RunningWork`'s.

    Returns
    -------
    callable
        The interpreted function up to `LITTLE_WORK`, the compiled one above. They give
        the same bits, but for sums that may be added in any order.

    Notes
    -----
    Kernels that use numba's own intrinsics have no interpreted form, and neither have
    those that call them.
    """
    own = cast(_Kernel, kernel)
    if not is_little(work):
        return cast(F, own.dispatcher())
    function = own.form(is_compiled=False)

    @wraps(function)
    def interpreted(*arguments: object) -> object:
        # Compiled loops, too, overflow and divide arrays without a word.
        with np.errstate(all="ignore"):
            return function(*arguments)

    return cast(F, interpreted)


class RunningWork:
    """Work of questions that are little each, but may be asked over and over.

    Interpreting every one of many would take longer than compiling. Which of them are
    interpreted depends on what was asked before, so that this is for kernels alone
    whose two forms give the same bits.

    Attributes
    ----------
    steps : float
        Steps of all questions so far.
    """

    def __init__(self) -> None:
        self.steps = 0.0

    def with_more(self, work: float) -> float:
        """Add the steps of one more question; those of all, for `kernel_for`."""
        with _LOCK:
            self.steps += work
            return self.steps


class _Kernel:
    """A function in two forms, made when they are asked for; calls are compiled.

    Parameters
    ----------
    function : callable
        The function as it stands in the source.
    settings : dict
        Further settings of numba's compiler.
    """

    def __init__(
        self, function: Callable[..., object], settings: dict[str, Any]
    ) -> None:
        update_wrapper(self, function)
        self._function = cast(FunctionType, function)
        self._settings = settings
        self._forms: dict[bool, Callable[..., object]] = {}
        self._compiled: Callable[..., object] | None = None

    def __call__(self, *arguments: object) -> object:
        return self.dispatcher()(*arguments)

    def dispatcher(self) -> Callable[..., object]:
        """The compiled function, kept at hand once all that it calls is made."""
        if self._compiled is None:
            self._compiled = self.form(is_compiled=True)
        return self._compiled

    def form(self, *, is_compiled: bool) -> Callable[..., object]:
        """Give the compiled or the interpreted function, which calls only its like."""
        with _LOCK:
            if is_compiled not in self._forms:
                self._make(is_compiled)
            return self._forms[is_compiled]

    def _make(self, is_compiled: bool) -> None:
        """Make the function of one form, and all that its module knows by name."""
        function = self._function
        module = function.__globals__
        place = str(module["__name__"]), is_compiled
        is_first = place not in _NAMES
        names = _NAMES.setdefault(place, dict(module))
        copy = FunctionType(
            function.__code__,
            names,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        # Known before the others are made, which may call it.
        self._forms[is_compiled] = _dispatcher(copy, self._settings, is_compiled)
        if is_first:
            for name, value in module.items():
                if isinstance(value, _Kernel):
                    names[name] = value.form(is_compiled=is_compiled)


def _dispatcher(
    function: FunctionType, settings: dict[str, Any], is_compiled: bool
) -> Callable[..., object]:
    """Compile with numba, cached where possible, or leave the function as it is."""
    if not is_compiled:
        return function
    import numba

    compiler = partial(numba.njit, nogil=True, **settings)
    try:
        return cast(Callable[..., object], compiler(cache=True)(function))
    except RuntimeError:
        # "no locator available": no folder for the cache can be written.
        return cast(Callable[..., object], compiler()(function))
