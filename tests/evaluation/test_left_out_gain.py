"""The gain of a model over another on left-out rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bayleaf
from bayleaf.evaluation import left_out_gain
from oracles.small_tables import classifier, small_table


def test_the_gain_is_the_difference_of_left_out_scores(tmp_path: object) -> None:
    X, y = small_table(0, n_rows=60)
    before, after = classifier("nb").fit(X, y), classifier("tan").fit(X, y)
    result = left_out_gain(before, after, X, y)
    difference = before.loo_score_.log_loss - after.loo_score_.log_loss
    assert result.gain == pytest.approx(difference, abs=1e-12)
    assert result.error > 0
    after.save(f"{tmp_path}/tan.json")
    read = bayleaf.load(f"{tmp_path}/tan.json")
    assert left_out_gain(before, read, X, y) == result
    assert left_out_gain(after, after, X, y).gain == 0


def test_rows_of_gaussian_networks_may_come_in_any_order(tmp_path: Path) -> None:
    X, y = small_table(0, n_rows=60)
    rng = np.random.default_rng(0)
    X = X.assign(size=rng.normal(size=60).round(2) + (y == y[0]))
    gaussian = classifier("nb").set_params(numeric="gaussian")
    before, after = classifier("nb").fit(X, y), gaussian.fit(X, y)
    result = left_out_gain(before, after, X, y)
    again = left_out_gain(before, after, X[::-1], y[::-1])
    assert again.gain == pytest.approx(result.gain, abs=1e-12)
    after.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    assert left_out_gain(before, read, X, y) == result


def test_the_gain_of_weighed_numbers_is_that_of_their_scores(tmp_path: Path) -> None:
    X, y = small_table(0, n_rows=60)
    rng = np.random.default_rng(0)
    X = X.assign(size=rng.normal(size=60).round(2) + (y == y[0]))
    weighed = {"numeric": "gaussian", "numeric_weights": "leave_one_out"}
    before = classifier("nb").fit(X, y)
    after = classifier("nb").set_params(**weighed).fit(X, y)
    difference = before.loo_score_.log_loss - after.loo_score_.log_loss
    result = left_out_gain(before, after, X[::-1], y[::-1])
    assert result.gain == pytest.approx(difference, abs=1e-12)
    after.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="no exact leave-one-out of these rows"):
        left_out_gain(before, bayleaf.load(tmp_path / "model.json"), X, y)


def test_models_without_exact_leave_one_out_are_refused() -> None:
    X, y = small_table(0, n_rows=60)
    model = classifier("nb").fit(X, y)
    with pytest.raises(ValueError, match="y must hold classes of the model, got 7"):
        left_out_gain(model, model, X, np.full(60, 7))
    other = bayleaf.LatentClassNBClassifier(n_components=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="no exact leave-one-out of these rows"):
        left_out_gain(model, other, X, y)
