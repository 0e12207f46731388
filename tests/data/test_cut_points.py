"""Cut points equal slow reference code, and weights are exact."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris

from bayleaf.data import cut_points
from bayleaf.data.cut_points import (
    equal_frequency_cut_points,
    equal_width_cut_points,
    mdlp_cut_points,
    standard_deviation_cut_points,
)
from offenders import check_each
from oracles import mdlp as oracle
from timing import least_work

Table = tuple[NDArray[np.float64], NDArray[np.intp], int, NDArray[np.float64]]
Rule = Callable[..., tuple[float, ...]]

KINDS = ("distinct", "ties", "few", "runs")
WEIGHTS = ("ones", "whole", "fractional")
RULES: dict[str, Rule] = {
    "mdlp": mdlp_cut_points,
    "standard_deviation": lambda v, c, k, w: standard_deviation_cut_points(v, w),
    "equal_frequency": lambda v, c, k, w: equal_frequency_cut_points(v, w, 4),
    "equal_width": lambda v, c, k, w: equal_width_cut_points(v, w, 4),
}


def random_table(seed: int, kind: str, weighting: str, *, n_rows: int = 70) -> Table:
    """A column that tells something about the class, a tenth of it missing."""
    rng = np.random.default_rng([seed, KINDS.index(kind), WEIGHTS.index(weighting)])
    n_classes = int(rng.integers(1, 6))
    values = {
        "distinct": rng.normal(size=n_rows),
        "ties": np.round(rng.normal(size=n_rows), 1),
        "few": rng.integers(0, 6, n_rows).astype(float),
        "runs": rng.permutation(n_rows).astype(float),
    }[kind]
    step = (n_rows if kind == "runs" else 6) / rng.integers(4, 10)
    classes = np.floor(values / step).astype(np.intp) % n_classes
    strays = rng.random(n_rows) < 0.1
    classes[strays] = rng.integers(0, n_classes, strays.sum())
    values[rng.random(n_rows) < 0.1] = np.nan
    weights = {
        "ones": np.ones(n_rows),
        "whole": rng.integers(0, 4, n_rows).astype(float),
        "fractional": rng.random(n_rows) * 3,
    }[weighting]
    return values, classes, n_classes, weights


def repeated(table: Table) -> Table:
    """The same table with every row as often as its weight says."""
    values, classes, n_classes, weights = table
    rows = np.repeat(np.arange(len(values)), weights.astype(int))
    return values[rows], classes[rows], n_classes, np.ones(len(rows))


def chosen(table: Table, rows: Any) -> Table:
    """Some rows of a table, in the order given."""
    values, classes, n_classes, weights = table
    return values[rows], classes[rows], n_classes, weights[rows]


@pytest.fixture(params=[4_000_000, 20], ids=["checkpoints", "few checkpoints"])
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search with one block to a checkpoint, and with several."""
    monkeypatch.setattr(cut_points, "_MAX_CHECKPOINT_COUNTS", request.param)


@pytest.mark.usefixtures("search")
def test_mdlp_equals_the_oracle() -> None:
    def check(case: tuple[str, str, int]) -> None:
        weighting, kind, seed = case
        values, classes, n_classes, weights = random_table(seed, kind, weighting)
        expected = oracle.mdlp_cut_points(
            values.tolist(), classes.tolist(), weights.tolist()
        )
        assert mdlp_cut_points(values, classes, n_classes, weights) == expected

    check_each(itertools.product(WEIGHTS, KINDS, range(6)), check)


def test_the_tables_of_the_oracle_test_are_cut_often_enough_to_tell() -> None:
    cuts = [
        len(mdlp_cut_points(*random_table(seed, kind, "ones")))
        for seed in range(6)
        for kind in KINDS
    ]
    assert sum(count >= 2 for count in cuts) >= 8


@pytest.mark.usefixtures("search")
def test_branch_and_bound_finds_the_cuts_of_trying_all() -> None:
    def check(case: tuple[int, float]) -> None:
        n_classes, noise = case
        rng = np.random.default_rng(0)
        values = rng.random(4000)
        classes = (values * 40).astype(np.intp) % n_classes
        strays = rng.random(4000) < noise
        classes[strays] = rng.integers(0, n_classes, strays.sum())
        weights = rng.integers(1, 4, 4000) * 1.0
        expected = oracle.cuts_by_trying_all(values, classes, n_classes, weights)
        assert mdlp_cut_points(values, classes, n_classes, weights) == expected
        assert len(expected) > 30 or noise == 1.0

    check_each(itertools.product([2, 7], [0.0, 0.2, 1.0]), check)


def test_mdlp_finds_the_known_cut_points_of_iris() -> None:
    def check(case: tuple[int, tuple[float, ...]]) -> None:
        column, expected = case
        table, classes = load_iris(return_X_y=True)
        assert mdlp_cut_points(table[:, column], classes, 3, np.ones(150)) == expected

    check_each(
        [
            (0, (5.55, 6.15)),
            (1, (2.95, (3.3 + 3.4) / 2)),
            (2, (2.45, 4.75)),
            (3, (0.8, 1.75)),
        ],
        check,
    )


def mirrored_classes(seed: int) -> NDArray[np.intp]:
    """Classes of rows of which the second half mirrors the first, classes swapped.

    The terms of two cuts that tie thus add up in other orders.
    """
    rng = np.random.default_rng(seed)
    half = np.repeat(rng.integers(0, 4, 4), rng.integers(1, 9, 4))
    return np.concatenate([half, 3 - half[::-1]])


@pytest.mark.usefixtures("search")
def test_of_the_cuts_that_tie_in_a_mirrored_column_the_lowest_is_taken() -> None:
    def check(seed: int) -> None:
        classes = mirrored_classes(seed)
        table = np.arange(float(len(classes))), classes, np.ones(len(classes))
        expected = oracle.mdlp_cut_points(*(column.tolist() for column in table))
        assert mdlp_cut_points(table[0], classes, 4, table[2]) == expected

    check_each(range(40), check)


def test_some_mirrored_columns_are_cut_at_one_of_two_that_tie() -> None:
    n_lopsided = 0
    for seed in range(40):
        classes = mirrored_classes(seed)
        n_rows = len(classes)
        cuts = mdlp_cut_points(np.arange(float(n_rows)), classes, 4, np.ones(n_rows))
        n_lopsided += cuts != tuple(n_rows - 1.0 - cut for cut in cuts[::-1])
    assert n_lopsided >= 3


def test_whole_weights_equal_repeated_rows() -> None:
    def check(case: tuple[str, str, int]) -> None:
        rule, kind, seed = case
        table = random_table(seed, kind, "whole")
        assert RULES[rule](*table) == RULES[rule](*repeated(table))

    check_each(itertools.product(RULES, KINDS, range(4)), check)


def test_weight_zero_equals_an_absent_row() -> None:
    def check(case: tuple[str, str, str]) -> None:
        rule, weighting, kind = case
        table = random_table(3, kind, weighting)
        table[3][::3] = 0.0
        assert RULES[rule](*table) == RULES[rule](*chosen(table, table[3] > 0))

    check_each(itertools.product(RULES, ["whole", "fractional"], KINDS), check)


def test_a_missing_value_equals_an_absent_row() -> None:
    def check(case: tuple[str, str]) -> None:
        rule, kind = case
        table = random_table(5, kind, "whole")
        assert RULES[rule](*table) == RULES[rule](*chosen(table, ~np.isnan(table[0])))

    check_each(itertools.product(RULES, KINDS), check)


def test_the_order_of_rows_does_not_matter() -> None:
    def check(case: tuple[str, str, str]) -> None:
        rule, weighting, kind = case
        table = random_table(7, kind, weighting)
        order = np.random.default_rng(0).permutation(len(table[0]))
        assert RULES[rule](*table) == RULES[rule](*chosen(table, order))

    check_each(itertools.product(RULES, WEIGHTS, KINDS), check)


def test_cuts_increase_and_part_observed_values() -> None:
    def check(case: tuple[str, str]) -> None:
        rule, kind = case
        table = random_table(9, kind, "ones")
        cuts = RULES[rule](*table)
        assert all(low < high for low, high in itertools.pairwise(cuts))
        assert not cuts or np.nanmin(table[0]) <= cuts[0]
        assert not cuts or cuts[-1] < np.nanmax(table[0])

    check_each(itertools.product(RULES, KINDS), check)


def test_fewer_than_two_distinct_values_are_not_cut() -> None:
    def check(case: tuple[str, list[float]]) -> None:
        rule, values = case
        classes = np.arange(len(values)) % 2
        assert RULES[rule](np.array(values), classes, 2, np.ones(len(values))) == ()

    check_each(
        itertools.product(
            RULES, [[], [math.nan, math.nan], [3.0], [3.0, 3.0, 3.0], [0.0, -0.0]]
        ),
        check,
    )


def test_rows_that_all_weigh_nothing_are_not_cut() -> None:
    def check(rule: str) -> None:
        assert RULES[rule](np.arange(4.0), np.array([0, 0, 1, 1]), 2, np.zeros(4)) == ()

    check_each(RULES, check)


def test_a_cut_between_neighbouring_floats_is_the_lower_one() -> None:
    def check(case: tuple[str, float]) -> None:
        rule, low = case
        high = float(np.nextafter(low, np.inf))
        values = np.repeat([low, high], 20)
        classes = np.repeat([0, 1], 20)
        assert RULES[rule](values, classes, 2, np.ones(40)) == (low,)

    check_each(
        itertools.product(
            RULES, [1.0, 1.0 + 2.0**-52, -1.0, 5e-324, np.nextafter(1e300, np.inf)]
        ),
        check,
    )


def test_zero_has_no_sign() -> None:
    distinct, counts = cut_points.distinct_values(
        np.array([-0.0, 0.0, -0.0]), np.ones(3)
    )
    assert not np.signbit(distinct).any()
    assert counts.tolist() == [3.0]


def test_a_common_weight_does_not_move_equal_frequency_cuts() -> None:
    def check(weight: float) -> None:
        for n_rows in range(2, 60):
            values = np.arange(float(n_rows))
            expected = equal_frequency_cut_points(values, np.ones(n_rows), n_rows // 2)
            weights = np.full(n_rows, weight)
            assert equal_frequency_cut_points(values, weights, n_rows // 2) == expected

    check_each([0.1, 1 / 3, 0.7, 1e-300], check)


def test_fractional_weights_sum_to_the_same_in_any_order() -> None:
    weights = np.random.default_rng(0).random(1000)
    exact = cut_points._exact_weights(weights)
    assert np.cumsum(exact)[-1] == np.cumsum(np.sort(exact))[-1] == math.fsum(exact)
    np.testing.assert_allclose(exact, weights, rtol=0, atol=1e-12)


def test_a_weight_far_below_the_total_equals_an_absent_row() -> None:
    def check(rule: str) -> None:
        table = random_table(11, "distinct", "ones")
        table[3][::2] = 1e-30
        assert RULES[rule](*table) == RULES[rule](*chosen(table, table[3] == 1.0))

    check_each(RULES, check)


def test_very_small_and_very_large_values_are_cut_as_others_are() -> None:
    def check(case: tuple[str, float]) -> None:
        rule, scale = case
        values = np.repeat([-1.0, -0.5, 0.25, 1.0], 20)
        classes = np.repeat([0, 0, 1, 1], 20)
        codes = np.searchsorted(RULES[rule](values, classes, 2, np.ones(80)), values)
        far = np.searchsorted(
            RULES[rule](values * scale, classes, 2, np.ones(80)), values * scale
        )
        np.testing.assert_array_equal(far, codes)

    check_each(itertools.product(RULES, [1e-300, 1e308]), check)


def test_mdlp_does_not_cut_where_all_rows_together_weigh_one() -> None:
    values, classes = np.arange(100.0), np.random.default_rng(0).integers(0, 2, 100)
    assert mdlp_cut_points(values, classes, 2, np.full(100, 0.01)) == ()


def test_mdlp_copes_with_many_classes() -> None:
    def check(n_classes: int) -> None:
        classes = np.repeat([0, n_classes - 1], 30)
        assert mdlp_cut_points(np.arange(60.0), classes, n_classes, np.ones(60)) == (
            29.5,
        )

    check_each([50, 2000], check)


def test_standard_deviation_cuts_part_as_floor_does() -> None:
    def check(case: tuple[str, str]) -> None:
        weighting, kind = case
        values, _, _, weights = random_table(1, kind, weighting)
        keep = ~np.isnan(values) & (weights > 0)
        values, weights = values[keep], weights[keep]
        mean = np.average(values, weights=weights)
        deviation = math.sqrt(np.average((values - mean) ** 2, weights=weights))
        steps = np.floor((values - mean) / deviation)
        codes = np.searchsorted(standard_deviation_cut_points(values, weights), values)
        np.testing.assert_array_equal(codes, np.unique(steps, return_inverse=True)[1])

    check_each(itertools.product(WEIGHTS, KINDS), check)


def test_standard_deviation_cuts_lie_at_whole_deviations_from_the_mean() -> None:
    values = np.array([0.0, 0.0, 4.0, 4.1, 4.2, 11.0])
    cuts = standard_deviation_cut_points(values, np.ones(6))
    steps = (np.array(cuts) - values.mean()) / values.std()
    np.testing.assert_allclose(steps, [-1.0, 1.0], rtol=1e-12)


def test_a_value_at_a_whole_deviation_belongs_above_the_cut() -> None:
    cuts = standard_deviation_cut_points(np.array([1.0, 2.0, 3.0]), np.ones(3))
    assert np.searchsorted(cuts, [1.0, 2.0, 3.0]).tolist() == [0, 1, 2]


def test_equal_frequency_cuts_stand_above_the_quantiles() -> None:
    def check(case: tuple[int, str]) -> None:
        n_bins, kind = case
        column = repeated(random_table(2, kind, "whole"))[0]
        values = column[~np.isnan(column)]
        distinct = np.unique(values)
        # Sorted rows by position, in integers: the quantile without rounding.
        positions = [-(-i * len(values) // n_bins) - 1 for i in range(1, n_bins)]
        quantiles = np.unique(np.sort(values)[positions])
        above = np.searchsorted(distinct, quantiles[quantiles < distinct[-1]]) + 1
        expected = tuple(((distinct[above - 1] + distinct[above]) / 2).tolist())
        found = equal_frequency_cut_points(values, np.ones(len(values)), n_bins)
        assert found == expected

    check_each(itertools.product([2, 3, 5, 10], KINDS), check)


def test_equal_frequency_bins_of_distinct_values_hold_equally_many_rows() -> None:
    values = np.random.default_rng(0).permutation(100).astype(float)
    cuts = equal_frequency_cut_points(values, np.ones(100), 5)
    assert np.bincount(np.searchsorted(cuts, values)).tolist() == [20] * 5


def test_equal_width_cuts_divide_the_range_evenly() -> None:
    cuts = equal_width_cut_points(np.array([0.0, 1.0, 10.0]), np.ones(3), 5)
    assert cuts == (2.0, 4.0, 6.0, 8.0)


def test_a_column_is_cut_without_loading_scikit_learn() -> None:
    program = (
        "import sys, numpy as np\n"
        "from bayleaf.data.cut_points import mdlp_cut_points\n"
        "values = np.random.default_rng(0).random(2000)\n"
        "classes = (values * 5).astype(np.intp)\n"
        "assert len(mdlp_cut_points(values, classes, 5, np.ones(2000))) == 4\n"
        "print('sklearn' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.slow
def test_cutting_a_million_values_takes_little_longer_than_sorting_them() -> None:
    rng = np.random.default_rng(0)
    values = rng.random(1_000_000)
    classes = (values * 200).astype(np.intp) % 2 ^ (rng.random(len(values)) < 0.2)
    weights = np.ones(len(values))
    assert len(mdlp_cut_points(values, classes, 2, weights)) >= 199
    work = least_work(lambda: mdlp_cut_points(values, classes, 2, weights))
    assert work < 12 * least_work(lambda: np.argsort(values))
