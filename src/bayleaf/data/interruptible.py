"""Ctrl-C while NumPy is busy with many numbers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")

# Numbers that NumPy sorts in about a fifth of a second. Another thread would take a
# little longer, because it begins with memory that nothing has touched.
_FEW = 1 << 21
_LISTEN_SECONDS = 0.05


def interruptible(function: Callable[[], T], n_numbers: int) -> T:
    """Call a function so that an interruption need not wait for its end.

    Python looks for Ctrl-C between its own steps alone, so that one long call of NumPy
    keeps it waiting. Here another thread makes the call, unless the numbers to sort
    (or work as long) are few; after an interruption it ends unheeded. The function must
    have no effect but its result.
    """
    if n_numbers <= _FEW or threading.current_thread() is not threading.main_thread():
        return function()
    found: Future[T] = Future()

    def call() -> None:
        try:
            found.set_result(function())
        except BaseException as error:
            found.set_exception(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    while thread.is_alive():
        # The system may tell any thread of Ctrl-C, and that would end no longer wait.
        thread.join(_LISTEN_SECONDS)
    return found.result()
