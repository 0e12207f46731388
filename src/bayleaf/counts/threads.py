"""How many threads a pass may use, and handing it tasks."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from bayleaf.native.library import watch_flag

T = TypeVar("T")

_THREAD_NAME = "bayleaf-counts"
_LISTEN_SECONDS = 0.05
# One limit of the linear algebra for each block that runs under it.
_limits: list[Any] = []
_limit_lock = threading.Lock()


def thread_count(n_jobs: int | None) -> int:
    """Resolve `n_jobs` to a number of threads, in scikit-learn's meaning.

    None is one thread, -1 all processors, -2 all but one; ValueError for zero.
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError(
            "n_jobs must not be 0; use 1 for one thread or -1 for all processors"
        )
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, processor_count() + 1 + int(n_jobs))


def processor_count() -> int:
    """Count the processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_thread_of_linear_algebra() -> Iterator[None]:
    """Keep the linear algebra to one thread: its own would stand in others' way.

    The number of threads belongs to the process, so blocks in several threads, which
    end in any order, share one limit.
    """
    with _limit_lock:
        _limits.append(
            _limits[0]
            if _limits
            else _linear_algebra().limit(limits=1, user_api="blas")
        )
    try:
        yield
    finally:
        with _limit_lock:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()


@cache
def _linear_algebra() -> Any:
    """What sets the threads of the linear algebra; finding it takes a while."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def run_tasks(tasks: Sequence[Callable[[], T]], n_threads: int) -> list[T]:
    """Run tasks that share no state, and return their results in order.

    The calling thread works too: waking a sleeping thread costs as much as counting a
    small table. Once a task fails or Ctrl-C is pressed, no further task begins, and
    native loops of the other threads end early.
    """
    # A task that waited for tasks of its own could wait for the thread it holds.
    inside = threading.current_thread().name.startswith(_THREAD_NAME)
    if n_threads == 1 or len(tasks) < 2 or inside:
        return [task() for task in tasks]
    results: dict[int, T] = {}
    waiting = deque(range(len(tasks)))
    stop = ctypes.c_int32(0)

    def work() -> None:
        while True:
            try:
                place = waiting.popleft()
            except IndexError:
                return
            results[place] = tasks[place]()

    def help_out() -> None:
        watch_flag(ctypes.addressof(stop))
        try:
            work()
        finally:
            waiting.clear()
            watch_flag(None)

    helpers: list[Future[None]] = []
    try:
        pool = _pool(n_threads - 1)
        # One by one, so that an interruption finds all that were asked to help.
        for _ in range(min(n_threads, len(tasks)) - 1):
            helpers.append(pool.submit(help_out))  # noqa: PERF401
        work()
        # A helper that another caller keeps from starting finds nothing left to do.
        for helper in helpers:
            if not helper.cancel():
                _await(helper)
    except BaseException:
        stop.value = 1
        waiting.clear()
        wait([helper for helper in helpers if not helper.cancel()])
        raise
    return [results[place] for place in range(len(tasks))]


def _await(helper: Future[None]) -> None:
    """Wait for a thread's end, awake for Ctrl-C, and raise what it raised."""
    while not helper.done():
        # The system may tell the helper of Ctrl-C, which would end no longer wait.
        wait([helper], _LISTEN_SECONDS)
    helper.result()


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Threads that stay for the next pass, because starting them takes a while."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix=_THREAD_NAME)


if hasattr(os, "register_at_fork"):
    # Threads do not live on in a forked process, which therefore starts its own.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def worthwhile(threads: int, work: float, least: float) -> int:
    """Limit threads to those that find at least so much to do; at least one."""
    return max(1, min(threads, int(work / least)))


def stretches(n_items: int, n_parts: int) -> list[tuple[int, int]]:
    """Cut ``range(n_items)`` into at most `n_parts` stretches of similar length."""
    n_parts = max(1, min(n_parts, n_items))
    edges = [n_items * part // n_parts for part in range(n_parts + 1)]
    return list(itertools.pairwise(edges))
