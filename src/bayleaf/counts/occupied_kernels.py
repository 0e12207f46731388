"""Compiled loops that number distinct keys, and count families by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

Keys = NDArray[np.int64]
Places = NDArray[np.int32]
States = NDArray[np.uint16]
Floats = NDArray[np.float64]

# The golden ratio times 2**64: its products scatter neighbouring keys.
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
_HIGH_BITS = np.uint64(32)


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


@compiled
def mapped_digits(
    narrow: NDArray[np.uint8],
    wide: States,
    slot: int,
    values: States,
    digits: States,
) -> None:
    """Write the state that one variable's codes stand for in each row.

    `narrow`, `wide` and `slot` are laid out as in `Codes`.
    """
    if slot >= 0:
        for i in range(digits.size):
            digits[i] = values[narrow[slot, i]]
    else:
        for i in range(digits.size):
            digits[i] = values[wide[-slot - 1, i]]


@compiled
def count_families(
    narrow: NDArray[np.uint8],
    wide: States,
    slots: Keys,
    row_weights: Floats,
    families: Keys,
    values: States,
    value_starts: Keys,
    n_classes: int,
    dense_cells: int,
) -> tuple[States, States, Floats, Keys]:
    """Count the joint states and the class that occur, for several families.

    Each row of `families` lists variables, the most significant first, -1 after the
    last; the class is the last variable of `slots`. Variable v maps its codes by
    ``values[value_starts[v] : value_starts[v + 1]]``, of which the last is the highest
    state. Families of at most `dense_cells` cells are counted without hashing.

    Returns states (n_places, n_cells), classes and weights of all families' cells, and
    where each family's begin, in the order in which the rows bring them.
    """
    n_families, n_places = families.shape
    n_rows = row_weights.size
    as_is = np.arange(n_classes + 1).astype(np.uint16)
    states = np.empty((n_places, n_rows), dtype=np.uint16)
    own = np.empty(n_rows, dtype=np.uint16)
    mapped_digits(narrow, wide, slots[-1], as_is, own)
    starts = np.zeros(n_families + 1, dtype=np.int64)
    found_states = np.empty((n_places, n_rows), dtype=np.uint16)
    found_classes = np.empty(n_rows, dtype=np.uint16)
    found_weights = np.empty(n_rows, dtype=np.float64)
    for family in range(n_families):
        keys = np.zeros(n_rows, dtype=np.int64)
        n_cells = n_classes
        n_used = 0
        while n_used < n_places and families[family, n_used] >= 0:
            variable = families[family, n_used]
            start, stop = value_starts[variable], value_starts[variable + 1]
            radix = np.int64(values[stop - 1]) + 1
            digits = states[n_used]
            mapped_digits(narrow, wide, slots[variable], values[start:stop], digits)
            for i in range(n_rows):
                keys[i] = keys[i] * radix + np.int64(digits[i])
            n_cells *= int(radix)
            n_used += 1
        for i in range(n_rows):
            keys[i] = keys[i] * n_classes + np.int64(own[i])
        if n_cells <= dense_cells:
            numbers, first = number_cells(keys, n_cells)
        else:
            numbers, first, _, _ = number_distinct(keys)
        begin = starts[family]
        end = begin + first.size
        starts[family + 1] = end
        if end > found_classes.size:
            found_states = longer(found_states, 2 * end)
            found_classes = longer(found_classes.reshape(1, -1), 2 * end)[0]
            found_weights = longer(found_weights.reshape(1, -1), 2 * end)[0]
        for k in range(n_used):
            for cell in range(first.size):
                found_states[k, begin + cell] = states[k, first[cell]]
        for cell in range(first.size):
            found_classes[begin + cell] = own[first[cell]]
        found_weights[begin:end] = add_weights(numbers, row_weights, first.size)
    # No longer than needed, since every family's counts are a part of these.
    end = starts[-1]
    return (
        found_states[:, :end].copy(),
        found_classes[:end].copy(),
        found_weights[:end].copy(),
        starts,
    )


@compiled
def longer(values: NDArray[Any], size: int) -> NDArray[Any]:
    """Copy into an array whose last axis has room for `size` values."""
    copied = np.empty((values.shape[0], size), dtype=values.dtype)
    copied[:, : values.shape[1]] = values
    return copied
