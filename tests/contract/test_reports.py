"""Summaries, explanations, arcs and networks of every classifier."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import (
    BayesianNetworkClassifier,
    HNBClassifier,
    LatentClassNBClassifier,
)
from contract.kinds import each_kind, fitted, is_joint
from contract.tables import mixed_frame, nominal_frame


@each_kind()
def test_the_terms_of_an_explanation_add_up_to_the_log_odds(kind: Any) -> None:
    model, frame = fitted(kind)
    log_proba = model.predict_log_proba(frame)
    assert frame.isna().any(axis=1).sum() > 10
    for row, explanation in enumerate(model.explain(frame)):
        target = model.classes_.tolist().index(explanation.target)
        against = model.classes_.tolist().index(explanation.against)
        log_odds = log_proba[row, target] - log_proba[row, against]
        terms = math.fsum(term.contribution for term in explanation.terms)
        assert explanation.log_odds == pytest.approx(log_odds, abs=1e-12)
        assert explanation.prior + terms == pytest.approx(log_odds, abs=1e-10)


@each_kind()
def test_the_predicted_class_is_explained(kind: Any) -> None:
    frame, y = mixed_frame()
    loss = [[0, 1, 9], [9, 0, 1], [9, 9, 0]]
    model = kind(loss=loss, random_state=0).fit(frame, y)
    explained = [explanation.target for explanation in model.explain(frame)]
    assert explained == model.predict(frame).tolist()


@each_kind()
def test_the_runner_up_is_compared_with_by_default(kind: Any) -> None:
    model, frame = fitted(kind)
    order = np.argsort(-model.predict_proba(frame), axis=1)
    expected = model.classes_[order[:, 1]].tolist()
    assert [explanation.against for explanation in model.explain(frame)] == expected


@each_kind()
def test_a_chosen_class_is_compared_with(kind: Any) -> None:
    model, frame = fitted(kind)
    for explanation, label in zip(
        model.explain(frame, against="out"), model.predict(frame), strict=True
    ):
        assert label == "out" or explanation.against == "out"
        assert explanation.against != explanation.target


@each_kind()
def test_an_unknown_class_to_compare_with_is_refused(kind: Any) -> None:
    model, frame = fitted(kind)
    with pytest.raises(
        ValueError, match=r"against must be one of the classes .*'attic'"
    ):
        model.explain(frame, against="attic")


@each_kind(is_joint)
def test_a_missing_feature_contributes_nothing(kind: Any) -> None:
    model, frame = fitted(kind)
    for explanation in model.explain(frame):
        for term in explanation.terms:
            if term.value == "missing":
                assert term.contribution == 0.0


@each_kind()
def test_one_class_is_explained_by_zeros(kind: Any) -> None:
    frame, y = mixed_frame()
    explanation = (
        kind(random_state=0).fit(frame, ["only"] * len(y)).explain(frame[:1])[0]
    )
    assert {term.contribution for term in explanation.terms} == {0.0}


@each_kind()
def test_an_explanation_prints_and_goes_into_json(kind: Any) -> None:
    model, frame = fitted(kind)
    explanation = model.explain(frame[:1])[0]
    assert str(explanation).startswith(f"row 0: {explanation.target} with probability")
    assert json.loads(json.dumps(explanation.to_dict()))["class"] == explanation.target


@each_kind()
def test_the_summary_tells_class_features_and_parameters(kind: Any) -> None:
    model, _ = fitted(kind)
    text = str(model.summary())
    assert text.startswith(kind.__name__)
    for line in (
        "class            class: in 0.",
        "features         5",
        "free parameters",
    ):
        assert line in text
    assert model.summary().log_likelihood == model.log_likelihood_ < 0


@each_kind()
def test_the_summary_lists_what_was_nominal_and_what_was_dropped(kind: Any) -> None:
    frame, y = mixed_frame()
    frame = frame.assign(same="x", flat=0.25)
    frame["guests"] = frame["guests"].astype("Int64")
    notes = dict(kind(random_state=0).fit(frame, y).summary().notes)
    assert notes["guests"] == "integers, 5 values, taken as nominal"
    assert notes["same"] == "constant (x), so it carries no information"
    assert notes["flat"] == "no cut point found, so it carries no information"


@each_kind()
def test_the_summary_goes_into_json(kind: Any) -> None:
    model, _ = fitted(kind)
    summary = json.loads(json.dumps(model.summary().to_dict()))
    assert summary["n_features"] == 5
    assert [entry["label"] for entry in summary["classes"]] == ["in", "out", "roof"]


@each_kind()
def test_every_feature_is_a_child_of_the_class(kind: Any) -> None:
    model, frame = fitted(kind)
    if isinstance(model, BayesianNetworkClassifier):
        # Its search decides which features the class depends on.
        assert model.edges_ == model.network_.edges
        return
    assert {child for parent, child in model.edges_ if parent == "class"} == set(frame)


@each_kind()
def test_a_network_is_there_or_its_absence_is_explained(kind: Any) -> None:
    model, frame = fitted(kind)
    if hasattr(model, "network_"):
        *names, class_name = model.network_.domain.names
        assert names[: len(frame.columns)] == list(frame.columns)
        assert class_name == "class"
        # Latent variables alone stand between features and class.
        if not isinstance(model, HNBClassifier | LatentClassNBClassifier):
            assert len(names) == len(frame.columns)
        assert len(list(model.network_.dag.arcs)) == len(model.edges_)
        return
    with pytest.raises(AttributeError, match="no network_"):
        _ = model.network_


@each_kind(is_joint)
def test_the_joint_of_all_rows_sums_to_one(kind: Any) -> None:
    frame, y = nominal_frame(n_rows=90)
    model = kind(random_state=0).fit(frame, y)
    states = [variable.states for variable in model.encoder_.domain]
    grid = pd.MultiIndex.from_product(states, names=list(frame)).to_frame(index=False)
    total = np.exp(model.predict_joint_log_proba(grid)).sum()
    assert total == pytest.approx(1.0, abs=1e-10), "else it is one of NOT_JOINT"
