from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from bayleaf.counts.threads import (
    one_thread_of_linear_algebra,
    run_tasks,
    stretches,
    thread_count,
    worthwhile,
)
from bayleaf.native.data import offset_codes
from offenders import check_each


def test_n_jobs_has_the_meaning_of_scikit_learn() -> None:
    def check(case: tuple[int | None, int]) -> None:
        n_jobs, threads = case
        assert thread_count(n_jobs) == threads

    check_each([(None, 1), (1, 1), (3, 3), (-99, 1)], check)


def test_minus_one_is_one_thread_more_than_minus_two() -> None:
    assert thread_count(-1) >= 1
    assert thread_count(-2) == max(1, thread_count(-1) - 1)


def test_zero_jobs_raise() -> None:
    with pytest.raises(ValueError, match="n_jobs must not be 0; use 1"):
        thread_count(0)


def test_results_come_in_the_order_of_tasks() -> None:
    assert run_tasks([lambda k=k: k for k in range(20)], 3) == list(range(20))


def test_tasks_run_at_the_same_time() -> None:
    barrier = threading.Barrier(2, timeout=10)
    assert sorted(run_tasks([barrier.wait, barrier.wait], 2)) == [0, 1]


def test_an_error_in_a_task_is_raised() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_tasks([fail, fail], 2)


def test_stretches_cover_every_item_once() -> None:
    def check(case: tuple[int, int]) -> None:
        n_items, n_parts = case
        parts = stretches(n_items, n_parts)
        assert [k for a, b in parts for k in range(a, b)] == list(range(n_items))
        assert len(parts) <= n_parts

    check_each([(10, 3), (2, 5), (0, 4), (7, 1)], check)


def test_threads_are_started_for_enough_work_only() -> None:
    def check(case: tuple[int, int]) -> None:
        work, threads = case
        assert worthwhile(4, work, 10) == threads

    check_each([(0, 1), (5, 1), (25, 2), (1000, 4)], check)


def test_tasks_may_run_tasks_of_their_own() -> None:
    def outer() -> list[int]:
        return run_tasks([lambda: 1, lambda: 2], 2)

    assert run_tasks([outer, outer, outer, outer], 2) == [[1, 2]] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    assert run_tasks([lambda: 1, lambda: 2], 2) == [1, 2]
    child = os.fork()
    if child == 0:
        os._exit(0 if run_tasks([lambda: 3, lambda: 4], 2) == [3, 4] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_failed_task_stops_the_native_loops_of_the_others() -> None:
    values = np.broadcast_to(np.arange(1000), (60_000, 1000))
    codes = np.empty((1000, 60_000), dtype=np.uint8)
    seen = np.zeros((1000, 256), dtype=np.bool_)
    fits = np.ones(1000, dtype=np.bool_)
    began = threading.Barrier(2, timeout=10)
    ends: list[BaseException] = []

    def count_on() -> None:
        began.wait()
        try:
            while True:
                offset_codes(values, values[0] * 0, codes, seen, fits)
        except BaseException as error:
            ends.append(error)
            raise

    def fail() -> None:
        began.wait()
        raise ValueError("no")

    main = threading.current_thread()
    tasks = [
        lambda: fail() if threading.current_thread() is main else count_on(),
        lambda: fail() if threading.current_thread() is main else count_on(),
    ]
    with pytest.raises(ValueError, match="no"):
        run_tasks(tasks, 2)
    assert [type(end) for end in ends] == [KeyboardInterrupt]


def test_tasks_run_again_after_a_failure() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_tasks([fail, fail, fail], 2)
    assert run_tasks([lambda k=k: k for k in range(9)], 2) == list(range(9))


def test_blocks_that_overlap_give_the_linear_algebra_its_threads_back() -> None:
    before = _blas_threads()
    first, second = one_thread_of_linear_algebra(), one_thread_of_linear_algebra()
    with first:
        second.__enter__()
        assert set(_blas_threads()) <= {1}
    assert set(_blas_threads()) <= {1}
    second.__exit__(None, None, None)
    assert _blas_threads() == before


def _blas_threads() -> list[int]:
    """Threads of each library of linear algebra."""
    return [
        library["num_threads"]
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]
