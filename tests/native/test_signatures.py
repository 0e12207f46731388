"""What a signature makes of the arguments of a call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf.native import signatures
from bayleaf.native.library import FLAG, INTEGER, POINTER, REAL
from bayleaf.native.signatures import native

Calls = list[tuple[Any, ...]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """What reaches the core: types of parameters, and then arguments."""
    found: Calls = []

    class Core:
        def __init__(self, name: str, *kinds: type) -> None:
            found.append((name, *kinds))

        def __call__(self, *arguments: Any) -> None:
            found.append(arguments)

    monkeypatch.setattr(signatures, "Function", Core)
    return found


def test_sizes_and_addresses_are_passed_in_the_order_of_c(calls: Calls) -> None:
    function = native(
        """bl_some(in x f8[n, k], int extra, out y u1|u2[n * k], flag y.dtype == u2,
        n, k, real by, address z, in starts i8[n_parts + 1], n_parts)"""
    )
    kinds = POINTER, INTEGER, POINTER, FLAG, INTEGER, INTEGER, REAL
    assert calls.pop() == ("bl_some", *kinds, POINTER, POINTER, INTEGER)
    assert function.__name__ == "some"
    assert function.__module__ == __name__
    x, y, starts = np.zeros((2, 3)), np.zeros(6, np.uint16), np.zeros(5, np.int64)
    function(x, 7, y, 0.5, 99, starts)
    place = starts.ctypes.data
    expected = x.ctypes.data, 7, y.ctypes.data, True, 2, 3, 0.5, 99, place, 4
    assert calls.pop() == expected
    function(x, extra=7, y=y.astype(np.uint8), by=0.5, z=99, starts=starts)
    assert calls.pop()[3] is False
    with pytest.raises(TypeError, match="an array of uint8 is needed here, got int16"):
        function(x, 7, y.astype(np.int16), 0.5, 99, starts)
    with pytest.raises(ValueError, match=r"shape \(6,\) is needed here, got \(5,\)"):
        function(x, 7, y[:5], 0.5, 99, starts)
    with pytest.raises(ValueError, match=r"shape \(1,\) is needed here, got \(0,\)"):
        function(x, 7, y, 0.5, 99, starts[:0])
    with pytest.raises(ValueError, match="expected 2, got 1"):
        function(x[0], 7, y, 0.5, 99, starts)
    y.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        function(x, 7, y, 0.5, 99, starts)
    assert not calls


def test_a_parameter_that_is_a_size_is_not_taken_from_a_shape(calls: Calls) -> None:
    function = native(
        "bl_some(codes, int n_rows, in x f8[n_rows], strided y i8[n_rows])"
    )
    assert calls.pop()[1:] == (*(POINTER, INTEGER) * 3, INTEGER, POINTER, POINTER)
    narrow, wide = np.zeros((2, 4), np.uint8), np.zeros((0, 9), np.uint16)
    slots, x = np.zeros(2, np.int64), np.zeros(4)
    function(narrow, wide, slots, 4, x, np.zeros(8, np.int64)[::2])
    assert calls.pop()[1:7:2] == (2, 0, 2)
    for n in (3, 5):
        with pytest.raises(ValueError, match="is needed here, got"):
            function(narrow, wide, slots, n, x, np.zeros(n, np.int64))
    with pytest.raises(ValueError, match=r"needed here, got \(1, 4\)"):
        function(narrow, wide, slots, 4, x[None], np.zeros(4, np.int64))


def test_what_objects_hold_is_checked_like_other_arrays(calls: Calls) -> None:
    class Held:
        address, width, table = 5, 3, np.zeros((2, 3))

    function = native("bl_some(handle self, in self.table f8[n, self.width], n, int k)")
    calls.clear()
    function(Held(), 8)
    assert calls.pop() == (5, Held.table.ctypes.data, 2, 8)
    Held.width = 4
    with pytest.raises(ValueError, match=r"shape \(2, 4\) is needed here"):
        function(Held(), 8)


def twice(number: int) -> int:
    return 2 * number


def test_names_are_bound_beforehand_and_parameters_have_any_order(calls: Calls) -> None:
    function = native(
        """bl_some(number = twice(number), number, [n, *others] = x.shape, n,
        in x f8[n, *others])""",
        "x, number",
    )
    assert calls.pop()[1:] == (INTEGER, INTEGER, POINTER)
    x = np.zeros((5, 2, 3))
    function(x, 4)
    assert calls.pop() == (8, 5, x.ctypes.data)


def test_a_call_without_arrays_goes_straight_to_the_core(calls: Calls) -> None:
    function: Any = native("bl_some(address memory, int n, address answer)")
    assert type(function).__name__ == "Core"
    assert calls == [("bl_some", POINTER, INTEGER, POINTER)]
