"""Bits that a classifier, and a table given it, take."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bayleaf import HNBClassifier
from bayleaf.evaluation import description_length
from bayleaf.models.bayesian_network import NetworkStructure
from oracles.small_tables import classifier, small_table


def _by_hand(model: Any, X: Any, y: Any, weights: Any) -> tuple[float, float]:
    """Bits of the classes row by row, and of the free parameters of every table."""
    places = {label: place for place, label in enumerate(model.classes_)}
    data = 0.0
    for row, label, weight in zip(model.predict_proba(X), y, weights, strict=True):
        data -= weight * math.log2(row[places[label]])
    free = sum(
        math.prod(cpd.cards[:-1]) * (cpd.cards[-1] - 1) for cpd in model.network_.cpds
    )
    return data, free / 2 * math.log2(sum(weights))


@pytest.mark.parametrize("kind", ["nb", "tan", "kdb", "network", "latent_class"])
def test_bits_are_those_of_a_direct_computation(kind: str) -> None:
    X, y = small_table(3, n_rows=60, n_classes=3, missing=0.1)
    weights = np.random.default_rng(0).integers(1, 4, size=60).astype(float)
    model = classifier(kind).fit(X, y, weights)
    length = description_length(model, X, y, weights)
    data, parameters = _by_hand(model, X, y, weights)
    arcs, n_variables = len(model.network_.edges), len(model.network_.domain)
    assert length.data == pytest.approx(data, rel=1e-12)
    assert length.parameters == pytest.approx(parameters, rel=1e-12)
    assert length.structure == pytest.approx(arcs * math.log2(n_variables), rel=1e-12)
    assert length.total == length.data + length.parameters + length.structure


@pytest.mark.parametrize("kind", ["nb", "tan", "kdb", "network"])
def test_the_length_of_all_columns_is_what_searches_make_small(kind: str) -> None:
    X, y = small_table(1, n_rows=90)
    X = X.drop(columns="height")
    model = classifier(kind, smoothing="maximum_likelihood").fit(X, y)
    network = model.network_
    graph = NetworkStructure(network.domain.names, network.dag)
    length = description_length(model, X, y, covers="all")
    score = graph.score(X.assign(**{str(network.domain.names[-1]): y}), "mdl")
    assert length.total == pytest.approx(-score.total, rel=1e-9)


def test_latent_variables_take_bits_for_children_and_cells() -> None:
    X, y = small_table(0, n_rows=60)
    X = X.drop(columns="height")
    model = HNBClassifier(
        search="given", latents=[["wet", "windy"]], random_state=0
    ).fit(X, y)
    (latent,) = model.tree_.latents
    # Features, latent and class are nodes; below the class are soil and the latent.
    named = (2 + 2) * math.log2(5)
    cells = latent.states.size * math.log2(latent.n_states)
    assert description_length(model, X, y).structure == pytest.approx(named + cells)


def test_a_row_of_weight_two_is_a_repeated_row() -> None:
    X, y = small_table(2, n_rows=40)
    weights = np.where(np.arange(40) < 10, 2.0, 1.0)
    repeated = np.repeat(np.arange(40), weights.astype(int))
    model = classifier("tan").fit(X, y)
    weighted = description_length(model, X, y, weights).total
    again = description_length(model, X.iloc[repeated], y[repeated]).total
    assert weighted == pytest.approx(again, rel=1e-12)


def test_models_that_are_not_one_network_of_tables_are_refused() -> None:
    X, y = small_table(0, n_rows=60)
    aode = classifier("aode").fit(X, y)
    with pytest.raises(ValueError, match=r"AODEClassifier averages several networks"):
        description_length(aode, X, y)
    trees = classifier("network", local_structure="tree").fit(X, y)
    with pytest.raises(ValueError, match="local_structure='table'"):
        description_length(trees, X, y)
    latent = classifier("latent_class").fit(X, y)
    with pytest.raises(ValueError, match="covers='class'"):
        description_length(latent, X, y, covers="all")
    with pytest.raises(
        ValueError, match="covers must be one of 'class', 'all', got 'both'"
    ):
        description_length(classifier("nb").fit(X, y), X, y, covers="both")


def test_printed_lengths_name_their_parts() -> None:
    X, y = small_table(0, n_rows=60)
    text = str(description_length(classifier("nb").fit(X, y), X, y))
    assert text.count("bits") == 4
    assert "classes given the features" in text
