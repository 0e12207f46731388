"""Tables that cannot be used are refused in one sentence that names the remedy."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from contract.kinds import each_kind, is_joint
from contract.tables import nominal_frame


@each_kind(is_joint, nothing=[None, float("nan")])
def test_a_column_without_values_is_left_out(kind: Any, nothing: Any) -> None:
    frame, y = nominal_frame(n_rows=30)
    empty = frame.assign(e=nothing)
    model = kind(random_state=0).fit(empty, y)
    assert "it has no value in any training row" in str(model.columns_)
    plain = kind(random_state=0).fit(frame, y).predict_proba(frame)
    for later in (empty, frame.assign(e="new")):
        np.testing.assert_array_equal(model.predict_proba(later), plain)


@each_kind()
def test_columns_of_one_name_are_refused(kind: Any) -> None:
    frame, y = nominal_frame(n_rows=30)
    frame.columns = ["a", "b", "a", "d"]
    with pytest.raises(ValueError, match="several columns are called a; give every"):
        kind(random_state=0).fit(frame, y)


@each_kind()
def test_column_names_that_are_no_names_are_refused(kind: Any) -> None:
    frame, y = nominal_frame(n_rows=30)
    frame.columns = pd.Index([("a", 1), "b", "c", "d"], tupleize_cols=False)
    with pytest.raises(TypeError, match=r"strings or integers, got .*rename"):
        kind(random_state=0).fit(frame, y)


@each_kind()
def test_column_names_of_two_sorts_are_refused(kind: Any) -> None:
    frame, y = nominal_frame(n_rows=30)
    frame.columns = ["a", 1, "c", "d"]
    with pytest.raises(TypeError, match=r"names.*(all|only)"):
        kind(random_state=0).fit(frame, y)


@each_kind(bad=[np.inf, -np.inf])
def test_infinity_is_refused_in_training_and_prediction(kind: Any, bad: float) -> None:
    X = np.random.default_rng(0).random((30, 2))
    y = (X[:, 0] > 0.5).astype(int)
    model = kind(random_state=0).fit(X, y)
    X[3, 1] = bad
    with pytest.raises(ValueError, match="column 'x1' holds infinity; replace"):
        kind(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="column 'x1' holds infinity; replace"):
        model.predict(X)


@each_kind()
def test_complex_numbers_are_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="Complex data not supported: column 'x0'"):
        kind(random_state=0).fit(np.array([[1j], [2j]]), [0, 1])


@each_kind()
def test_sparse_matrices_are_refused(kind: Any) -> None:
    X = scipy.sparse.csr_array(np.eye(4))
    with pytest.raises(TypeError, match=r"sparse matrix .*X\.toarray\(\)"):
        kind(random_state=0).fit(X, [0, 1, 0, 1])


@each_kind()
def test_a_lazy_frame_is_refused_where_it_cannot_be_read(kind: Any) -> None:
    frame, y = nominal_frame(n_rows=30)
    lazy = pl.from_pandas(frame).lazy()
    with pytest.raises(ValueError, match="name their column with target="):
        kind(random_state=0).fit(lazy, y)
    with pytest.raises(TypeError, match=r"lazy; call \.collect\(\)"):
        kind(random_state=0).fit(frame, y).predict(lazy)


@each_kind()
def test_dates_may_be_refused_with_the_name_of_their_column(kind: Any) -> None:
    frame, y = nominal_frame(n_rows=30)
    days = [datetime.datetime(2020, 1, 1)] * len(y)
    refusing = kind(random_state=0, dates="error")
    with pytest.raises(TypeError, match=r"column 'e' holds dates.*dates='expand'"):
        refusing.fit(frame.assign(e=days), y)
    with pytest.raises(TypeError, match=r"column 'e' holds dates.*dates='expand'"):
        refusing.fit(pl.from_pandas(frame).with_columns(e=pl.lit(days[0].date())), y)


@each_kind()
def test_nested_cells_are_refused_with_the_name_of_their_column(kind: Any) -> None:
    frame, y = nominal_frame(n_rows=30)
    with pytest.raises(TypeError, match=r"column 'e' holds .*convert the column"):
        kind(random_state=0).fit(frame.assign(e=[{"deep": 1}] * len(y)), y)


@each_kind()
def test_rows_of_different_length_are_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="rows of the table differ in length"):
        kind(random_state=0).fit([["p", "q"], ["p"]], [0, 1])


@each_kind()
def test_a_table_without_rows_is_refused(kind: Any) -> None:
    frame, _ = nominal_frame(n_rows=30)
    with pytest.raises(ValueError, match="0 sample"):
        kind(random_state=0).fit(frame.iloc[:0], [])


@each_kind()
def test_a_table_without_columns_is_refused(kind: Any) -> None:
    frame, y = nominal_frame(n_rows=30)
    with pytest.raises(ValueError, match="0 feature"):
        kind(random_state=0).fit(frame[[]], y)


@each_kind()
def test_text_in_a_numeric_column_is_refused(kind: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(30), "b": rng.random(30)})
    model = kind(random_state=0).fit(frame, frame["a"] > 0.5)
    with pytest.raises(ValueError, match="column 'a' holds 'tall' where a number"):
        model.predict(frame.astype({"a": object}).assign(a="tall"))


@each_kind()
def test_numbers_in_a_column_of_text_are_refused(kind: Any) -> None:
    frame, y = nominal_frame(n_rows=30)
    model = kind(random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match=r"column 'a' held text .* holds numbers now"):
        model.predict(frame.assign(a=3))


@each_kind()
def test_an_unfitted_classifier_says_so(kind: Any) -> None:
    frame, _ = nominal_frame(n_rows=30)
    for ask in ("predict", "predict_proba", "explain"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(kind(random_state=0), ask)(frame)


@each_kind(
    wrong=[
        (["a"] * 30, "sample_weight must hold real numbers"),
        ([1j] * 30, "sample_weight must hold real numbers"),
        ({}, "sample_weight must hold real numbers"),
        ([[1], [1, 2]] * 15, "sample_weight must have rows of one length"),
        ([10**400] * 30, "sample_weight holds a number too large"),
        ([1e300] * 30, "sample_weight sums to .* divide all weights"),
        ([1e99] * 30, "sample_weight sums to .* divide all weights"),
        ([1.7e308] * 30, "sample_weight sums to inf"),
    ]
)
def test_weights_that_cannot_be_counted_are_refused(
    kind: Any, wrong: tuple[Any, ...]
) -> None:
    weights, sentence = wrong
    frame, y = nominal_frame(n_rows=30)
    with pytest.raises((TypeError, ValueError), match=sentence):
        kind(random_state=0).fit(frame, y, sample_weight=weights)


@each_kind(labels=[[(1,), (2,)] * 15, [{}] * 30, pl.Series([[1]] * 30)])
def test_labels_that_are_no_single_values_are_refused(kind: Any, labels: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"1d array|single value"):
        kind(random_state=0).fit(nominal_frame(n_rows=30)[0], labels)


@each_kind(
    wrong=[
        ("class_prior", "x"),
        ("class_prior", {"p": 1}),
        ("loss", "x"),
        ("categorical_features", 5),
        ("random_state", -1),
    ]
)
def test_a_parameter_of_the_wrong_kind_is_named(
    kind: Any, wrong: tuple[Any, ...]
) -> None:
    name, value = wrong
    with pytest.raises((TypeError, ValueError), match=name):
        kind(**{name: value}, random_state=0).fit(*nominal_frame(n_rows=30))


@each_kind()
def test_integers_of_128_bits_are_numbers(kind: Any) -> None:
    wide = pl.DataFrame({"a": pl.Series([1, 2, 3] * 10, dtype=pl.Int128)})
    y = ["p", "p", "q"] * 10
    expected = kind(random_state=0).fit(wide.cast(pl.Float64), y).predict_proba(wide)
    np.testing.assert_array_equal(
        kind(random_state=0).fit(wide, y).predict_proba(wide), expected
    )
