"""The short way for a matrix of integers equals the long one, column by column."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bayleaf.data import encoder_learning
from bayleaf.data import table_encoder as encoding
from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.domain import Variable
from bayleaf.data.encoder_learning import Target, learn_encoder
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import Matrix
from bayleaf.data.tables.frames import to_columns
from offenders import check_each

LOWEST, HIGHEST = -(2**63), 2**63 - 1


class _Median:
    """A discretizer that cuts at the median."""

    def cut_points(self, values: NDArray[np.float64], *_: Any) -> tuple[float, ...]:
        return (float(np.median(values)),)


def _nothing(matrix: Matrix, *_: Any) -> tuple[list[None], NDArray[np.uint8]]:
    """No column learned or encoded the short way, and no room for any."""
    return [None] * len(matrix.names), np.empty((0, 0), dtype=np.uint8)


@contextmanager
def column_by_column() -> Iterator[None]:
    """Keep matrices from going the short way."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (encoder_learning, "learn_matrix"),
            (encoding, "encode_matrix"),
        ):
            patch.setattr(module, name, _nothing)
        yield


WAYS: list[Callable[[], AbstractContextManager[None]]] = [nullcontext, column_by_column]


def _learn(
    values: NDArray[np.int64], rules: EncoderRules
) -> tuple[TableEncoder, list[list[int]]]:
    target = Target(Variable("y", (0,)), np.zeros(len(values), dtype=np.intp))
    names = tuple(f"x{j}" for j in range(values.shape[1]))
    fitted, codes = learn_encoder(
        Matrix(values, names), target, np.ones(len(values)), _Median(), rules
    )
    return fitted, _lists(codes)


def _lists(codes: Codes) -> list[list[int]]:
    return [codes.column(i).tolist() for i in range(codes.n_variables)]


def _both_ways(train: NDArray[np.int64], test: NDArray[np.int64], **rules: Any) -> None:
    """Check that learning and encoding do not depend on the way taken."""
    found = []
    names = tuple(f"x{j}" for j in range(train.shape[1]))
    for way in WAYS:
        with way():
            fitted, codes = _learn(train, EncoderRules(**rules))
            later = fitted.transform(Matrix(test, names))
            found.append(
                (
                    fitted.domain,
                    fitted.notes,
                    codes,
                    _lists(later.codes),
                    later.unknown,
                )
            )
    assert found[0] == found[1]


INTEGERS = st.one_of(
    st.integers(0, 5),
    st.integers(-3, 3),
    st.integers(-200, 200),
    st.sampled_from([LOWEST, LOWEST + 1, HIGHEST - 1, HIGHEST, 2**62, -(2**62), 0]),
)


ANY_TABLES = given(
    st.lists(st.tuples(INTEGERS, INTEGERS, st.integers(7, 9)), min_size=1, max_size=20),
    st.lists(st.tuples(INTEGERS, INTEGERS, INTEGERS), min_size=1, max_size=20),
)


@settings(deadline=None, max_examples=30)
@ANY_TABLES
@pytest.mark.parametrize("declared", [None, ("x0", "x1", "x2")])
def test_both_ways_agree_on_small_matrices(
    declared: tuple[str, ...] | None, train: list[Any], test: list[Any]
) -> None:
    _both_ways_agree(declared, train, test)


@pytest.mark.few(1)
@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@ANY_TABLES
@pytest.mark.parametrize("declared", [None, ("x0", "x1", "x2")])
def test_both_ways_agree_on_many_small_matrices(
    declared: tuple[str, ...] | None, train: list[Any], test: list[Any]
) -> None:
    _both_ways_agree(declared, train, test)


def _both_ways_agree(
    declared: tuple[str, ...] | None, train: list[Any], test: list[Any]
) -> None:
    _both_ways(
        np.array(train, dtype=np.int64),
        np.array(test, dtype=np.int64),
        categorical_features=declared,
    )


def test_both_ways_agree_on_every_range() -> None:
    def check(case: tuple[int, int]) -> None:
        spread, low = case
        # Every distinct value occurs, the lowest and the highest in the last rows only.
        column = np.array(
            [low + (i % spread) for i in range(2 * spread)], dtype=np.int64
        )
        rolled = np.roll(column, 1)[:, None]
        strange = np.array(
            [[LOWEST], [HIGHEST], [0], [max(low - 1, LOWEST)], [low + spread]]
        )
        _both_ways(rolled, strange.astype(np.int64), categorical_features=("x0",))

    check_each(
        itertools.product(
            [1, 2, 64, 65, 66, 254, 255, 256, 257, 300],
            [0, -100, LOWEST, 2**62 - 5, HIGHEST - 301],
        ),
        check,
    )


def test_a_low_number_that_a_sample_overlooks_is_found() -> None:
    values = np.full((20_000, 1), 5, dtype=np.int64)
    values[::3] = 7
    values[4098] = 1
    _both_ways(values, values)
    assert _learn(values, EncoderRules())[0].domain[0].states == (1, 5, 7)


@pytest.mark.parametrize("order", ["C", "F"])
def test_both_ways_agree_over_several_tiles(order: Any) -> None:
    rng = np.random.default_rng(3)
    values = np.asarray(rng.integers(-4, 6, size=(1000, 5)), order=order)
    _both_ways(values, np.asarray(rng.integers(-6, 8, size=(777, 5)), order=order))


def test_a_view_with_gaps_is_read_rightly() -> None:
    rng = np.random.default_rng(4)
    values = rng.integers(0, 4, size=(600, 6))[::2, ::-2]
    _both_ways(values, values[::-1])


def test_a_read_only_matrix_is_read() -> None:
    values = np.random.default_rng(5).integers(0, 4, size=(300, 2))
    values.setflags(write=False)
    _both_ways(values, values)


def test_unknown_values_are_refused_on_both_ways() -> None:
    train, test = np.array([[0], [1]]), np.array([[0], [2]])
    for way in WAYS:
        with way():
            fitted, _ = _learn(train, EncoderRules(unknown="error"))
            with pytest.raises(
                ValueError, match=r"'x0' holds values.*\(2\).*unknown='missing'"
            ):
                fitted.transform(Matrix(test, ("x0",)))


@pytest.mark.parametrize("kind", ["int8", "uint8", "bool"])
def test_small_integers_take_little_more_than_their_codes(kind: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (40_000, 200), dtype=np.uint8).astype(kind)
    rules, weights = EncoderRules(), np.ones(len(values))
    parts = to_columns(values)
    target = Target(Variable("y", (0, 1)), values[:, 0].astype(np.intp))
    tracemalloc.start()
    _, codes = learn_encoder(parts, target, weights, _Median(), rules)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Blocks of half a million cells are widened at a time, into some 10 MB.
    assert peak <= codes.narrow.nbytes + 12 * 2**20
    assert codes.column(3).tolist() == values[:, 3].astype(int).tolist()
