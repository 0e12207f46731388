from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayleaf.counts.source import Family
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from offenders import check_each
from oracles import counting

# Two ways of counting: the tables are small, the examples few.
few_examples = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

TABLES = {
    "plain": counting.random_codes([2, 3, 5, 4, 2], 200, seed=1),
    "missing cells": counting.random_codes([2, 3, 5, 4, 2], 200, missing=0.2, seed=2),
    "whole weights": counting.random_codes(
        [2, 3, 5, 4, 3], 200, missing=0.1, weights="whole", seed=3
    ),
    "one class": counting.random_codes([2, 3, 5, 4, 1], 130, missing=0.1, seed=4),
    "one state": counting.random_codes([1, 3, 1, 4, 2], 100, missing=0.1, seed=5),
    "wide columns": counting.random_codes([300, 3, 25, 4, 2], 400, missing=0.1, seed=6),
    "255 and 256 states": counting.random_codes(
        [255, 256, 3, 4, 2], 400, missing=0.1, seed=7
    ),
    "300 classes": counting.random_codes([2, 3, 5, 4, 300], 400, seed=8),
    "no rows": counting.random_codes([2, 3, 5, 4, 2], 0),
    "one row": counting.random_codes([2, 3, 5, 4, 2], 1),
    "64 rows": counting.random_codes([2, 3, 5, 4, 2], 64, seed=9),
    "weights of zero": counting.random_codes([2, 3, 5, 4, 2], 65, seed=9),
    "rows beyond a tile": counting.random_codes(
        [2, 3, 2], 16_500, missing=0.1, seed=10
    ),
}
TABLES["weights of zero"] = Codes.from_blocks(
    TABLES["weights of zero"].narrow,
    TABLES["weights of zero"].wide,
    TABLES["weights of zero"].slots,
    TABLES["weights of zero"].cards,
    np.zeros(65),
)


def families_of(codes: Codes) -> list[Family]:
    """Families of every kind that engines treat differently."""
    c = codes.n_variables - 1
    families = [(c,), (0,), (c, 0), (0, c), (c, 0, 1), (0, c, 1), (1, 0), (c, 1, 0)]
    if c > 3:
        families += [(1, 2, 3), (c, 1, 2, 3), (2, 3), (c, 2), (c, 3)]
    return families


def test_family_counts_equal_counting_row_by_row(engine: str) -> None:
    def check(table: str) -> None:
        codes = TABLES[table]
        families = families_of(codes)
        counted = RowCounts(codes).family_counts(families)
        for family, counts in zip(families, counted, strict=True):
            np.testing.assert_array_equal(counts, counting.family_counts(codes, family))

    check_each(TABLES, check)


def test_pair_counts_equal_counting_row_by_row(engine: str) -> None:
    def check(table: str) -> None:
        codes = TABLES[table]
        features = range(codes.n_variables - 1)
        pairs = RowCounts(codes).pair_counts(features, features)
        for i in features:
            for j in features:
                expected = counting.dense_pair(codes, i, j)[:, :-1, :-1]
                np.testing.assert_array_equal(pairs.table(i, j), expected)

    check_each(TABLES, check)


def test_pair_counts_of_different_sides_equal_counting_row_by_row(engine: str) -> None:
    def check(table: str) -> None:
        codes = TABLES[table]
        n_features = codes.n_variables - 1
        left, right = (n_features - 1, 0), range(n_features)
        pairs = RowCounts(codes).pair_counts(left, right)
        for i in left:
            for j in right:
                expected = counting.dense_pair(codes, i, j)[:, :-1, :-1]
                np.testing.assert_array_equal(pairs.table(i, j), expected)

    check_each(TABLES, check)


def test_dense_pair_counts_keep_missing_cells_as_a_state(engine: str) -> None:
    def check(table: str) -> None:
        codes = TABLES[table]
        features = range(codes.n_variables - 1)
        rows = [
            np.concatenate([counting.dense_pair(codes, i, j) for j in features], axis=2)
            for i in features
        ]
        dense = RowCounts(codes).pair_counts(features, features).dense()
        np.testing.assert_array_equal(dense, np.concatenate(rows, axis=1))

    check_each(TABLES, check)


def test_class_counts_equal_counting_row_by_row(engine: str) -> None:
    def check(table: str) -> None:
        codes = TABLES[table]
        expected = counting.family_counts(codes, [codes.n_variables - 1])
        np.testing.assert_array_equal(RowCounts(codes).class_counts(), expected)

    check_each(TABLES, check)


def test_fractional_weights_are_added_up(engine: str) -> None:
    codes = counting.random_codes(
        [2, 30, 5, 3], 3000, missing=0.1, weights="fractional", seed=11
    )
    source = RowCounts(codes)
    families = [(3, 0), (3, 0, 1), (1,), (0, 1, 2)]
    for family, counts in zip(families, source.family_counts(families), strict=True):
        expected = counting.family_counts(codes, family)
        np.testing.assert_allclose(counts, expected, rtol=1e-12)
    pairs = source.pair_counts((0, 1, 2), (0, 1, 2))
    expected = counting.dense_pair(codes, 1, 2)[:, :-1, :-1]
    np.testing.assert_allclose(pairs.table(1, 2), expected, rtol=1e-12)


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("weights", ["unit", "whole", "fractional"])
def test_threads_count_the_same_bit_for_bit(engine: str, weights: str) -> None:
    cards = [2, 3, 30, 5, 4, 2, 2, 3, 3]
    codes = counting.random_codes(
        cards, 70_000 if engine == "planes" else 3000, weights=weights, seed=12
    )
    families = [(8, 0), (8, 0, 1), (1, 2, 3), (8, 4, 5)]
    one, three = RowCounts(codes), RowCounts(codes, n_jobs=3)
    for counts, expected in zip(
        three.family_counts(families), one.family_counts(families), strict=True
    ):
        np.testing.assert_array_equal(counts, expected)
    dense = three.pair_counts(range(8), range(8)).dense()
    np.testing.assert_array_equal(dense, one.pair_counts(range(8), range(8)).dense())


@pytest.mark.usefixtures("eager_threads")
def test_threads_over_columns_count_the_same(use_engine: Callable[[str], None]) -> None:
    use_engine("planes")
    codes = counting.random_codes([2, 3] * 40 + [2], 300, seed=13)
    one, three = RowCounts(codes), RowCounts(codes, n_jobs=3)
    dense = three.pair_counts(range(80), range(80)).dense()
    np.testing.assert_array_equal(dense, one.pair_counts(range(80), range(80)).dense())


@few_examples
@given(
    cards=st.lists(st.integers(1, 24), min_size=2, max_size=5),
    n_rows=st.integers(0, 200),
    missing=st.sampled_from([0.0, 0.3]),
    weights=st.sampled_from(["unit", "whole"]),
    seed=st.integers(0, 2**32),
    cut=st.floats(0, 1),
)
def test_counts_of_two_halves_add_up_to_those_of_the_whole(
    engine: str,
    cards: list[int],
    n_rows: int,
    missing: float,
    weights: str,
    seed: int,
    cut: float,
) -> None:
    codes = counting.random_codes(
        cards, n_rows, missing=missing, weights=weights, seed=seed
    )
    middle = round(cut * n_rows)
    features = range(len(cards) - 1)
    whole, first, second = (
        RowCounts(part).pair_counts(features, features).dense()
        for part in (
            codes,
            codes.rows(slice(0, middle)),
            codes.rows(slice(middle, n_rows)),
        )
    )
    np.testing.assert_array_equal(first + second, whole)


@few_examples
@given(
    cards=st.lists(st.integers(1, 24), min_size=2, max_size=5),
    n_rows=st.integers(0, 100),
    seed=st.integers(0, 2**32),
)
def test_whole_weights_equal_repeated_rows(
    engine: str, cards: list[int], n_rows: int, seed: int
) -> None:
    codes = counting.random_codes(
        cards, n_rows, missing=0.1, weights="whole", seed=seed
    )
    rows = np.repeat(np.arange(n_rows), codes.weights.astype(int))
    repeated = Codes.from_blocks(
        np.ascontiguousarray(codes.narrow[:, rows]),
        np.ascontiguousarray(codes.wide[:, rows]),
        codes.slots,
        codes.cards,
    )
    features = range(len(cards) - 1)
    families = [(len(cards) - 1, *features), (*features,)]
    weighted, unweighted = RowCounts(codes), RowCounts(repeated)
    np.testing.assert_array_equal(
        weighted.pair_counts(features, features).dense(),
        unweighted.pair_counts(features, features).dense(),
    )
    for a, b in zip(
        weighted.family_counts(families[:1] if len(cards) > 3 else families),
        unweighted.family_counts(families[:1] if len(cards) > 3 else families),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_large_weights_are_counted_exactly(engine: str) -> None:
    codes = counting.random_codes([3, 4, 2], 100, seed=14)
    weights = np.arange(100.0) * 1000
    weighted = Codes.from_blocks(
        codes.narrow, codes.wide, codes.slots, codes.cards, weights
    )
    table = RowCounts(weighted).pair_counts((0,), (1,)).table(0, 1)
    expected = counting.dense_pair(weighted, 0, 1)[:, :-1, :-1]
    np.testing.assert_array_equal(table, expected)


def test_counts_are_new_arrays_of_float64(engine: str) -> None:
    source = RowCounts(TABLES["plain"])
    source.class_counts()[:] = 0
    assert source.class_counts().sum() == 200
    for counts in source.family_counts([(4, 0), (0, 1, 2)]):
        assert counts.dtype == np.float64
        assert counts.flags.c_contiguous


def test_many_families_are_counted_in_batches_of_columns(
    use_engine: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from bayleaf.counts import table_counts

    use_engine("planes")
    monkeypatch.setattr(table_counts, "_PACKED_BYTES", 100)
    codes = counting.random_codes([3, 4, 5, 2, 2], 300, seed=15)
    families = [(4, 0), (4, 0, 1), (4, 2, 3), (4, 1)]
    for family, counts in zip(
        families, RowCounts(codes).family_counts(families), strict=True
    ):
        np.testing.assert_array_equal(counts, counting.family_counts(codes, family))


def test_no_families_and_no_pairs_are_counted_as_nothing(engine: str) -> None:
    source = RowCounts(TABLES["plain"])
    assert source.family_counts([]) == []
    assert source.pair_counts((), (0, 1)).dense().shape == (2, 0, 7)
    assert source.pair_counts((), ()).dense().shape == (2, 0, 0)


def test_add_up_hands_over_blocks_of_rows_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bayleaf.counts import table_counts

    monkeypatch.setattr(table_counts, "_BLOCK_ROWS", 30)
    codes = TABLES["whole weights"]

    def weight_and_rows(block: Codes) -> np.ndarray:
        return np.array([block.weights.sum(), block.n_rows, block.n_rows > 30])

    total = RowCounts(codes, n_jobs=2).add_up(weight_and_rows)
    np.testing.assert_array_equal(total, [codes.weights.sum(), 200, 0])


def test_the_sum_over_blocks_does_not_depend_on_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bayleaf.counts import table_counts

    monkeypatch.setattr(table_counts, "_BLOCK_ROWS", 7)
    codes = counting.random_codes([2, 2], 500, weights="fractional", seed=16)
    sums = [
        RowCounts(codes, n_jobs=n_jobs).add_up(lambda block: block.weights.sum())
        for n_jobs in (1, 3)
    ]
    assert sums[0] == sums[1]


def test_a_family_that_is_too_large_raises_its_size() -> None:
    codes = counting.random_codes([300, 300, 300, 2], 10)
    with pytest.raises(ValueError, match=r"5.4e\+07 joint states.*max_table_cells=2e"):
        RowCounts(codes).family_counts([(3, 0, 1, 2)])


def test_the_largest_family_may_be_set() -> None:
    codes = counting.random_codes([3, 4, 2], 10)
    assert RowCounts(codes, max_table_cells=24).family_counts([(2, 0, 1)])
    with pytest.raises(ValueError, match="24 joint states"):
        RowCounts(codes, max_table_cells=23).family_counts([(2, 0, 1)])


def test_few_families_are_counted_as_many_are() -> None:
    def check(n_families: int) -> None:
        codes = TABLES["missing cells"]
        families = [
            ((4, 0, 1), (4, 2, 3), (4, 1), (0, 2))[k % 4] for k in range(n_families)
        ]
        for family, counts in zip(
            families, RowCounts(codes).family_counts(families), strict=True
        ):
            np.testing.assert_array_equal(counts, counting.family_counts(codes, family))

    check_each([1, 7, 8, 20], check)
