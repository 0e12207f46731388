"""Weights are exact: zero is an absent row, two a repeated one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.utils.class_weight import compute_sample_weight

from bayleaf import (
    AveragedKDBRegressor,
    BayesianNetworkEstimator,
    MEstimate,
    NaiveBayesClassifier,
    load,
)
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.classifiers.shared.training import class_factors
from bayleaf.evaluation import compare
from bayleaf.evaluation.regression import cross_validate_regressors
from contract.kinds import each_kind, fitted, has_smoothing, is_joint, missing_rules
from contract.tables import (
    mixed_columns,
    mixed_frame,
    nominal_columns,
    nominal_frame,
    pick_rows,
)
from offenders import check_each


def _same_model(one: Any, other: Any, rows: Any) -> None:
    np.testing.assert_array_equal(
        one.predict_joint_log_proba(rows), other.predict_joint_log_proba(rows)
    )
    assert one.encoder_.domain == other.encoder_.domain
    assert one.log_likelihood_ == other.log_likelihood_
    assert one.edges_ == other.edges_


def _weighted(kind: Any, columns: Any, y: Any, weights: Any, **parameters: Any) -> Any:
    return kind(**parameters, random_state=0).fit(
        pd.DataFrame(columns), y, sample_weight=weights
    )


def _repeated(kind: Any, columns: Any, y: Any, weights: Any, **parameters: Any) -> Any:
    rows = np.repeat(np.arange(len(y)), weights)
    frame = pd.DataFrame(pick_rows(columns, rows))
    return kind(**parameters, random_state=0).fit(frame, [y[row] for row in rows])


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
@pytest.mark.parametrize("missing", ["marginalize", "state"])
@each_kind()
def test_whole_weights_equal_repeated_and_removed_rows(
    kind: Any, missing: str, seed: int
) -> None:
    if missing not in missing_rules(kind):
        return
    columns, y = mixed_columns(seed=seed)
    weights = np.random.default_rng(seed).integers(4, size=len(y))
    one = _weighted(kind, columns, y, weights, missing=missing)
    other = _repeated(kind, columns, y, weights, missing=missing)
    _same_model(one, other, pd.DataFrame(columns))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "discretizer", ["mdlp", "standard_deviation", "equal_frequency", "equal_width"]
)
@each_kind()
def test_whole_weights_are_exact_under_every_discretizer(
    kind: Any, discretizer: str
) -> None:
    columns, y = mixed_columns(seed=4)
    weights = np.random.default_rng(4).integers(4, size=len(y))
    one = _weighted(kind, columns, y, weights, discretizer=discretizer)
    other = _repeated(kind, columns, y, weights, discretizer=discretizer)
    _same_model(one, other, pd.DataFrame(columns))


@each_kind(has_smoothing)
def test_whole_weights_are_exact_where_tables_pull_towards_marginals(
    kind: Any,
) -> None:
    columns, y = nominal_columns(missing=0.1)
    weights = np.random.default_rng(4).integers(4, size=len(y))
    one = _weighted(kind, columns, y, weights, smoothing=MEstimate(5.0))
    other = _repeated(kind, columns, y, weights, smoothing=MEstimate(5.0))
    _same_model(one, other, pd.DataFrame(columns))


@each_kind()
def test_a_row_of_weight_zero_adds_neither_state_nor_class(kind: Any) -> None:
    columns, y = nominal_columns()
    expected = kind(random_state=0).fit(pd.DataFrame(columns), y)
    longer = {name: [*cells, "never"] for name, cells in columns.items()}
    model = kind(random_state=0).fit(
        pd.DataFrame(longer), [*y, "nowhere"], sample_weight=[1] * len(y) + [0]
    )
    assert model.classes_.tolist() == expected.classes_.tolist()
    _same_model(expected, model, pd.DataFrame(columns))


@pytest.mark.parametrize(
    "container",
    [
        np.array,
        pd.Series,
        pl.Series,
        pa.array,
        lambda y: pa.chunked_array([y]),
        lambda y: nw.from_native(pa.chunked_array([y]), series_only=True),
        lambda y: nw.from_native(pl.Series(y), series_only=True),
    ],
)
def test_labels_of_any_container_may_have_weight_zero(container: Any) -> None:
    columns, y = nominal_columns()
    weights = np.arange(len(y)) % 3
    model = NaiveBayesClassifier().fit(pd.DataFrame(columns), container(y), weights)
    expected = NaiveBayesClassifier().fit(pd.DataFrame(columns), y, weights)
    _same_model(expected, model, pd.DataFrame(columns))


@each_kind()
def test_a_row_of_weight_zero_may_hold_what_training_refuses(kind: Any) -> None:
    columns, y = nominal_columns()
    longer = {name: [*cells, None] for name, cells in columns.items()}
    weights = [1] * len(y) + [0]
    model = kind(missing="error", random_state=0).fit(
        pd.DataFrame(longer), [*y, y[0]], weights
    )
    _same_model(
        kind(random_state=0).fit(pd.DataFrame(columns), y), model, pd.DataFrame(columns)
    )


@each_kind()
def test_weights_of_one_change_nothing(kind: Any) -> None:
    columns, y = mixed_columns()
    _same_model(
        fitted(kind)[0],
        _weighted(kind, columns, y, np.ones(len(y))),
        pd.DataFrame(columns),
    )


@each_kind()
def test_one_number_weighs_every_row(kind: Any) -> None:
    columns, y = mixed_columns()
    one = _weighted(kind, columns, y, np.full(len(y), 2.0))
    _same_model(one, _weighted(kind, columns, y, 2.0), pd.DataFrame(columns))


@each_kind()
def test_fractional_weights_add_up(kind: Any) -> None:
    frame, y = mixed_frame()
    twice = pd.concat([frame, frame], ignore_index=True)
    split = np.concatenate([np.full(len(y), 0.3), np.full(len(y), 0.7)])
    one, _ = fitted(kind)
    other = kind(random_state=0).fit(twice, y + y, sample_weight=split)
    assert one.edges_ == other.edges_
    np.testing.assert_allclose(
        one.predict_proba(frame), other.predict_proba(frame), rtol=1e-12
    )


@each_kind(is_joint)
def test_weights_set_the_class_prior(kind: Any) -> None:
    rows, y = [["p"], ["q"], ["p"]], ["a", "a", "b"]
    model = kind(smoothing="laplace", random_state=0).fit(
        rows, y, sample_weight=[0.5, 1.5, 5.0]
    )
    # Laplace: (2 + 1) / (7 + 2).
    np.testing.assert_allclose(model.model_.class_prior, [3 / 9, 6 / 9], rtol=1e-15)


@each_kind(
    wrong=[
        ([1.0, -1.0, 1.0], "negative values; give weights >= 0"),
        ([0.0, 0.0, 0.0], "zero for every row; give at least one row a weight > 0"),
        ([1.0, float("nan"), 1.0], "NaN or infinity; give finite weights"),
        ([1.0, float("inf"), 1.0], "NaN or infinity; give finite weights"),
        ([1.0, 1.0], r"must have shape \(3,\), got \(2,\)"),
        ([[1.0], [1.0], [1.0]], r"must have shape \(3,\), got \(3, 1\)"),
    ]
)
def test_wrong_weights_are_refused(kind: Any, wrong: tuple[Any, ...]) -> None:
    weights, sentence = wrong
    with pytest.raises(ValueError, match=f"sample_weight.*{sentence}"):
        kind(random_state=0).fit(
            [["p"], ["q"], ["p"]], ["a", "a", "b"], sample_weight=weights
        )


@each_kind()
def test_class_weights_multiply_the_weights_of_rows(kind: Any) -> None:
    frame, y = mixed_frame()
    rows = np.random.default_rng(3).integers(3, size=len(y)).astype(float)
    by_class = dict(zip(sorted(set(y)), (1.0, 2.0, 5.0), strict=True))
    one = kind(class_weight=by_class, random_state=0).fit(frame, y, rows)
    weights = rows * [by_class[label] for label in y]
    other = kind(random_state=0).fit(frame, y, weights)
    _same_model(one, other, frame)


@each_kind()
def test_balanced_classes_have_the_weights_of_scikit_learn(kind: Any) -> None:
    frame, y = mixed_frame()
    one = kind(class_weight="balanced", random_state=0).fit(frame, y)
    weights = compute_sample_weight("balanced", y)
    _same_model(one, kind(random_state=0).fit(frame, y, weights), frame)


def test_balanced_weights_keep_their_sum_and_the_classes_that_have_any() -> None:
    labels, rows = ["a", "a", "b", "c", "b"], np.array([1.0, 2.0, 1.0, 0.0, 0.0])
    weights = rows * class_factors("balanced", labels, rows)
    np.testing.assert_allclose(weights, [2 / 3, 4 / 3, 2.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("class_weight", "sentence"),
    [
        ("balance", "'balanced', a mapping from classes to weights"),
        ({"no": 1.0, "yes": 0.0}, "a number > 0, got 0.0 for the class 'yes'"),
        ({"no": 1.0, "yse": 2.0}, "names 'yse', which is none of the classes no, yes"),
    ],
)
def test_class_weights_that_cannot_be_used_are_refused(
    class_weight: Any, sentence: str
) -> None:
    model = NaiveBayesClassifier(class_weight=class_weight)
    with pytest.raises(ValueError, match=sentence):
        model.fit([["x"], ["y"]], ["no", "yes"])


def test_batches_take_class_weights_by_class_but_cannot_balance() -> None:
    frame = pd.DataFrame({"a": list("xyxyxx")})
    y = ["no", "no", "no", "yes", "no", "yes"]
    by_class = {"no": 1.0, "yes": 3.0}
    one = NaiveBayesClassifier(class_weight=by_class)
    for rows in (slice(3), slice(3, None)):
        one.partial_fit(frame[rows], y[rows], classes=["no", "yes"])
    other = NaiveBayesClassifier(class_weight=by_class).fit(frame, y)
    np.testing.assert_array_equal(one.predict_proba(frame), other.predict_proba(frame))
    with pytest.raises(ValueError, match="class_weight='balanced' needs all labels"):
        NaiveBayesClassifier(class_weight="balanced").partial_fit(frame, y, [*by_class])
    with pytest.raises(ValueError, match="class_weight takes a table in memory"):
        other.set_params(class_weight="balanced").fit("rows.csv", target="y")
    with pytest.raises(ValueError, match="class_weight weighs rows, which counts"):
        NaiveBayesClassifier.from_counts(other.counts_, class_weight=by_class)


def test_class_weights_of_numbers_are_read_back_from_a_file(tmp_path: Path) -> None:
    by_class = {0: 1.0, 1: 3.0}
    model = NaiveBayesClassifier(class_weight=by_class).fit([["x"], ["y"]], [0, 1])
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").class_weight == by_class


def test_weights_that_sum_to_far_less_than_the_rows_are_reported(
    tmp_path: Path,
) -> None:
    frame, y = nominal_frame()
    path = tmp_path / "rows.csv"
    named = {"target": "y", "sample_weight": "w"}

    def learn(scale: str, weight: float) -> list[Callable[[], object]]:
        """Every way to learn from the rows with one weight."""
        table = frame.assign(y=y, w=weight)
        table.to_csv(path, index=False)
        new = partial(NaiveBayesClassifier, weight_scale=scale)
        weights = table["w"].to_numpy()
        return [
            lambda: new().fit(frame, y, sample_weight=weights),
            lambda: new().partial_fit(frame, y, np.unique(y), sample_weight=weights),
            lambda: new().fit(path, **named),
            lambda: new().fit(pa.Table.from_pandas(table).to_reader(), **named),
            lambda: BayesianNetworkEstimator(weight_scale=scale).fit(
                path, sample_weight="w"
            ),
        ]

    few = r"counts as 1 rows.*weight_scale='mean_one'"
    for way in learn("counts", 1.0 / len(y)):
        with pytest.warns(UserWarning, match=few) as caught:
            way()
        assert {warning.filename for warning in caught} == {__file__}
        assert len(caught) == 1
    for way in learn("mean_one", 1.0 / len(y)) + learn("counts", 0.2):
        way()


@pytest.mark.slow
def test_every_fit_and_comparison_warns_of_small_weights_once() -> None:
    frame, y = nominal_frame()
    numbers = np.arange(float(len(y)))
    weights = np.full(len(y), 1.0 / len(y))
    regressor = AveragedKDBRegressor(trees=False, n_intervals=2)

    def compared(estimators: dict[str, Any]) -> object:
        return compare(frame, y, estimators, n_folds=3, sample_weight=weights)

    ways: dict[str, Callable[[], object]] = {
        name: partial(kind().fit, frame, y, weights)
        for name, kind in CLASSIFIERS.items()
    }
    ways |= {
        "regressor": lambda: regressor.fit(frame, numbers, weights),
        "regressors": lambda: cross_validate_regressors(
            {"r": regressor}, frame, numbers, n_folds=2, sample_weight=weights
        ),
        "density": lambda: BayesianNetworkEstimator().fit(frame, sample_weight=weights),
        "compare": lambda: compared({"naive Bayes": NaiveBayesClassifier()}),
    }

    def check(name: str) -> None:
        with pytest.warns(UserWarning, match="sample_weight sums to") as caught:
            ways[name]()
        assert [warning.filename for warning in caught] == [__file__]

    check_each(ways, check)
