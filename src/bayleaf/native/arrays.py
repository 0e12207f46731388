"""Addresses of arrays whose type, shape and layout are what a function expects."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

B1 = np.dtype(np.bool_)
U1 = np.dtype(np.uint8)
U2 = np.dtype(np.uint16)
U4 = np.dtype(np.uint32)
U8 = np.dtype(np.uint64)
I4 = np.dtype(np.int32)
I8 = np.dtype(np.int64)
F4 = np.dtype(np.float32)
F8 = np.dtype(np.float64)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Shape = tuple[int, ...]

# NumPy's flags: C-contiguous and aligned, and writeable.
_READABLE = 0x0101
_WRITABLE = 0x0501
# Those that tell whether taking a buffer to write to warns of it, and what they say if
# it does not.
_BUFFER, _SILENT = 0x80000400, 0x0400
# Finds the address of what can be written in a fraction of the time that NumPy takes.
_buffer_of: Callable[[Any], Any] = (ctypes.c_char * 0).from_buffer
_address_of = ctypes.addressof


def readable(array: NDArray[Any], dtype: np.dtype[Any], shape: Shape) -> int:
    """Address of a C-contiguous, aligned array that a function reads.

    TypeError if it holds something else than `dtype`, ValueError if its shape or layout
    differs.
    """
    flags = array.flags.num
    # Two types may be equal and not one object, which is found sooner.
    if (
        flags & _READABLE != _READABLE
        or (array.dtype is not dtype and array.dtype != dtype)
        or array.shape != shape
    ):
        raise _misfit(array, dtype, shape)
    if flags & _BUFFER == _SILENT:
        return _address_of(_buffer_of(array))
    return array.ctypes.data


def writable(array: NDArray[Any], dtype: np.dtype[Any], shape: Shape) -> int:
    """Address of an array that a function writes; as `readable`, and not read-only."""
    if (
        array.flags.num & _WRITABLE != _WRITABLE
        or (array.dtype is not dtype and array.dtype != dtype)
        or array.shape != shape
    ):
        raise _misfit(array, dtype, shape)
    return _address_of(_buffer_of(array))


def strided(array: NDArray[Any], dtype: np.dtype[Any], shape: Shape) -> int:
    """Address of an array in any layout whose items lie at multiples of their size."""
    is_even = not any(stride % dtype.itemsize for stride in array.strides)
    is_laid_out = is_even and array.flags.aligned
    if array.dtype != dtype or array.shape != shape or not is_laid_out:
        raise _misfit(array, dtype, shape)
    return array.ctypes.data


def _misfit(array: NDArray[Any], dtype: np.dtype[Any], shape: Shape) -> Exception:
    """What is wrong with an array."""
    if array.dtype != dtype:
        return TypeError(f"an array of {dtype} is needed here, got {array.dtype}")
    wrong = "an array that can be written is needed here, got a read-only one"
    if array.shape != shape:
        wrong = f"an array of shape {shape} is needed here, got {array.shape}"
    elif array.flags.num & _READABLE != _READABLE:
        makes = "np.ascontiguousarray makes one"
        wrong = f"an aligned, C-contiguous array is needed here; {makes}"
    return ValueError(wrong)
