"""Kernels do the same interpreted as compiled, and interpreted need no compiler."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from math import inf
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bayleaf.compiled import (
    LITTLE_WORK,
    RunningWork,
    compiled,
    compiled_sums,
    is_little,
    kernel_for,
)
from bayleaf.search import (
    latent_pair_kernels,
    latent_search_kernels,
    state_collapsing_kernels,
)

Arguments = tuple[Any, ...]

N_ROWS, N_CLASSES, N_FOLDS, LEFT, RIGHT = 60, 9, 3, 3, 4


@compiled
def _scattered(key: np.int64) -> np.int64:
    """A product that does not fit its type."""
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32))


@compiled
def _scattered_keys(keys: np.ndarray, places: np.ndarray) -> None:
    for row in range(keys.size):
        places[row] = _scattered(keys[row]) & 1023


@compiled_sums
def _summed(values: np.ndarray) -> float:
    total = 0.0
    for row in range(values.size):
        total += values[row]
    return total


def _counts(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Counts of fractional weights, with many empty cells."""
    return rng.poisson(1.0, shape) * rng.choice([0.3, 1.0, 7.7], shape)


def _columns(rng: np.random.Generator, *cards: int) -> list[np.ndarray]:
    """Two-byte columns, missing states included."""
    return [rng.integers(card + 1, size=N_ROWS).astype(np.uint16) for card in cards]


def _runs(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(N_FOLDS * N_CLASSES, size=N_ROWS).astype(np.int32)


def _padded(rng: np.random.Generator) -> np.ndarray:
    """States of a latent variable, also where a child is missing."""
    padded = rng.integers(3, size=(LEFT + 1, RIGHT + 1))
    padded[0, 0], padded[-1] = 2, 3
    padded[:, -1] = 3
    return padded


def _collapse(rng: np.random.Generator) -> Arguments:
    return _counts(rng, N_CLASSES, LEFT, RIGHT), 5.0, 1e-9


def _merge_states(rng: np.random.Generator) -> Arguments:
    return _counts(rng, 12, N_CLASSES) + 0.1, 5.0, 1e-9, np.empty(12)


def _pair_statistics(rng: np.random.Generator) -> Arguments:
    cards = np.array([3, 2, 4])
    n_states = int((cards + 1).sum())
    dense = _counts(rng, 3, n_states, n_states)
    kind = int(rng.integers(3))
    return dense, cards, cards, bool(kind % 2), kind, *np.zeros((3, 3, 3))


def _deal(rng: np.random.Generator) -> Arguments:
    classes = rng.integers(N_CLASSES, size=N_ROWS).astype(np.uint16)
    return rng.permutation(N_ROWS), classes, rng.random(N_ROWS), N_CLASSES, N_FOLDS


def _count_cells(rng: np.random.Generator) -> Arguments:
    counts = np.zeros((N_FOLDS * N_CLASSES, (LEFT + 1) * (RIGHT + 1)))
    columns = _columns(rng, LEFT, RIGHT)
    return *columns, RIGHT + 1, _runs(rng), rng.random(N_ROWS), counts


def _with_missing(rng: np.random.Generator) -> Arguments:
    return (rng.integers(2, size=(LEFT, RIGHT)),)


def _latent_codes(rng: np.random.Generator) -> Arguments:
    codes = np.zeros(N_ROWS, dtype=np.uint16)
    return *_columns(rng, LEFT, RIGHT), _padded(rng), codes


def _merge_cells(rng: np.random.Generator) -> Arguments:
    return _counts(rng, 6, (LEFT + 1) * (RIGHT + 1)), _padded(rng)


def _changes(rng: np.random.Generator) -> Arguments:
    widths = LEFT + 1, RIGHT + 1, 4
    logs = [-rng.random((N_FOLDS, width, N_CLASSES)) for width in widths]
    return *logs, _padded(rng)


def _gains(rng: np.random.Generator) -> np.ndarray:
    return -rng.random((N_FOLDS, (LEFT + 1) * (RIGHT + 1), N_CLASSES))


def _predictive_scores(rng: np.random.Generator) -> Arguments:
    scores = -9.0 * rng.random((N_ROWS, N_CLASSES))
    columns = _columns(rng, LEFT, RIGHT)
    weights = rng.random(N_ROWS)
    return *columns, RIGHT + 1, _runs(rng), weights, scores, _gains(rng), True


def _add_gains(rng: np.random.Generator) -> Arguments:
    scores = -9.0 * rng.random((N_ROWS, N_CLASSES))
    return *_columns(rng, LEFT, RIGHT), RIGHT + 1, _runs(rng), _gains(rng), scores


def _keys(rng: np.random.Generator) -> Arguments:
    return rng.integers(2**40, size=200), np.empty(200, dtype=np.int64)


CASES: list[tuple[Callable[..., object], Callable[..., Arguments]]] = [
    (_scattered_keys, _keys),
    (state_collapsing_kernels.collapse, _collapse),
    (state_collapsing_kernels.merge_states, _merge_states),
    (latent_pair_kernels.pair_statistics, _pair_statistics),
    (latent_search_kernels.deal, _deal),
    (latent_search_kernels.count_cells, _count_cells),
    (latent_search_kernels.with_missing, _with_missing),
    (latent_search_kernels.latent_codes, _latent_codes),
    (latent_search_kernels.merge_cells, _merge_cells),
    (latent_search_kernels.changes, _changes),
    (latent_search_kernels.predictive_scores, _predictive_scores),
    (latent_search_kernels.add_gains, _add_gains),
]


def _outcome(kernel: Callable[..., object], arguments: Arguments) -> list[np.ndarray]:
    """What a kernel returns, and what its arguments become."""
    own = deepcopy(arguments)
    returned = kernel(*own)
    values = returned if isinstance(returned, tuple) else (returned,)
    return [np.asarray(value) for value in (*values, *own) if value is not None]


@pytest.mark.parametrize(
    ("kernel", "arguments"), CASES, ids=lambda function: function.__name__
)
def test_an_interpreted_kernel_gives_the_bits_of_the_compiled_one(
    kernel: Callable[..., object], arguments: Callable[..., Arguments]
) -> None:
    for seed in range(6):
        given = arguments(np.random.default_rng(seed))
        fast = _outcome(kernel_for(kernel, inf), given)
        slow = _outcome(kernel_for(kernel, 0), given)
        assert len(fast) == len(slow) > 0
        for one, other in zip(fast, slow):
            assert one.dtype.kind == other.dtype.kind
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "module",
    [latent_pair_kernels, latent_search_kernels, state_collapsing_kernels],
    ids=lambda module: module.__name__,
)
def test_every_kernel_of_a_search_for_latent_variables_is_compared(
    module: ModuleType,
) -> None:
    kernels = {
        name
        for name, value in vars(module).items()
        if type(value) is type(_summed) and not name.startswith("_")
    }
    assert kernels
    assert kernels <= {kernel.__name__ for kernel, _ in CASES}


def test_sums_in_any_order_agree_but_for_rounding() -> None:
    values = np.random.default_rng(0).random(1000)
    slow = kernel_for(_summed, 0)(values)
    assert slow == np.cumsum(values)[-1]
    assert kernel_for(_summed, inf)(values) == pytest.approx(slow, rel=1e-13)


def test_a_called_kernel_is_compiled() -> None:
    values = np.random.default_rng(0).random(1000)
    assert _summed(values) == kernel_for(_summed, inf)(values)


def test_the_form_depends_on_the_work_alone() -> None:
    assert kernel_for(_summed, LITTLE_WORK + 1) is kernel_for(_summed, inf)
    assert kernel_for(_summed, LITTLE_WORK) is not kernel_for(_summed, inf)


def test_many_questions_of_little_work_are_much() -> None:
    work = RunningWork()
    assert is_little(work.with_more(0.6 * LITTLE_WORK))
    assert not is_little(work.with_more(0.6 * LITTLE_WORK))


def test_a_product_that_overflows_warns_nobody() -> None:
    keys, places = _keys(np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel_for(_scattered_keys, 0)(keys, places)
    with pytest.warns(RuntimeWarning, match="overflow"):
        _scattered.__wrapped__(keys[0])


def test_interpreted_kernels_load_no_numba() -> None:
    code = (
        "import sys\n"
        "import numpy as np\n"
        "from bayleaf.compiled import kernel_for\n"
        "from bayleaf.search.state_collapsing_kernels import collapse\n"
        "kernel_for(collapse, 0)(np.ones((2, 3, 3)), 1.0, 1e-9)\n"
        "assert 'numba' not in sys.modules\n"
        "collapse(np.ones((2, 3, 3)), 1.0, 1e-9)\n"
        "assert 'numba' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
