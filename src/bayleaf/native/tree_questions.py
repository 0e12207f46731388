"""What questions to a compiled junction tree are given, and what they write."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, writable
from bayleaf.native.library import POINTER, Function, Handle

Floats = NDArray[np.float64]

# Work memories of more numbers than this are given back after each question.
_KEPT_CELLS = 1 << 20
_new_memory = Function("bl_junction_memory_new", *[POINTER] * 3)


class Memory(Handle):
    """What one question at a time writes, and where its answer goes.

    Parameters
    ----------
    tree : int
        Address of the tree.
    n_states : int
        Number of states of all variables.
    """

    def __init__(self, tree: int, n_states: int) -> None:
        n_cells = ctypes.c_int64()
        free = "bl_junction_memory_free"
        super().__init__(_new_memory, free, tree, ctypes.addressof(n_cells))
        self.is_kept = n_cells.value <= _KEPT_CELLS
        self.answer = np.zeros(1 + n_states)
        self.answer_address = writable(self.answer, F8, (1 + n_states,))


class Known:
    """What a question is given of some variables, each named once.

    Parameters
    ----------
    states : sequence of int
        Pairs of a variable and its state, or -1 where likelihoods are given instead.
    likelihoods : sequence of ndarray of shape (card,), dtype float64
        C-contiguous; those of the variables without a state, in the same order.

    Notes
    -----
    Whether variables and states exist, and likelihoods suffice, is checked when a tree
    is asked.
    """

    __slots__ = ("_likelihoods", "_states", "arguments")

    def __init__(self, states: Sequence[int], likelihoods: Sequence[Floats]) -> None:
        self._states = array("q", states)
        joined: Any = b"".join(likelihoods)  # type: ignore[arg-type]  # buffers
        self._likelihoods = array("d", joined)
        # The arrays' addresses hold as long as this object lives.
        self.arguments = (
            self._states.buffer_info()[0],
            len(states) // 2,
            *self._likelihoods.buffer_info(),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy has arrays of its own, which lie elsewhere.
        return Known, (self._states.tolist(), [self._likelihoods])
