import _thread
import threading
import time

import numpy as np
import pytest

from bayleaf.data.interruptible import interruptible

MANY = 1 << 22


def test_the_result_is_that_of_the_function() -> None:
    for n_numbers in (0, MANY):
        assert interruptible(lambda: np.arange(3).sum(), n_numbers) == 3


def test_an_error_is_that_of_the_function() -> None:
    def fail() -> None:
        raise ZeroDivisionError("no")

    for n_numbers in (0, MANY):
        with pytest.raises(ZeroDivisionError, match="no"):
            interruptible(fail, n_numbers)


def test_few_numbers_are_not_worth_a_thread() -> None:
    assert interruptible(threading.current_thread, 0) is threading.main_thread()
    assert interruptible(threading.current_thread, MANY) is not threading.main_thread()


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_need_not_wait_for_the_end() -> None:
    end = threading.Event()
    presser = threading.Timer(0.05, _thread.interrupt_main)
    start = time.monotonic()
    presser.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(lambda: end.wait(20), MANY)
        assert time.monotonic() - start < 10
    finally:
        end.set()
        presser.join()
