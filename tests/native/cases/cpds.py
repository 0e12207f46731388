"""Valid calls of the native evidence of sampled networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.native.counts import count_families
from bayleaf.native.cpds import LinearFamilies, Networks

Arguments = tuple[Any, ...]

# Two features of three states, then the class; both have the other as parent.
N_CLASSES = 2
PSEUDO = (1.0, 0.5, 0.0)


def _codes(rng: np.random.Generator, n_rows: int) -> Arguments:
    narrow = rng.integers(3, size=(3, n_rows)).astype(np.uint8)
    narrow[2] %= N_CLASSES
    return narrow, np.zeros((0, n_rows), dtype=np.uint16), np.arange(3)


def _network(rng: np.random.Generator) -> Arguments:
    families = np.array([[0, 1], [1, 0]])
    values = np.tile(np.arange(4), 2).astype(np.uint16)
    value_starts = np.array([0, 4, 8])
    codes = _codes(rng, int(rng.integers(1, 200)))
    weights = rng.random(codes[0].shape[1])
    cells = count_families(
        *codes, weights, families, values, value_starts, N_CLASSES, 2.0
    )
    return families, values, value_starts, *cells


def _networks(rng: np.random.Generator) -> Networks:
    networks = Networks(N_CLASSES, PSEUDO, 2.0)
    networks.add(*_network(rng))
    return networks


def _add(rng: np.random.Generator) -> Arguments:
    return Networks(N_CLASSES, PSEUDO, 2.0), *_network(rng)


def _write_log_probabilities(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(1, 100))
    codes = _codes(rng, n_rows)
    own = codes[0][2].astype(np.int64)
    dtype = rng.choice([np.float32, np.float64])
    values = np.zeros((n_rows, N_CLASSES, 4), dtype=dtype)
    used = rng.integers(1, 3, size=1)
    shares = np.zeros(n_rows)
    return _networks(rng), range(1, 2), *codes, own, shares, values, 1, 2, used


def _add_scores(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(1, 100))
    scores = np.zeros((n_rows, N_CLASSES))
    sets = rng.integers(3, size=n_rows)
    return _networks(rng), *_codes(rng, n_rows), rng.random((3, 2, 2)), sets, scores


N_CLASSES, N_COLUMNS = 2, 3


def _families(rng: np.random.Generator) -> LinearFamilies:
    starts = np.array([0, 0, 2, 3])
    return LinearFamilies(
        children=np.array([0, 0, 2]),
        pieces=np.array([0, 1, 1]),
        starts=starts,
        parents=np.array([1, 2, 0]),
        shares=np.array([1.0, 0.5, 0.5]),
        facts=rng.random((3, N_CLASSES, 3)) + 1.0,
        coefficients=rng.random((N_CLASSES, 6)),
        triangles=rng.random((N_CLASSES, 1 + 6 + 3)),
        means=rng.random((N_CLASSES, N_COLUMNS)),
        variances=rng.random((N_CLASSES, N_COLUMNS)),
    )


def _write(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(1, 300))
    positions = rng.normal(size=(N_COLUMNS, n_rows))
    positions[rng.random(positions.shape) < 0.1] = np.nan
    own = rng.integers(-1, N_CLASSES, size=n_rows)
    dtype = rng.choice([np.float32, np.float64])
    values = np.zeros((n_rows, N_CLASSES, 4), dtype=dtype)
    return _families(rng), positions, own, rng.random(n_rows), values, 1, 2


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "Networks.add": _add,
    "Networks.write_log_probabilities": _write_log_probabilities,
    "Networks.add_scores": _add_scores,
    "LinearFamilies.write": _write,
}
