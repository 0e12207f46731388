from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy

from bayleaf import BayesianNetworkEstimator
from bayleaf.data.codes import Codes
from bayleaf.evaluation import cross_validate_density
from bayleaf.evaluation.density_scores import entropy_bound

RNG = np.random.default_rng(5)
ROWS = RNG.integers(0, 3, size=(60, 2))


def table() -> pd.DataFrame:
    """Two dependent columns of words, one of numbers."""
    a = RNG.integers(0, 3, 90)
    b = np.where(RNG.random(90) < 0.8, a, RNG.integers(0, 3, 90))
    return pd.DataFrame(
        {"a": np.array(list("xyz"))[a], "b": np.array(list("uvw"))[b]}
    ).assign(number=a + RNG.normal(size=90))


def codes(rows: np.ndarray[Any, Any]) -> Codes:
    return Codes.from_columns(list(rows.T), [3] * rows.shape[1])


def test_the_bound_is_minus_rows_times_scipy_s_entropy() -> None:
    counts = list(Counter(map(tuple, ROWS.tolist())).values())
    assert entropy_bound(codes(ROWS)) == pytest.approx(-60 * entropy(counts))


def test_no_distribution_over_the_rows_exceeds_the_bound() -> None:
    bound = entropy_bound(codes(ROWS))
    for _ in range(50):
        cells = RNG.dirichlet(np.ones(9)).reshape(3, 3)
        assert np.log(cells[ROWS[:, 0], ROWS[:, 1]]).sum() <= bound


def test_with_missing_cells_no_distribution_exceeds_the_bound_either() -> None:
    rows = ROWS.copy()
    rows[:20, 0] = 3
    rows[20:25, 1] = 3
    bound = entropy_bound(codes(rows))
    for weight in (1.0, 20.0):
        for _ in range(50):
            # Near the rows' own frequencies the bound is nearly reached.
            counts = np.zeros((3, 3))
            np.add.at(counts, (ROWS[:, 0], ROWS[:, 1]), weight)
            cells = RNG.dirichlet(counts.ravel() + 0.1).reshape(3, 3)
            padded = np.zeros((4, 4))
            padded[:3, :3] = cells
            padded[3, :3], padded[:3, 3] = cells.sum(axis=0), cells.sum(axis=1)
            assert np.log(padded[rows[:, 0], rows[:, 1]]).sum() <= bound


def test_equal_rows_leave_no_uncertainty() -> None:
    assert entropy_bound(codes(np.ones((7, 3), int))) == 0.0


def test_figures_are_those_of_fits_on_the_training_folds() -> None:
    frame = table()
    model = BayesianNetworkEstimator(random_state=0)
    [found] = cross_validate_density({"flat": model}, frame, n_folds=3, random_state=2)
    order = np.random.RandomState(2).permutation(90)
    first = np.sort(order[:30])
    train = np.setdiff1d(np.arange(90), first)
    alone = BayesianNetworkEstimator(random_state=0).fit(frame.iloc[train])
    assert found.folds[0].log_likelihood == alone.score(frame.iloc[first])
    assert found.folds[0].n_rows == 30
    assert all(fold.log_likelihood <= fold.bound for fold in found.folds)
    assert found.log_likelihood == pytest.approx(90 * found.nats_per_row)
    assert found.n_arcs > 0


def test_repeats_average_and_models_share_their_folds() -> None:
    frame = table()
    models = {str(i): BayesianNetworkEstimator(random_state=0) for i in range(2)}
    one, two = cross_validate_density(models, frame, n_folds=2, n_repeats=2)
    assert one.folds == two.folds
    assert len(one.folds) == 4
    total = sum(fold.log_likelihood for fold in one.folds) / 2
    assert one.log_likelihood == pytest.approx(total)
    assert one.bound == pytest.approx(sum(fold.bound for fold in one.folds) / 2)


class Forgetful(BayesianNetworkEstimator):
    """Holds rows with the word x to be impossible."""

    def score_samples(self, X: Any) -> Any:
        return np.where(X["a"] == "x", -np.inf, super().score_samples(X))


class Lost(BayesianNetworkEstimator):
    """Gives what is no log probability."""

    def score_samples(self, X: Any) -> Any:
        return np.full(len(X), np.nan)


def test_impossible_rows_are_counted_and_leave_no_nan() -> None:
    frame = table()
    [found] = cross_validate_density({"it": Forgetful()}, frame, n_folds=4)
    assert found.n_impossible == (frame["a"] == "x").sum() > 0
    assert found.log_likelihood == -math.inf
    assert found.sd_per_row == math.inf
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["log_likelihood"] is None
    assert plain["nats_per_row"] == {"mean": None, "sd": None}


@pytest.mark.parametrize(("n_folds", "n_repeats"), [(1, 1), (91, 1), (5, 0)])
def test_folds_that_cannot_be_dealt_are_refused(n_folds: int, n_repeats: int) -> None:
    model = {"it": BayesianNetworkEstimator(random_state=0)}
    with pytest.raises(ValueError, match="folds must be between 2 and the 90 rows"):
        cross_validate_density(model, table(), n_folds=n_folds, n_repeats=n_repeats)


def test_a_log_probability_of_nan_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lost gave held-out rows .* of NaN"):
        cross_validate_density({"lost": Lost()}, table(), n_folds=2)
