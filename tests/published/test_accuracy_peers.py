"""Peers that choose their rounds: on inner folds, whatever the classes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from accuracy import load_table
from accuracy_peers import PEERS, BoostingByFolds, peers


def _table(n_rows: int, noise: float) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=n_rows), "z": rng.normal(size=n_rows)})
    X["name"] = pd.Categorical(rng.choice(["a", "b"], size=n_rows))
    X.loc[rng.random(n_rows) < 0.1, "x"] = np.nan
    own = np.where(X["z"] > 0, "yes", "no")
    other = rng.choice(["yes", "no"], size=n_rows)
    return X, np.where(rng.random(n_rows) < noise, other, own).astype(object)


@pytest.mark.slow
@pytest.mark.long
def test_rounds_are_few_where_there_is_nothing_to_learn() -> None:
    peer = BoostingByFolds("HistGradientBoosting", most_rounds=20)
    assert peer.fit(*_table(150, 1.0)).n_rounds_ < 10
    assert 10 < peer.fit(*_table(150, 0.1)).n_rounds_ <= 20


@pytest.mark.slow
def test_a_calibrated_peer_differs_by_its_temperature_alone() -> None:
    X, y = _table(150, 0.2)
    name = "HistGradientBoosting"
    plain = BoostingByFolds(name, most_rounds=3).fit(X, y)
    calibrated = BoostingByFolds(name, calibrated=True, most_rounds=3).fit(X, y)
    logs = np.log(plain.predict_proba(X)) / calibrated.temperature_
    expected = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(calibrated.predict_proba(X), expected, atol=1e-12)
    assert calibrated.temperature_ != 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PEERS))
def test_a_class_of_one_row_breaks_nothing(name: str) -> None:
    pytest.importorskip(PEERS[name].package, reason=f"{name} is not installed")
    X, y = _table(120, 0.2)
    y[0] = "rare"
    model = BoostingByFolds(name, most_rounds=2).fit(X, y)
    found = model.predict_proba(X)
    assert found.shape == (120, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_two_lines_for_each_installed_package() -> None:
    assert {"HistGradientBoosting", "HistGradientBoosting, calibrated"} <= set(peers())


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PEERS))
def test_names_with_brackets_break_nothing(name: str) -> None:
    pytest.importorskip(PEERS[name].package, reason=f"{name} is not installed")
    X, y = _table(120, 0.2)
    bracketed = X.rename(columns={"x": "char_freq_[", "z": "<z>"})
    plain, found = (
        BoostingByFolds(name, most_rounds=2).fit(table, y).predict_proba(table)
        for table in (X, bracketed)
    )
    np.testing.assert_array_equal(found, plain)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["LightGBM", "HistGradientBoosting"])
def test_rare_classes_do_not_make_steps_diverge(name: str, data_folder: Path) -> None:
    pytest.importorskip(PEERS[name].package, reason=f"{name} is not installed")
    # Three of the classes have one row; without a penalty the loss is above 0.19.
    X, y = load_table(data_folder, "kddcup99-10pct")
    model = BoostingByFolds(name).fit(X[::2], y[::2])
    found = model.predict_proba(X[1::2])
    known = np.isin(y[1::2], model.classes_)
    own = np.searchsorted(model.classes_, y[1::2][known])
    assert -np.log(found[known][np.arange(known.sum()), own]).mean() < 0.05
