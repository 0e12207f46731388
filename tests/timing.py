"""Time in tests: work next to other work of the same run, and the wait after Ctrl-C."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable

import pytest

# Most seconds of work from Ctrl-C to the end.
SOON = 0.5
# Nothing waits for longer than this, not even where other programs are at work.
LATE = 3.0


def least_work(call: Callable[[], object], n_times: int = 3) -> float:
    """Least processor seconds of a call: other programs do not count.

    Tests compare it with that of another call, as machines differ.
    """

    def work() -> float:
        start = time.process_time()
        call()
        return time.process_time() - start

    return min(work() for _ in range(n_times))


def check_interrupted(call: Callable[[], object], delay: float) -> None:
    """Press Ctrl-C after a delay in seconds: the call must end soon after it."""
    pressed: list[float] = []

    def press() -> None:
        time.sleep(delay)
        pressed.extend([time.perf_counter(), time.process_time()])
        _thread.interrupt_main()

    presser = threading.Thread(target=press)

    def interrupted() -> None:
        presser.start()
        call()

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    waited = time.perf_counter() - pressed[0]
    work = time.process_time() - pressed[1]
    presser.join()
    # On a busy machine most of the wait is for a processor.
    assert min(waited, work) < SOON
    assert waited < LATE
