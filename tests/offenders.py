"""Run one check on many cases in one test, and name every case that fails."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

Case = TypeVar("Case")


def check_each(
    cases: Iterable[Case],
    check: Callable[[Case], object],
    name: Callable[[Case], str] = str,
) -> None:
    """Run a check on every case; fail with the name and error of each offender.

    A case fails if the check raises. Without any case the test fails too, because a
    check that never ran proves nothing.
    """
    offenders = []
    n_cases = 0
    for case in cases:
        n_cases += 1
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:
            # The last frame is the failed line, as of a test of its own.
            line = traceback.extract_tb(error.__traceback__)[-1]
            offenders.append(
                f"{name(case)}: {type(error).__name__}: {error} "
                f"({line.filename}:{line.lineno})"
            )
    assert n_cases, "there is no case to check"
    assert not offenders, f"{len(offenders)} of {n_cases} cases failed:\n" + "\n".join(
        offenders
    )
