"""Densities of values not seen in training: normalised, below what was seen."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import BayesianNetworkEstimator, UnknownValuesWarning

ROWS = pd.DataFrame(
    {
        "country": ["fr", "de", "it", "es"] * 50,
        "card": ["visa", "master"] * 100,
        "amount": np.tile([1.5, 2.5, 20.5, 30.5, 40.5], 40),
    }
)


def fitted(**parameters: Any) -> BayesianNetworkEstimator:
    """A density of the rows."""
    return BayesianNetworkEstimator(random_state=0, **parameters).fit(ROWS)


def scored(model: Any, rows: Any) -> np.ndarray:
    """Log densities of rows with values not seen in training, which warn."""
    with pytest.warns(UnknownValuesWarning, match="taken as "):
        return model.score_samples(pd.DataFrame(rows, columns=list(ROWS)))


def test_seen_and_other_values_sum_to_one() -> None:
    model = fitted()
    amounts = sorted(set(ROWS["amount"]))
    every = itertools.product(
        ["fr", "de", "it", "es", "XX"], ["visa", "master", "stolen"], amounts
    )
    assert np.exp(scored(model, every)).sum() == pytest.approx(1.0)
    # A missing cell sums them out, too.
    alone = [(c, None, None) for c in ("fr", "de", "it", "es", "XX")]
    assert np.exp(scored(model, alone)).sum() == pytest.approx(1.0)


def test_another_value_has_the_probability_of_one_more_state() -> None:
    model = fitted()
    logs = scored(model, [("XX", None, None), (None, "stolen", None)])
    assert np.exp(logs) == pytest.approx([1 / 205, 1 / 203])


def test_a_hierarchy_leaves_room_for_other_values() -> None:
    tree = {"any": {"north": ["fr", "de"], "south": ["it", "es"]}}
    model = fitted(abstraction="given", hierarchies={"country": tree})
    alone = [(c, None, None) for c in ("north", "south", "XX")]
    assert np.exp(scored(model, alone)).sum() == pytest.approx(1.0)


def test_rows_with_values_not_seen_come_last() -> None:
    model = fitted()
    least = model.score_samples(ROWS).min()
    rows = [("XX", "visa", 1.5), ("XX", "stolen", 1.5)]
    logs = scored(model, rows)
    assert logs[1] < logs[0] < least
    assert np.isneginf(scored(fitted(unknown="impossible"), rows)).all()


def test_values_may_be_missing_or_refused_instead() -> None:
    missing = fitted(unknown="missing")
    rows = [("XX", "visa", 1.5), (None, "visa", 1.5)]
    logs = scored(missing, rows)
    assert logs[0] == logs[1]
    seen = missing.score_samples(ROWS)
    network = missing.network_
    np.testing.assert_allclose(seen.sum(), network.log_likelihood(ROWS))
    with pytest.raises(ValueError, match="that training did not contain"):
        fitted(unknown="error").score_samples(pd.DataFrame(rows, columns=list(ROWS)))
    with pytest.raises(ValueError, match="unknown must be one of"):
        fitted(unknown="none")


def test_cells_not_seen_are_not_those_of_a_missing_state() -> None:
    table = ROWS.assign(card=ROWS["card"].where(np.arange(200) % 4 > 0))
    model = BayesianNetworkEstimator(missing="state", random_state=0).fit(table)
    cards = ["visa", "master", None, "stolen"]
    every = itertools.product(
        ["fr", "de", "it", "es", "XX"], cards, sorted(set(ROWS["amount"]))
    )
    assert np.exp(scored(model, every)).sum() == pytest.approx(1.0)


def test_files_keep_the_weight_of_the_training_rows(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "model.json")
    again = bayleaf.load(tmp_path / "model.json")
    rows = [("XX", "visa", 1.5)]
    assert scored(again, rows) == scored(model, rows)
