"""Numbers back out of intervals: means, quantiles, and drawn rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf import (
    BayesianNetwork,
    BayesianNetworkEstimator,
    Between,
    TANClassifier,
    Variable,
    load,
)
from bayleaf.data.interval_numbers import IntervalNumbers
from offenders import check_each


def frame(n_rows: int = 4000) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers of several shapes, of which classes tell."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    X = pd.DataFrame(
        {
            "normal": rng.normal(40 + 10 * y, 10),
            "skewed": rng.lognormal(1 + 0.4 * y, 1.0),
            "whole": rng.poisson(12 + 5 * y),
            "few": rng.integers(1, 5, n_rows),
            "word": rng.choice(["a", "b"], n_rows),
        }
    )
    return X, y


@pytest.fixture(scope="module")
def fitted() -> TANClassifier:
    """A classifier of such a table."""
    return TANClassifier(smoothing="maximum_likelihood").fit(*frame())


@pytest.mark.parametrize("name", ["normal", "skewed", "whole", "few"])
def test_without_evidence_they_are_those_of_the_column(
    fitted: TANClassifier, name: str
) -> None:
    column = frame()[0][name].to_numpy(dtype=float)
    posteriors = fitted.network_.query({}, targets=[name])
    assert posteriors.mean(name) == pytest.approx(column.mean(), rel=0.01)
    shares = [0.05, 0.25, 0.5, 0.75, 0.95]
    expected = np.quantile(column, shares, method="inverted_cdf")
    spread = np.quantile(column, 0.95) - np.quantile(column, 0.05)
    np.testing.assert_allclose(
        posteriors.quantiles(name, shares), expected, atol=0.01 * spread, rtol=0.01
    )


def test_with_the_class_they_are_near_those_of_its_rows(fitted: TANClassifier) -> None:
    X, y = frame()
    for label in (0, 1):
        found = fitted.network_.query({"class": label}, targets=["normal"])
        assert found.mean("normal") == pytest.approx(
            X["normal"][y == label].mean(), abs=0.8
        )


def test_text_has_no_mean(fitted: TANClassifier) -> None:
    posteriors = fitted.network_.query({}, targets=["word"])
    with pytest.raises(ValueError, match="the states of variable 'word' are no numb"):
        posteriors.mean("word")
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        fitted.network_.query({})["normal"].quantiles([1.5])


def test_drawn_numbers_are_spread_as_the_column(fitted: TANClassifier) -> None:
    X, _ = frame()
    drawn = fitted.network_.sample(20_000, random_state=1, numbers=True).to_pandas()
    for name in ("normal", "skewed", "whole"):
        assert drawn[name].mean() == pytest.approx(X[name].mean(), rel=0.03)
        assert drawn[name].min() >= X[name].min()
        assert drawn[name].max() <= X[name].max()
    again = fitted.network_.sample(20_000, random_state=1, numbers=True).to_pandas()
    pd.testing.assert_frame_equal(drawn, again)
    labels = fitted.network_.sample(20_000, random_state=1).to_pandas()
    assert labels["normal"].isin(fitted.network_.domain[0].states).all()


def test_drawn_numbers_are_integers_where_training_had_whole_ones(
    fitted: TANClassifier,
) -> None:
    drawn = fitted.network_.sample(50, random_state=1, numbers=True)
    types = {name: drawn.schema.field(name).type for name in ("normal", "whole")}
    assert types == {"normal": pa.float64(), "whole": pa.int64()}


def test_density_models_draw_numbers_too() -> None:
    X, _ = frame(600)
    model = BayesianNetworkEstimator(random_state=0).fit(X)
    drawn = model.sample(500, random_state=0, numbers=True).to_pandas()
    assert drawn["normal"].between(X["normal"].min(), X["normal"].max()).all()


def test_files_keep_the_numbers(fitted: TANClassifier, tmp_path: Path) -> None:
    fitted.save(tmp_path / "m.json")
    loaded = load(tmp_path / "m.json").network_.query({})
    for name in ("normal", "skewed"):
        assert loaded.mean(name) == fitted.network_.query({}).mean(name)


def test_a_row_of_weight_two_counts_as_two() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        values = rng.normal(size=50).round(1)
        values[rng.random(50) < 0.1] = np.nan
        weights = rng.integers(1, 4, 50).astype(float)
        cuts = [-0.5, 0.5]
        weighted = IntervalNumbers.of_column(values, weights, cuts)
        rows = np.repeat(values, weights.astype(int))
        repeated = IntervalNumbers.of_column(rows, np.ones(len(rows)), cuts)
        assert weighted.quantiles == repeated.quantiles
        np.testing.assert_allclose(weighted.means, repeated.means, rtol=1e-12)

    check_each(range(20), check)


def test_an_interval_without_rows_has_no_numbers() -> None:
    found = IntervalNumbers.of_column(np.array([1.0, 2.0]), np.ones(2), [5.0])
    assert found.quantiles[1] == ()
    assert found.means == (1.5, 0.0)


def test_numbers_of_hand_made_intervals_need_bounds() -> None:
    def network(**bounds: Any) -> BayesianNetwork:
        return BayesianNetwork.from_tables(
            states={"age": Variable.numeric("age", cuts=[30, 50], **bounds)},
            tables={"age": [0.2, 0.3, 0.5]},
        )

    bare, bounded = network(), network(low=0, high=100)
    for one in (bare, bounded):
        assert one.probability_of_evidence({"age": 63.5}) == pytest.approx(0.5)
        with pytest.warns(UserWarning, match="intervals count as a whole"):
            inside = one.probability_of_evidence({"age": Between(31, 60)})
        assert inside == pytest.approx(0.8)
    with pytest.raises(ValueError, match="low= and high="):
        bare.query()["age"].mean()
    with pytest.raises(ValueError, match="low= and high="):
        bare.sample(3, random_state=0, numbers=True)
    assert bounded.query()["age"].mean() == pytest.approx(3 + 12 + 37.5)
    drawn = bounded.sample(2000, random_state=0, numbers=True)["age"].to_numpy()
    assert drawn.mean() == pytest.approx(52.5, abs=2)
