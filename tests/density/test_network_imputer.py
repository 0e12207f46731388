"""The imputer is a transformer of scikit-learn, for tables of mixed columns."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayleaf import BayesianNetworkEstimator, BayesianNetworkImputer

N = 60
KEYS = np.arange(N) % 3
COLUMNS: dict[str, Any] = {
    "colour": np.array(["red", "green", "blue"])[KEYS].tolist(),
    "size": (KEYS * 100.0 + np.arange(N) / N).tolist(),
    "kind": KEYS.tolist(),
    "hot": (KEYS > 1).tolist(),
}
HIDDEN = {"colour": [3, 10], "size": [10, 4], "kind": [5], "hot": [9, 10]}
WITH_GAPS = {
    name: [None if i in HIDDEN[name] else cell for i, cell in enumerate(cells)]
    for name, cells in COLUMNS.items()
}


@pytest.mark.few(53)
@pytest.mark.slow
@parametrize_with_checks(
    [
        BayesianNetworkImputer(random_state=0),
        BayesianNetworkImputer(how="mean", add_indicator=True, random_state=0),
    ]
)
def test_every_check_of_scikit_learn_passes(estimator: Any, check: Any) -> None:
    if "check_array_api_input" in str(check) and "SCIPY_ARRAY_API" not in os.environ:
        pytest.skip("scikit-learn checks the array API only under SCIPY_ARRAY_API")
    with warnings.catch_warnings():
        # Some checks warn on purpose, or on behalf of scikit-learn itself.
        warnings.simplefilter("ignore")
        check(estimator)


def columns_of(frame: Any) -> dict[str, list[Any]]:
    """The columns of any frame as lists."""
    if hasattr(frame, "to_pydict"):
        return frame.to_pydict()
    return {name: frame[name].to_list() for name in frame.columns}


@pytest.mark.parametrize("how", ["most_probable", "marginal", "mean", "sample"])
def test_columns_of_all_kinds_are_filled_by_what_the_others_say(
    make_frame: Callable[[dict[str, Any]], Any], how: str
) -> None:
    frame = make_frame(WITH_GAPS)
    estimator = BayesianNetworkEstimator(
        smoothing="maximum_likelihood", n_restarts=1, random_state=0
    )
    imputer = BayesianNetworkImputer(estimator, how=how, random_state=0)
    filled = columns_of(imputer.fit_transform(frame))
    # Row 10 knows nothing but its kind, of which all else follows.
    assert {n: c for n, c in filled.items() if n != "size"} == {
        n: c for n, c in COLUMNS.items() if n != "size"
    }
    # An expected value runs over intervals that reach into the next kind.
    off = 40.0 if how == "mean" else 1.0
    for row in (10, 4):
        assert filled["size"][row] == pytest.approx(COLUMNS["size"][row], abs=off)


def test_observed_cells_are_the_same_bits() -> None:
    frame = pd.DataFrame(WITH_GAPS).astype({"size": "float32"})
    filled = BayesianNetworkImputer(random_state=0).fit_transform(frame)
    assert filled.dtypes.equals(frame.dtypes)
    known = frame["size"].notna()
    assert filled["size"][known].equals(frame["size"][known])


def test_numbers_alone_give_an_array() -> None:
    X = np.array([[0.0, 0.0], [1.0, 10.0]] * 20 + [[1.0, np.nan]])
    filled = BayesianNetworkImputer(random_state=0).fit_transform(X)
    assert filled.dtype == X.dtype
    assert filled[-1].tolist() == [1.0, 10.0]


def test_indicators_tell_which_cells_were_missing(
    make_frame: Callable[[dict[str, Any]], Any],
) -> None:
    frame = make_frame(WITH_GAPS)
    imputer = BayesianNetworkImputer(add_indicator=True, random_state=0)
    filled = columns_of(imputer.fit_transform(frame))
    assert list(filled) == imputer.get_feature_names_out().tolist()
    assert filled["missingindicator_hot"] == [i in (9, 10) for i in range(N)]


def test_indicators_of_an_array_stand_at_its_end() -> None:
    X = np.array([[0.0, 0.0], [1.0, 10.0]] * 20 + [[1.0, np.nan]])
    imputer = BayesianNetworkImputer(add_indicator=True, random_state=0)
    filled = imputer.fit_transform(X)
    assert imputer.get_feature_names_out().tolist() == [
        "x0",
        "x1",
        "missingindicator_x1",
    ]
    assert filled[-2:].tolist() == [[1.0, 10.0, 0.0], [1.0, 10.0, 1.0]]


@pytest.mark.parametrize(
    ("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_the_output_can_be_set(kind: str, frame: Any) -> None:
    imputer = BayesianNetworkImputer(add_indicator=True, random_state=0)
    X = np.array([[0.0, 0.0], [1.0, 10.0]] * 20 + [[1.0, np.nan]])
    filled = imputer.set_output(transform=kind).fit_transform(X)
    assert isinstance(filled, frame)
    assert list(filled.columns) == ["x0", "x1", "missingindicator_x1"]


def test_a_pipeline_passes_filled_tables_on() -> None:
    frame = pd.DataFrame(WITH_GAPS)[["colour", "size"]]
    y = KEYS == 1
    steps = [OneHotEncoder(handle_unknown="ignore"), LogisticRegression()]
    model = make_pipeline(BayesianNetworkImputer(random_state=0), *steps)
    assert cross_val_score(model, frame[["colour"]], y, cv=3).min() > 0.9
    numbers = make_pipeline(
        BayesianNetworkImputer(random_state=0), StandardScaler(), LinearRegression()
    )
    assert numbers.fit(frame[["size"]], KEYS).score(frame[["size"]], KEYS) > 0.5


def test_dates_and_identifiers_stay_as_they_are() -> None:
    frame = pd.DataFrame(WITH_GAPS)
    when = pd.date_range("2026-01-01", periods=N).to_series().reset_index(drop=True)
    frame["when"] = when.where(frame.index != 7)
    frame["code"] = [f"no {i}" if i != 8 else None for i in range(N)]
    filled = BayesianNetworkImputer(random_state=0).fit_transform(frame)
    pd.testing.assert_series_equal(filled["when"], frame["when"])
    pd.testing.assert_series_equal(filled["code"], frame["code"])
    assert not filled[list(COLUMNS)].isna().any().any()


def test_values_that_training_lacked_are_kept() -> None:
    imputer = BayesianNetworkImputer(random_state=0).fit(pd.DataFrame(WITH_GAPS))
    rows = pd.DataFrame(
        {"colour": ["pink"], "size": [np.nan], "kind": [1], "hot": [None]}
    )
    filled = imputer.transform(rows)
    assert filled["colour"].tolist() == ["pink"]
    assert filled["size"].iloc[0] == pytest.approx(100.5, abs=1)


def test_names_of_groups_become_states_of_the_group() -> None:
    tree = {"any": {"warm": ["red"], "cold": ["green", "blue"]}}
    estimator = BayesianNetworkEstimator(
        abstraction="given", hierarchies={"colour": tree}, random_state=0
    )
    frame = pd.DataFrame(WITH_GAPS).assign(
        colour=["cold" if i == 20 else c for i, c in enumerate(WITH_GAPS["colour"])]
    )
    filled = BayesianNetworkImputer(estimator).fit_transform(frame)
    assert filled["colour"][20] in ("green", "blue")
    assert filled["colour"][3] == "red"


def test_weights_of_zero_are_removed_rows() -> None:
    frame = pd.DataFrame(WITH_GAPS)
    weights = (np.arange(N) < 40).astype(float)
    one = BayesianNetworkImputer(random_state=0).fit(frame, sample_weight=weights)
    other = BayesianNetworkImputer(random_state=0).fit(frame[:40])
    pd.testing.assert_frame_equal(one.transform(frame), other.transform(frame))


def test_a_pickled_imputer_fills_alike() -> None:
    frame = pd.DataFrame(WITH_GAPS)
    imputer = BayesianNetworkImputer(how="sample", random_state=0).fit(frame)
    again = pickle.loads(pickle.dumps(imputer))
    pd.testing.assert_frame_equal(again.transform(frame), imputer.transform(frame))


def test_threads_change_no_cell() -> None:
    frame = pd.DataFrame(WITH_GAPS)
    one = BayesianNetworkImputer(how="sample", random_state=1)
    two = clone(one).set_params(n_jobs=2)
    pd.testing.assert_frame_equal(one.fit_transform(frame), two.fit_transform(frame))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"how": "best"}, ValueError, "how must be one of"),
        ({"add_indicator": 1}, TypeError, "add_indicator must be True or False"),
        ({"estimator": DictVectorizer()}, TypeError, "got DictVectorizer"),
        (
            {"estimator": BayesianNetworkEstimator(missing="state")},
            ValueError,
            "missing='marginalize'",
        ),
    ],
)
def test_wrong_parameters_are_refused_in_fit(
    parameters: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        BayesianNetworkImputer(**parameters).fit([["a", "b"], ["c", None]])
