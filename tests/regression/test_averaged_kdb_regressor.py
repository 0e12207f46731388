"""A numeric target: distributions, explanations, files, invariances."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectFromModel

from bayleaf import AveragedKDBRegressor, load
from bayleaf.data.codes import Codes


def mixed_table(n_rows: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, names, missing cells, and a target that all of them move."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows).round(2),
            "age": rng.integers(1, 60, n_rows).astype(float),
            "place": rng.choice(["town", "shore", "hill"], n_rows),
        }
    )
    target = 3 * table["size"] + (table["place"] == "shore") * table["age"] / 5
    target = (target + rng.normal(size=n_rows)).round(2)
    table.loc[::17, "age"] = np.nan
    return table, target.to_numpy()


def small(**parameters: Any) -> AveragedKDBRegressor:
    return AveragedKDBRegressor(**{"n_networks": 4, "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def fitted() -> tuple[AveragedKDBRegressor, pd.DataFrame, np.ndarray]:
    table, target = mixed_table()
    return small().fit(table, target), table, target


def test_terms_and_baseline_add_up_to_the_expectation(fitted: Any) -> None:
    model, table, _ = fitted
    for one in model.explain(table.head(20)):
        total = one.baseline + sum(term.contribution for term in one.terms)
        assert total == pytest.approx(one.expectation, abs=1e-10)


def test_importances_are_what_columns_explain_of_rows_left_out(
    fitted: Any, tmp_path: Path
) -> None:
    model, table, target = fitted
    codes = model._encode(table).codes
    saved = []
    for feature in range(codes.n_variables):
        maps = [network.maps[feature] for network in model.model_.intervals.networks]
        coarse = [states for states in maps if states[-1] <= 9]
        states = max(coarse, key=lambda found: found[-1])[codes.column(feature)]
        errors = []
        for row, number in enumerate(target):
            others = np.delete(np.arange(len(target)), row)
            alike = others[states[others] == states[row]]
            mean = target[others].mean()
            by_state = (target[alike].sum() + mean) / (len(alike) + 1)
            errors.append((number - mean) ** 2 - (number - by_state) ** 2)
        saved.append(max(sum(errors), 0.0))
    shares = model.feature_importances_
    np.testing.assert_allclose(shares, np.array(saved) / sum(saved), atol=1e-12)
    selector = SelectFromModel(small(), threshold=0.2).fit(table, target)
    assert selector.get_feature_names_out().tolist() == ["size", "place"]

    twice = small().fit(table, target, sample_weight=np.full(len(target), 2.0))
    double = small().fit(pd.concat([table, table]), np.tile(target, 2))
    np.testing.assert_allclose(
        twice.feature_importances_, double.feature_importances_, atol=1e-12
    )
    model.save(tmp_path / "model.bayleaf")
    for gone in (load(tmp_path / "model.bayleaf"), pickle.loads(pickle.dumps(model))):
        with pytest.raises(AttributeError, match="does not hold its training rows"):
            _ = gone.feature_importances_


def test_the_quadrature_leaves_next_to_nothing_to_share(fitted: Any) -> None:
    model, table, _ = fitted
    codes = model._encode(table.head(20)).codes
    _, terms = model.model_.expectation_terms(codes)
    finer = fine_terms(model.model_, codes)
    assert terms == pytest.approx(finer, abs=1e-6 * model.model_.scale)


def fine_terms(model: Any, codes: Any, n_points: int = 4000) -> np.ndarray:
    """The path's derivative by finite differences, one feature's part at a time."""
    parts = model._parts(codes)
    found = np.zeros((codes.n_rows, parts.intervals.shape[1]))
    step = 1e-5

    def mean(shares: np.ndarray) -> np.ndarray:
        scores = model.intervals.base + np.einsum("f,nfk->nk", shares, parts.intervals)
        where = model._start(np.ones(1))
        moved = type(where)(
            where.mean + parts.mean @ shares, where.log_scale + parts.spread @ shares
        )
        return model.of_scores(scores, moved).mean

    for point in (np.arange(n_points // 10) + 0.5) / (n_points // 10):
        for feature in range(found.shape[1]):
            shares = np.full(found.shape[1], point)
            shares[feature] += step
            above = mean(shares)
            shares[feature] -= 2 * step
            found[:, feature] += (above - mean(shares)) / (2 * step)
    return found / (n_points // 10)


def test_quantiles_rise_and_stay_within_the_training_range(fitted: Any) -> None:
    model, table, target = fitted
    found = model.predict_quantiles(table, np.linspace(0, 1, 21))
    assert (np.diff(found, axis=1) >= 0).all()
    assert found.min() >= target.min()
    assert found.max() <= target.max()


@pytest.mark.slow
def test_an_interval_holds_the_share_of_left_out_rows_that_it_names(
    all_trees: None,
) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = small().fit(X[:300], y[:300])
    lower, upper = model.predict_interval(X[300:], 0.9).T
    covered = ((y[300:] >= lower) & (y[300:] <= upper)).mean()
    assert 0.84 <= covered <= 0.96
    assert 0.86 <= model.left_out_coverage_ <= 0.94


def test_absolute_loss_predicts_the_median(fitted: Any) -> None:
    model, table, target = fitted
    other = small(loss="absolute").fit(table, target)
    median = model.predict_quantiles(table, [0.5])[:, 0]
    assert (other.predict(table) == median).all()


def test_predict_is_the_mean_of_the_distribution(fitted: Any) -> None:
    model, table, _ = fitted
    said = model.predict_distribution(table.head(5))
    assert (model.predict(table.head(5)) == said.mean).all()


def test_a_saved_regressor_answers_as_before(fitted: Any, tmp_path: Path) -> None:
    model, table, _ = fitted
    model.save(tmp_path / "model.json")
    other = load(tmp_path / "model.json")
    assert isinstance(other, AveragedKDBRegressor)
    assert other.get_params() == model.get_params()
    assert (other.predict(table) == model.predict(table)).all()
    assert str(other.summary()) == str(model.summary())
    assert other.explain(table.head(2)) == model.explain(table.head(2))


def test_the_order_of_rows_and_threads_change_nothing(fitted: Any) -> None:
    model, table, target = fitted
    order = np.random.default_rng(0).permutation(len(table))
    other = small(n_jobs=2).fit(table.iloc[order], target[order])
    assert (other.predict(table) == model.predict(table)).all()


def test_a_weight_of_two_equals_a_repeated_row_and_zero_a_removed_one() -> None:
    table, target = mixed_table(80)
    weights = np.ones(80)
    weights[:13], weights[13:26] = 2.0, 0.0
    rows = np.repeat(np.arange(80), weights.astype(int))
    weighted = small().fit(table, target, sample_weight=weights)
    repeated = small().fit(table.iloc[rows], target[rows])
    assert (weighted.predict(table) == repeated.predict(table)).all()


def test_an_unknown_value_adds_nothing_by_trees(fitted: Any) -> None:
    model, table, _ = fitted
    row = table.head(1).assign(place="desert")
    term = {one.feature: one.contribution for one in model.explain(row)[0].terms}
    assert term["place"] == pytest.approx(0.0, abs=1e-9)


def test_a_constant_target_is_predicted() -> None:
    table, _ = mixed_table(40)
    model = small().fit(table, np.full(40, 7.0))
    assert (model.predict(table) == 7.0).all()


def test_few_rows_do_without_trees() -> None:
    table, target = mixed_table(12)
    model = small().fit(table, target)
    assert model.model_.trees is None
    assert np.isfinite(model.predict(table)).all()


def test_without_trees_intervals_count_alone(fitted: Any) -> None:
    _, table, target = fitted
    model = small(trees=False).fit(table, target)
    assert model.model_.trees is None
    explained = model.explain(table.head(3))
    assert [e.expectation for e in explained] == model.predict(table.head(3)).tolist()


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ([1.0, np.nan] * 20, "y holds NaN"),
        (["a", "b"] * 20, "y must hold real numbers"),
        ([1.0] * 39, "inconsistent numbers of samples"),
    ],
)
def test_a_target_that_is_no_number_is_refused(target: Any, told: str) -> None:
    table, _ = mixed_table(40)
    with pytest.raises((ValueError, TypeError), match=told):
        small().fit(table, target)


@pytest.mark.parametrize("levels", [[1.5], [-0.1], [[0.5]], [np.nan]])
def test_a_level_that_is_none_is_refused(fitted: Any, levels: Any) -> None:
    model, table, _ = fitted
    with pytest.raises(ValueError, match="levels must be numbers from 0 to 1"):
        model.predict_quantiles(table, levels)


def test_a_coverage_of_one_is_refused(fitted: Any) -> None:
    model, table, _ = fitted
    with pytest.raises(ValueError, match="coverage must be above 0 and below 1"):
        model.predict_interval(table, 1)


def test_without_known_features_the_target_has_its_own_distribution(
    fitted: Any,
) -> None:
    model, _, target = fitted
    cards = model.model_.intervals.domain.cards[:-1]
    nothing = Codes.from_columns([np.full(1, card) for card in cards], cards)
    found = model.model_.distributions(nothing)
    assert found.mean[0] == pytest.approx(np.mean(target), rel=0.02)
    baselines, terms = model.model_.expectation_terms(nothing)
    assert not terms.any()
    assert baselines[0] == pytest.approx(found.mean[0], rel=1e-12)


def test_terms_of_partial_rows_add_up_from_their_own_baselines(fitted: Any) -> None:
    model, table, _ = fitted
    codes = model._encode(table.head(20)).codes
    known = np.random.default_rng(0).random((20, codes.n_variables)) < 0.5
    columns = [
        np.where(known[:, i], codes.column(i), card)
        for i, card in enumerate(codes.cards)
    ]
    partial = Codes.from_columns(columns, codes.cards)
    baselines, terms = model.model_.expectation_terms(partial)
    expected = model.model_.distributions(partial).mean
    assert baselines + terms.sum(axis=1) == pytest.approx(expected, abs=1e-9)
    assert np.ptp(baselines) > 0
