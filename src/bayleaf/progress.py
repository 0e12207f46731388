"""How far long work has come, for whoever listens: a display, a function, the logger.

Work tells of itself wherever it is done and by whatever it was called; pieces within
pieces make one line. A command, ``verbose=1`` or `displayed` show that line.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from importlib.util import find_spec
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from bayleaf.wording import visible

if TYPE_CHECKING:
    from rich.console import Console

Tell = Callable[[str], object]

_LOGGER = logging.getLogger("bayleaf")
_MINUTE, _HOUR = 60.0, 3600.0
# What is done within this time shows nothing.
_PATIENCE_SECONDS = 0.6
# Where lines stay, as in a file, one is written this often.
_SECONDS_BETWEEN_LINES = 10.0

_listener: ContextVar[Tell | None] = ContextVar("listener", default=None)
_under_way: ContextVar[Work | None] = ContextVar("under_way", default=None)


class Work:
    """Long work, as a part of the work that is under way where it begins.

    As a context manager it is what work inside it is a part of. Threads may tell of
    the same work together.

    Parameters
    ----------
    n_steps : int, optional
        Number of steps of about the same length.
    """

    def __init__(self, n_steps: int | None = None) -> None:
        self._n_steps = n_steps
        self._n_begun = 0
        self._text = ""
        self._start = time.perf_counter()
        self._outer, self._tell = _under_way.get(), _listener.get()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._token = _under_way.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _under_way.reset(self._token)

    def step(self, what: str) -> None:
        """Begin a step: what it is, the share of steps done, and the time left.

        The logger "bayleaf" gets it as information.
        """
        with self._lock:
            n_done, self._n_begun = self._n_begun, self._n_begun + 1
        if n_done and self._n_steps:
            passed = time.perf_counter() - self._start
            left = passed / n_done * (self._n_steps - n_done)
            what += f" ({100 * n_done // self._n_steps} %, {in_words(left)} left)"
        _LOGGER.info("%s", what)
        self._show(what)

    def say(self, what: str) -> None:
        """Tell what is being done; the logger gets it for debugging."""
        if _LOGGER.isEnabledFor(logging.DEBUG):
            _LOGGER.debug("%s", what)
        self._show(what)

    def _show(self, what: str) -> None:
        self._text = what
        if self._tell is not None:
            self._tell(self._line())

    def _line(self) -> str:
        """The line of this work: what it is a part of, then what it does itself."""
        outer = "" if self._outer is None else self._outer._line()
        return "; ".join(filter(None, (outer, self._text)))


def in_words(seconds: float) -> str:
    """A time to wait, roughly."""
    if seconds < _MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < _HOUR:
        return f"{round(seconds / _MINUTE)} min"
    return f"{seconds / _HOUR:.1f} h"


@contextlib.contextmanager
def listening(tell: Tell) -> Iterator[None]:
    """Let a function get a line of text whenever work inside the block goes on.

    Parameters
    ----------
    tell : callable
        Gets lines as "tan: fold 2 of 10 (10 %, 8 s left)"; threads may call it.
    """
    token = _listener.set(tell)
    try:
        yield
    finally:
        _listener.reset(token)


@contextlib.contextmanager
def displayed(
    verbose: int = 1, *, console: Callable[[], Console] | None = None
) -> Iterator[None]:
    """Show on standard error how far work inside the block has come.

    On a terminal and in a notebook one line shows it from about a second on, and goes
    when the work is done. Elsewhere, as in a file, a line is written every ten seconds.
    Inside a block that is shown already, nothing is added.

    Parameters
    ----------
    verbose : int, default=1
        Zero shows nothing.
    console : callable, optional
        Gives the console of rich that shows the line, by default a plain one.
    """
    if not verbose or _listener.get() is not None:
        yield
    elif sys.stderr is not None and (sys.stderr.isatty() or _in_notebook()):
        with _live(console or _plain_console) as tell, listening(tell):
            yield
    else:
        with listening(_Lines()):
            yield


def _in_notebook() -> bool:
    """Whether a notebook runs this and can show a line that changes."""
    return "ipykernel" in sys.modules and find_spec("ipywidgets") is not None


def _plain_console() -> Console:
    from rich.console import Console

    return Console(stderr=True, markup=False, emoji=False)


@contextlib.contextmanager
def _live(console: Callable[[], Console]) -> Iterator[Tell]:
    """A line on a terminal that changes, and a function that changes it."""
    from rich.text import Text

    shown_on = console()
    status = shown_on.status("")
    # A long step reports nothing meanwhile, so the display is started by the clock.
    timer = threading.Timer(_PATIENCE_SECONDS, status.start)
    timer.daemon = True
    timer.start()

    def tell(line: str) -> None:
        # As text, since brackets in a plain string would be taken for markup.
        text = Text(visible(line))
        # Without the sign that turns and a space, which come before it.
        text.truncate(shown_on.width - 2, overflow="ellipsis")
        status.update(text)

    try:
        yield tell
    finally:
        timer.cancel()
        timer.join()
        status.stop()


class _Lines:
    """Writes lines that stay, and therefore few of them."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, line: str) -> Any:
        now = time.monotonic()
        if now - self._last >= _SECONDS_BETWEEN_LINES and sys.stderr is not None:
            self._last = now
            print(visible(line), file=sys.stderr, flush=True)


def caller_level() -> int:
    """The `stacklevel` of the line outside this library and scikit-learn that called.

    Decorators and context managers on the way have frames of their own.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_inside(frame):
        frame, level = frame.f_back, level + 1
    return level


def _is_inside(frame: FrameType) -> bool:
    """Whether a frame runs code of this library, or what calls it for a user."""
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package in ("bayleaf", "sklearn", "joblib", "contextlib")
