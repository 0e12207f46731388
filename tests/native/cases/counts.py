"""Valid calls of the native functions that count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native import counts

Arguments = tuple[Any, ...]
Packed = tuple[NDArray[np.uint64], NDArray[np.int64]]

N_CLASSES = 3
STARTS = np.array([0, 1, 5, 9])


def _rows(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(0, 400))
    classes = rng.integers(N_CLASSES + 1, size=n_rows).astype(np.uint8)
    weights = rng.integers(1, 4, size=n_rows if rng.integers(2) else 1)
    return classes, weights.astype(np.uint8), N_CLASSES


def _unpacked(rng: np.random.Generator) -> Arguments:
    classes, weights, n_classes = _rows(rng)
    runs, segments, tiles = counts.class_order(classes, weights, n_classes)
    block = rng.integers(6, size=(4, len(classes))).astype(np.uint8)
    panels = np.zeros((2, int(tiles[-1, 2]), counts.LANES), dtype=np.uint64)
    return block, np.array([2, 0, 3]), STARTS.copy(), runs, tiles, panels, segments


def _packed(rng: np.random.Generator) -> Packed:
    *arguments, segments = _unpacked(rng)
    counts.pack_planes(*arguments)
    return arguments[-1], segments


def _plane_counts(rng: np.random.Generator) -> Arguments:
    panels, segments = _packed(rng)
    cells = np.zeros((N_CLASSES, 16, 16), dtype=np.int32)
    if rng.integers(2):
        return panels[1:].copy(), panels, segments, 1, True, cells
    return panels, panels[:1].copy(), segments, 0, False, cells


def _plane_margins(rng: np.random.Generator) -> Arguments:
    panels, segments = _packed(rng)
    return panels, segments, np.zeros((N_CLASSES, 16))


def _plane_families(rng: np.random.Generator) -> Arguments:
    panels, segments = _packed(rng)
    margins = np.zeros((N_CLASSES, 16))
    counts.plane_margins(panels, segments, margins)
    pairs = np.array([[0, 1], [1, 2], [2, -1]])
    first_cells = np.array([0, 30, 105])
    class_counts = rng.integers(100, 400, size=N_CLASSES) * 1.0
    tables = np.zeros(120)
    return panels, segments, STARTS, margins, class_counts, pairs, first_cells, tables


def _extend_keys(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(0, 300))
    keys = rng.integers(-1, 5, size=n_rows).astype(np.int32)
    dtype = np.uint8 if rng.integers(2) else np.uint16
    return keys, rng.integers(4, size=n_rows).astype(dtype), 3


def _key_counts(rng: np.random.Generator) -> Arguments:
    keys, _, _ = _extend_keys(rng)
    dtype = np.uint8 if rng.integers(2) else np.uint16
    block = rng.integers(3, size=(4, len(keys))).astype(dtype)
    slots, starts, widths = np.array([3, 1]), np.array([0, 3]), np.array([3, 4])
    weights = rng.random(len(keys)) if rng.integers(2) else np.ones(1)
    return keys, block, slots, starts, widths, weights, np.zeros((6, 7))


# Where states begin, numbers of stored codes, of codes and of states, whether the
# variable is whole, and a sum: a whole variable, one with a missing state, and one of
# which all is stored.
VARIABLES = np.array(
    [[0, 2, 3, 3, 1, 5], [2, 2, 3, 2, 0, 0], [4, 3, 3, 2, 0, 0]], dtype=np.int64
)


def _pair_information(rng: np.random.Generator) -> Arguments:
    is_real = bool(rng.integers(2))
    stored = rng.integers(9, size=(2, 7, 7)).astype(np.float64 if is_real else np.int32)
    margins = rng.integers(30, 60, size=(2, 7)) * 1.0
    class_counts = np.array([150.0, 250.0])
    terms = rng.integers(100, size=50)
    information = np.zeros((6, 6))
    corner = (0, 0) if rng.integers(2) else (0, 3)
    return (
        *(stored, corner == (0, 0), class_counts, VARIABLES, VARIABLES.copy()),
        *(margins, margins.copy(), terms, 2.0**40, 0, 3, information, *corner),
    )


def _count_families(rng: np.random.Generator) -> Arguments:
    """Two narrow variables, a wide one in a coding of its own, and the class."""
    n_rows = int(rng.integers(1, 1500))
    narrow = rng.integers(3, size=(3, n_rows)).astype(np.uint8)
    wide = rng.integers(300, size=(1, n_rows)).astype(np.uint16)
    values = [np.arange(4), np.arange(4), np.append(np.arange(300) // 7, 43)]
    return (
        narrow,
        wide,
        np.array([0, 1, -1, 2]),
        rng.random(n_rows),
        np.array([[0, 2, 1], [2, -1, -1]]),
        np.concatenate(values).astype(np.uint16),
        np.array([0, 4, 8, 309]),
        3,
        float(rng.integers(1, 9)),
    )


def _unpack_cells(rng: np.random.Generator) -> Arguments:
    """Two families of three variables, with steps of one byte and of two."""
    n_cells = rng.integers(1, 60, size=2)
    steps = [
        part
        for step in rng.integers(0, 20, size=n_cells.sum()).tolist()
        for part in ([step | 0x80, 0] if step > 14 else [step])
    ]
    return (
        np.array(steps, dtype=np.uint8),
        np.array([[0, 2, 1], [2, -1, -1]]),
        np.array([300, 5, 900]),
        n_cells,
        3,
    )


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "class_order": _rows,
    "pack_planes": lambda rng: _unpacked(rng)[:-1],
    "plane_counts": _plane_counts,
    "plane_margins": _plane_margins,
    "plane_families": _plane_families,
    "extend_keys": _extend_keys,
    "key_counts": _key_counts,
    "pair_information": _pair_information,
    "count_families": _count_families,
    "family_sizes": _count_families,
    "unpack_cells": _unpack_cells,
}
