"""The discretisers as scikit-learn transformers."""

from __future__ import annotations

import contextlib
import itertools
import math
import unittest
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from bayleaf.data.codes import Codes
from bayleaf.data.discretizers import (
    DISCRETIZERS,
    EqualFrequencyDiscretizer,
    EqualWidthDiscretizer,
    FineCuts,
    MDLPDiscretizer,
    StandardDeviationDiscretizer,
    resolve_discretizer,
)
from offenders import check_each


@pytest.fixture(params=DISCRETIZERS.values(), ids=DISCRETIZERS)
def kind(request: pytest.FixtureRequest) -> Any:
    """The class of each discretiser."""
    return request.param


# Those that take the number of intervals.
BIN_KINDS = [EqualFrequencyDiscretizer, EqualWidthDiscretizer]


@pytest.fixture(scope="module")
def iris() -> Any:
    """The iris table and its classes."""
    return load_iris(return_X_y=True)


def test_every_check_of_scikit_learn_passes(kind: Any) -> None:
    def run(pair: tuple[Any, Any]) -> None:
        estimator, check = pair
        with contextlib.suppress(unittest.SkipTest):
            check(estimator)

    check_each(estimator_checks_generator(kind(), legacy=True), run)


def test_cut_points_of_a_table_are_those_of_its_columns(iris: Any) -> None:
    def check(kind: Any) -> None:
        table, classes = iris
        discretizer = kind().fit(table, classes)
        columns = [
            discretizer.cut_points(column, classes, 3, np.ones(150))
            for column in table.T
        ]
        assert discretizer.cut_points_ == columns

    check_each(DISCRETIZERS.values(), check)


def test_codes_number_the_intervals_closed_on_the_right() -> None:
    def check(bin_kind: Any) -> None:
        discretizer = bin_kind(n_bins=2).fit([[0.0], [1.0], [2.0], [3.0]])
        assert discretizer.cut_points_ == [(1.5,)]
        codes = discretizer.transform([[-9.0], [1.5], [1.6], [9.0]])
        assert codes.ravel().tolist() == [0.0, 0.0, 1.0, 1.0]

    check_each(BIN_KINDS, check)


def test_missing_cells_stay_missing(iris: Any) -> None:
    def check(kind: Any) -> None:
        table, classes = iris
        table = table.copy()
        table[::7, 1] = np.nan
        codes = kind().fit_transform(table, classes)
        np.testing.assert_array_equal(np.isnan(codes), np.isnan(table))

    check_each(DISCRETIZERS.values(), check)


def test_a_column_without_values_is_not_cut() -> None:
    def check(kind: Any) -> None:
        table = [[np.nan, 1.0], [np.nan, 2.0]]
        assert kind().fit(table, [0, 1]).cut_points_[0] == ()

    check_each(DISCRETIZERS.values(), check)


def test_whole_weights_equal_repeated_rows(iris: Any) -> None:
    def check(kind: Any) -> None:
        table, classes = iris
        weights = np.random.default_rng(0).integers(0, 3, 150)
        weighted = kind().fit(table, classes, sample_weight=weights)
        repeated = kind().fit(np.repeat(table, weights, 0), np.repeat(classes, weights))
        assert weighted.cut_points_ == repeated.cut_points_

    check_each(DISCRETIZERS.values(), check)


def test_labels_of_any_kind_give_the_same_cut_points(iris: Any) -> None:
    table, classes = iris
    names = np.array(["setosa", "versicolor", "virginica"])[classes]
    by_name = MDLPDiscretizer().fit(table, names)
    assert by_name.cut_points_ == MDLPDiscretizer().fit(table, classes).cut_points_


def test_every_code_has_a_label(iris: Any) -> None:
    def check(kind: Any) -> None:
        discretizer = kind().fit(*iris)
        lengths = [len(labels) for labels in discretizer.interval_labels()]
        assert lengths == [len(cuts) + 1 for cuts in discretizer.cut_points_]

    check_each(DISCRETIZERS.values(), check)


def test_labels_name_the_ends_of_the_intervals(iris: Any) -> None:
    labels = MDLPDiscretizer().fit(*iris).interval_labels()
    assert labels[2] == ("<= 2.45", "(2.45, 4.75]", "> 4.75")


def test_columns_of_a_frame_keep_their_names(iris: Any) -> None:
    def check(kind: Any) -> None:
        table, classes = iris
        frame = pd.DataFrame(table, columns=list("abcd"))
        discretizer = kind().set_output(transform="pandas")
        assert list(discretizer.fit_transform(frame, classes).columns) == list("abcd")

    check_each(DISCRETIZERS.values(), check)


def test_codes_feed_a_classifier_in_a_pipeline(iris: Any) -> None:
    pipeline = make_pipeline(MDLPDiscretizer(), CategoricalNB())
    assert pipeline.fit(*iris).score(*iris) > 0.9


def test_whole_deviations_number_new_values_as_the_nearest_that_were_seen() -> None:
    rng = np.random.default_rng(0)
    # No step between the least and the greatest is without a row.
    train, new = rng.normal(size=(200, 1)), 3.0 * rng.normal(size=(200, 1))
    mean, deviation = train.mean(), train.std()
    seen = np.floor((train - mean) / deviation)
    expected = np.floor((new - mean) / deviation).clip(seen.min(), seen.max())
    assert len(np.unique(seen)) == np.ptp(seen) + 1
    found = StandardDeviationDiscretizer().fit(train).transform(new)
    np.testing.assert_array_equal(found, expected - seen.min())


def test_whole_deviations_cut_published_targets_as_known(
    load_table: Callable[[str], pa.Table],
) -> None:
    def check(case: tuple[str, int]) -> None:
        name, n_intervals = case
        target = load_table(name)["class"].to_numpy().astype(np.float64)[:, None]
        discretizer = StandardDeviationDiscretizer().fit(target)
        assert len(discretizer.interval_labels()[0]) == n_intervals

    check_each([("housing", 5), ("servo", 5), ("abalone", 9)], check)


def test_mdlp_without_classes_says_what_to_pass() -> None:
    with pytest.raises(ValueError, match="pass the class of every row"):
        MDLPDiscretizer().fit([[1.0], [2.0]])


def test_weights_that_are_all_zero_are_refused() -> None:
    def check(kind: Any) -> None:
        with pytest.raises(ValueError, match=r"[Ss]ample weights.*zero"):
            kind().fit([[1.0], [2.0]], [0, 1], sample_weight=[0, 0])

    check_each(DISCRETIZERS.values(), check)


def test_infinite_values_are_refused() -> None:
    def check(kind: Any) -> None:
        with pytest.raises(ValueError, match="infinity"):
            kind().fit([[1.0], [math.inf]], [0, 1])

    check_each(DISCRETIZERS.values(), check)


def test_a_number_of_bins_out_of_range_is_refused() -> None:
    def check(case: tuple[Any, int]) -> None:
        bin_kind, n_bins = case
        with pytest.raises(ValueError, match=f"n_bins must be .* got {n_bins}"):
            bin_kind(n_bins=n_bins).fit([[1.0], [2.0]])

    check_each(itertools.product(BIN_KINDS, [1, 0, -3, Codes.MAX_STATES]), check)


def test_a_number_of_bins_that_is_no_integer_is_refused() -> None:
    def check(case: tuple[Any, Any]) -> None:
        bin_kind, n_bins = case
        with pytest.raises(TypeError, match="n_bins must be an integer from 2 to"):
            bin_kind(n_bins=n_bins).cut_points(
                np.arange(4.0), np.zeros(4, dtype=int), 1, np.ones(4)
            )

    check_each(itertools.product(BIN_KINDS, [2.0, "3", None, True]), check)


def test_a_name_stands_for_a_discretiser() -> None:
    def check(case: tuple[str, Any]) -> None:
        name, expected = case
        assert type(resolve_discretizer(name)) is expected

    check_each(
        [
            ("mdlp", MDLPDiscretizer),
            ("standard_deviation", StandardDeviationDiscretizer),
            ("equal_frequency", EqualFrequencyDiscretizer),
            ("equal_width", EqualWidthDiscretizer),
        ],
        check,
    )


def test_an_instance_stands_for_itself() -> None:
    def check(kind: Any) -> None:
        discretizer = kind()
        assert resolve_discretizer(discretizer) is discretizer

    check_each(DISCRETIZERS.values(), check)


def test_an_unknown_name_lists_the_choices() -> None:
    choices = "'mdlp', 'standard_deviation', 'equal_frequency', 'equal_width'"
    with pytest.raises(ValueError, match=rf"{choices} .* got 'mdl'"):
        resolve_discretizer("mdl")


def test_what_is_no_discretiser_is_refused() -> None:
    def check(wrong: Any) -> None:
        with pytest.raises(TypeError, match="an object with a cut_points method"):
            resolve_discretizer(wrong)

    check_each([None, 5, MDLPDiscretizer, object()], check)


def test_a_clone_keeps_the_number_of_bins() -> None:
    def check(bin_kind: Any) -> None:
        assert clone(bin_kind(n_bins=7)).n_bins == 7

    check_each(BIN_KINDS, check)


def _cuts(values: list[float], weights: list[float] | None = None) -> np.ndarray:
    column = np.array(values)
    own = np.ones(len(column)) if weights is None else np.array(weights)
    return np.array(FineCuts().cut_points(column, np.zeros(len(column), int), 1, own))


def test_few_values_get_an_interval_each() -> None:
    np.testing.assert_array_equal(_cuts([3.0, 1.0, np.nan, 1.0, 2.0]), [1.5, 2.5])


def test_a_value_without_weight_is_absent() -> None:
    np.testing.assert_array_equal(_cuts([1.0, 2.0, 3.0], [1.0, 0.0, 1.0]), [2.0])


def test_many_values_share_as_many_intervals_as_a_byte_tells_apart() -> None:
    values = np.random.default_rng(0).normal(size=3000)
    cuts = _cuts(values.tolist())
    assert len(cuts) == 253
    rows = np.bincount(np.searchsorted(cuts, values))
    assert rows.max() - rows.min() <= 1


def test_a_column_without_values_has_no_fine_cuts() -> None:
    assert len(_cuts([np.nan, np.nan])) == 0
