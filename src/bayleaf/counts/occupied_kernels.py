"""Compiled loops that number distinct keys by hashing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

Keys = NDArray[np.int64]
Places = NDArray[np.int32]

# The golden ratio times 2**64: its products scatter neighbouring keys.
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
_HIGH_BITS = np.uint64(32)


@compiled
def append_digit(
    keys: Keys,
    column: NDArray[np.uint8] | NDArray[np.uint16],
    values: NDArray[np.uint16],
    radix: int,
) -> None:
    """Write the mapped code of each row behind the digits that its key has."""
    for row in range(keys.size):
        keys[row] = keys[row] * radix + np.int64(values[column[row]])


@compiled
def empty_slots(n_keys: int) -> Places:
    """Return free slots (-1), a power of two and at least twice as many as keys."""
    size = 16
    while size < 2 * n_keys:
        size *= 2
    return np.full(size, -1, dtype=np.int32)


@compiled
def find_slot(slots: Places, distinct: Keys, key: np.int64) -> np.int64:
    """Find the slot that holds a key's number, or the free one where it belongs."""
    mask = slots.size - 1
    place = np.int64((np.uint64(key) * _SCATTER) >> _HIGH_BITS) & mask
    while slots[place] >= 0 and distinct[slots[place]] != key:
        place = (place + 1) & mask
    return place


@compiled
def number_distinct(keys: Keys) -> tuple[Places, Places, Keys, Places]:
    """Number distinct keys in the order in which they come.

    Returns the number of each key, the first place of each distinct key, the distinct
    keys, and the hash slots that find them.
    """
    slots = empty_slots(keys.size)
    distinct = np.empty(keys.size, dtype=np.int64)
    numbers = np.empty(keys.size, dtype=np.int32)
    first = np.empty(keys.size, dtype=np.int32)
    count = 0
    for i in range(keys.size):
        place = find_slot(slots, distinct, keys[i])
        if slots[place] < 0:
            slots[place] = count
            distinct[count] = keys[i]
            first[count] = i
            count += 1
        numbers[i] = slots[place]
    return numbers, first[:count].copy(), distinct[:count].copy(), slots


@compiled
def number_cells(keys: Keys, n_cells: int) -> tuple[Places, Places]:
    """Number distinct keys below `n_cells` by a table with a place for each."""
    table = np.full(n_cells, -1, dtype=np.int32)
    numbers = np.empty(keys.size, dtype=np.int32)
    first = np.empty(min(keys.size, n_cells), dtype=np.int32)
    count = 0
    for i in range(keys.size):
        if table[keys[i]] < 0:
            table[keys[i]] = count
            first[count] = i
            count += 1
        numbers[i] = table[keys[i]]
    return numbers, first[:count].copy()


@compiled
def add_weights(
    numbers: Places, weights: NDArray[np.float64], n_distinct: int
) -> NDArray[np.float64]:
    """Sum the weights of the rows with each number."""
    sums = np.zeros(n_distinct)
    for row in range(numbers.size):
        sums[numbers[row]] += weights[row]
    return sums
