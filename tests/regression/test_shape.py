"""What a regressor expects of rows where one feature is set."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import AveragedKDBRegressor, load

Fitted = tuple[AveragedKDBRegressor, pd.DataFrame]


N_ROWS = 120


@pytest.fixture(scope="module", params=[True, False], ids=["trees", "intervals"])
def fitted(request: pytest.FixtureRequest) -> Fitted:
    return fitted_to_prices(request.param)


def fitted_to_prices(trees: bool, n_rows: int = N_ROWS) -> Fitted:
    """A model of a price that rises by four with the size and by six at the shore."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows).round(2),
            "place": rng.choice(["town", "shore", "hill"], n_rows),
            "noise": rng.normal(size=n_rows).round(2),
        }
    )
    table.loc[::11, "place"] = None
    price = (
        4 * table["size"] + 6 * (table["place"] == "shore") + rng.normal(size=n_rows)
    )
    model = AveragedKDBRegressor(n_networks=4, trees=trees, random_state=0)
    return model.fit(table, price.rename("price")), table


def test_a_curve_has_a_step_an_interval_and_all_rows_behind_it(fitted: Fitted) -> None:
    model, table = fitted
    shape = model.shape("size", table)
    assert shape.kind == "numeric"
    assert shape.target == "price"
    n_steps = len(shape.states)
    assert len(shape.edges) == n_steps + 1
    assert shape.expectations.shape == shape.row_counts.shape == (n_steps,)
    assert shape.row_counts.sum() == len(table)
    # The price rises with the size by four.
    low, high = shape.expectations[: n_steps // 4], shape.expectations[-n_steps // 4 :]
    assert high.mean() - low.mean() > 5


@pytest.mark.slow
@pytest.mark.long
def test_the_curve_of_all_trees_rises_with_the_size(all_trees: None) -> None:
    test_a_curve_has_a_step_an_interval_and_all_rows_behind_it(
        fitted_to_prices(trees=True, n_rows=160)
    )


def test_bars_of_names_tell_the_dear_place(fitted: Fitted) -> None:
    shape = fitted[0].shape("place", fitted[1])
    assert shape.kind == "nominal"
    assert len(shape.edges) == 0
    by_state = dict(zip(shape.states, shape.expectations.tolist(), strict=True))
    assert set(by_state) == {"hill", "missing", "shore", "town"}
    assert max(by_state, key=by_state.__getitem__) == "shore"
    assert by_state["shore"] - by_state["town"] == pytest.approx(6, abs=1.5)


def test_a_feature_that_says_nothing_has_a_flat_shape(fitted: Fitted) -> None:
    model, table = fitted
    telling = np.ptp(model.shape("size", table).expectations)
    assert np.ptp(model.shape("noise", table).expectations) < telling / 4


def test_it_is_the_mean_prediction_of_changed_rows(fitted: Fitted) -> None:
    model, table = fitted
    few = table.head(40)
    shape = model.shape("place", few)
    for state, expectation in zip(shape.states, shape.expectations, strict=True):
        value = None if state == "missing" else state
        changed = model.predict(few.assign(place=pd.Series([value] * 40, dtype=object)))
        assert expectation == pytest.approx(changed.mean(), rel=1e-12)
    assert shape.baseline == pytest.approx(model.predict(few).mean(), rel=1e-12)


def test_many_rows_are_taken_at_even_distances(fitted: Fitted) -> None:
    model, table = fitted
    many = pd.concat([table] * 5, ignore_index=True)
    taken = many.iloc[np.linspace(0, len(many) - 1, 200).round().astype(int)]
    assert np.array_equal(
        model.shape("place", many).expectations,
        model.shape("place", taken).expectations,
    )


def test_it_is_written_as_text_and_plain_values(fitted: Fitted) -> None:
    model, table = fitted
    shape = model.shape("size", table)
    values = json.loads(json.dumps(shape.to_dict()))
    assert values["edges"][0] is None
    assert [one["expectation"] for one in values["states"]] == pytest.approx(
        shape.expectations.tolist()
    )
    text = str(model.shape("place", table))
    assert text.startswith("place: expectation of price, ")
    assert len(text.splitlines()) == 2 + 4


def test_it_survives_the_file(fitted: Fitted, tmp_path: Any) -> None:
    model, table = fitted
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json").shape("size", table)
    expected = model.shape("size", table).expectations
    assert np.array_equal(again.expectations, expected)


def test_a_feature_that_is_none_is_named(fitted: Fitted) -> None:
    with pytest.raises(ValueError, match="there is no feature 'price'"):
        fitted[0].shape("price", fitted[1])
