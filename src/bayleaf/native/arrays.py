"""Addresses of arrays whose type, shape and layout are what a function expects."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

U1 = np.dtype(np.uint8)
U2 = np.dtype(np.uint16)
I4 = np.dtype(np.int32)
U4 = np.dtype(np.uint32)
U8 = np.dtype(np.uint64)
I8 = np.dtype(np.int64)
F4 = np.dtype(np.float32)
F8 = np.dtype(np.float64)
BOOL = np.dtype(np.bool_)

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
    """Address of an array that a function reads.

    Parameters
    ----------
    array : ndarray
        C-contiguous and aligned.
    dtype : dtype
        What it must hold, in the machine's byte order.
    shape : tuple of int
        What it must measure.

    Raises
    ------
    TypeError
        If it holds something else.
    ValueError
        If its shape or its layout in memory is another.
    """
    flags = array.flags.num
    is_laid_out = flags & _READABLE == _READABLE
    if array.dtype != dtype or array.shape != shape or not is_laid_out:
        raise _misfit(array, dtype, shape)
    if flags & _BUFFER == _SILENT:
        return _address_of(_buffer_of(array))
    return array.ctypes.data


def writable(array: NDArray[Any], dtype: np.dtype[Any], shape: Shape) -> int:
    """Address of an array that a function writes; see `readable`.

    Raises
    ------
    TypeError
        If it holds something else.
    ValueError
        If its shape or its layout is another, or it may not be written.
    """
    is_laid_out = array.flags.num & _WRITABLE == _WRITABLE
    if array.dtype != dtype or array.shape != shape or not is_laid_out:
        raise _misfit(array, dtype, shape)
    return _address_of(_buffer_of(array))


def strided(array: NDArray[Any], dtype: np.dtype[Any]) -> tuple[int, tuple[int, ...]]:
    """Address of an array of any layout that a function reads, and its strides.

    Returns
    -------
    address : int
        Of the first item.
    strides : tuple of int
        Steps along each axis, in items.

    Raises
    ------
    TypeError
        If it holds something else than `dtype`.
    ValueError
        If its items do not lie at multiples of their size.
    """
    steps = [divmod(stride, dtype.itemsize) for stride in array.strides]
    if array.dtype != dtype or not array.flags.aligned or any(s[1] for s in steps):
        raise _misfit(array, dtype, array.shape)
    return array.ctypes.data, tuple(step for step, _ in steps)


def code_arguments(
    narrow: NDArray[np.uint8],
    wide: NDArray[np.uint16],
    slots: NDArray[np.int64],
    n_rows: int,
) -> tuple[int, ...]:
    """Codes of a table as functions take them: blocks, slots and the number of rows.

    Parameters
    ----------
    narrow : ndarray of shape (n_narrow, n_rows), dtype uint8
        Codes of narrow variables, see `bayleaf.data.codes.Codes`.
    wide : ndarray of shape (n_wide, n_rows), dtype uint16
        Codes of wide variables.
    slots : ndarray of shape (n_variables,), dtype int64
        Where each variable lies.
    n_rows : int
        Number of rows; a block without variables may have any.

    Returns
    -------
    tuple of int
        Address and number of rows of `narrow`, of `wide` and of `slots`, then `n_rows`.

    Raises
    ------
    TypeError, ValueError
        If an array is not what it should be, see `readable`.
    """
    sizes = len(narrow), len(wide), len(slots)
    shapes = [
        (len(block), n_rows) if len(block) else block.shape for block in (narrow, wide)
    ]
    return (
        readable(narrow, U1, shapes[0]),
        sizes[0],
        readable(wide, U2, shapes[1]),
        sizes[1],
        readable(slots, I8, (sizes[2],)),
        sizes[2],
        n_rows,
    )


def _misfit(
    array: NDArray[Any], dtype: np.dtype[Any], shape: Shape
) -> TypeError | ValueError:
    """What is wrong with an array."""
    if array.dtype != dtype:
        return TypeError(f"an array of {dtype} is needed here, got {array.dtype}")
    if array.shape != shape:
        return ValueError(
            f"an array of shape {shape} is needed here, got {array.shape}"
        )
    if array.flags.num & _READABLE != _READABLE:
        return ValueError(
            "an aligned, C-contiguous array is needed here; "
            "np.ascontiguousarray makes one"
        )
    return ValueError(
        "an array that can be written is needed here, got a read-only one"
    )
