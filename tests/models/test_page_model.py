"""Pages take any object that returns a page model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bayleaf.explorer import explorer_html
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.page_model import CLASSIFIER, PageModel, page_model
from bayleaf.report import summarize
from oracles.small_tables import classifier, small_table


def rain() -> BayesianNetwork:
    """Two variables and an arc."""
    return BayesianNetwork.from_tables(
        states={"rain": ["no", "yes"], "wet": ["no", "yes"]},
        parents={"wet": ["rain"]},
        tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    )


class Forecast:
    """A kind of model that no page knows by its class."""

    def _page_model(self) -> PageModel:
        return replace(rain()._page_model(), name="Forecast")


def test_a_new_kind_of_estimator_has_an_explorer_and_a_report() -> None:
    assert "<title>Forecast</title>" in explorer_html(Forecast())
    rows = rain().sample(50, random_state=0)
    values = summarize(Forecast(), rows, held_out=True)
    expected = summarize(rain(), rows, held_out=True)
    assert values["model"]["name"] == "Forecast"
    assert values["quality"] == expected["quality"]


def test_estimators_files_and_predictors_answer_alike(tmp_path: Any) -> None:
    from bayleaf.loading import read_model_or_network

    fitted = classifier("tan").fit(*small_table(0))
    fitted.save(tmp_path / "model.json")
    saved = read_model_or_network(tmp_path / "model.json")
    shown = [one._page_model() for one in (fitted, saved, fitted._predictor())]
    assert {one.task for one in shown} == {CLASSIFIER}
    assert [one.name for one in shown] == [type(fitted).__name__] * 2 + ["Classifier"]
    assert [one.saved() is None for one in shown] == [False, False, True]


def test_what_is_not_a_model_is_refused() -> None:
    with pytest.raises(TypeError, match="needs a model, got a dict"):
        page_model({}, "this needs a model, got")
