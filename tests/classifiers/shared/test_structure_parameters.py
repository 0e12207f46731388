"""Prior probabilities of arcs as a parameter: refusals, files, trees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import BayesianNetworkClassifier, BayesianNetworkEstimator
from offenders import check_each


def _table(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.integers(3, size=150)
    b = (a + rng.integers(2, size=150)) % 3
    return pd.DataFrame({"a": a, "b": b, "c": (b + (rng.random(150) < 0.3)) % 3})


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({("a", "b"): 1.0}, "above 0 and below 1, got 1.0; for certainty use required"),
        ({("a", "b"): 0.5, ("b", "a"): 0.5}, "sum to 1 or more"),
        ({("a", "a"): 0.5}, "joins a column with itself"),
        ({("a", "bb"): 0.5}, "arc_prior names 'bb', which is no column"),
    ],
)
def test_beliefs_that_are_no_probabilities_are_refused(
    wrong: Any, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        BayesianNetworkEstimator(arc_prior=wrong).fit(_table())


@pytest.mark.parametrize("wrong", [[("a", "b")], {"ab": 0.5}, {("a", "b"): "much"}])
def test_what_is_no_mapping_from_pairs_to_numbers_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="arc_prior"):
        BayesianNetworkEstimator(arc_prior=wrong).fit(_table())


def test_a_belief_of_a_third_changes_nothing() -> None:
    table = _table()
    plain = BayesianNetworkEstimator(random_state=0).fit(table)
    told = BayesianNetworkEstimator(random_state=0, arc_prior={("a", "c"): 1 / 3})
    assert told.fit(table).edges_ == plain.edges_
    assert told.score_ == pytest.approx(plain.score_, abs=1e-9)


def test_beliefs_in_arcs_that_are_there_are_added_to_the_score() -> None:
    def check(form: Any) -> None:
        table = _table()
        arcs = [("a", "b"), ("b", "c")]
        others = [(x, y) for x in "abc" for y in "abc" if x != y and (x, y) not in arcs]
        fixed = {"required_edges": arcs, "forbidden_edges": others, "random_state": 0}
        plain = BayesianNetworkEstimator(**form, **fixed).fit(table)
        beliefs = {("a", "b"): 0.9, ("c", "b"): 0.2, ("a", "c"): 0.7}
        told = BayesianNetworkEstimator(**form, **fixed, arc_prior=beliefs).fit(table)
        # For b and c .8 are left for the other two; a pair without an arc adds nothing.
        bits = math.log2(0.9 / 0.05) + math.log2(0.4 / 0.4)
        assert told.edges_ == plain.edges_
        assert told.score_ - plain.score_ == pytest.approx(bits, abs=1e-8)

    check_each(
        [
            {},
            {"local_structure": "tree"},
            {"local_structure": "tree", "tree_search": "incremental"},
            {"local_structure": "tree", "tree_search": "batch"},
            {"local_structure": "tree", "merge_leaves": True},
            {"abstraction": "local"},
        ],
        check,
    )


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"local_structure": "tree"},
        {"local_structure": "tree", "tree_search": "batch"},
    ],
)
def test_a_strong_belief_brings_in_an_arc_and_another_keeps_it_out(form: Any) -> None:
    table = _table()
    unlikely = {("a", "b"): 1e-30, ("b", "a"): 1e-30}
    kept_out = BayesianNetworkEstimator(**form, arc_prior=unlikely, random_state=0)
    assert {("a", "b"), ("b", "a")}.isdisjoint(kept_out.fit(table).edges_)
    table["d"] = np.random.default_rng(1).integers(2, size=150)
    sure = {("d", "a"): 1 - 1e-12}
    model = BayesianNetworkEstimator(**form, arc_prior=sure, random_state=0)
    assert ("d", "a") in model.fit(table).edges_


@pytest.mark.parametrize("form", [{}, {"missing": "em", "structural": "edges"}])
def test_rows_with_missing_cells_keep_beliefs_and_tiers(form: Any) -> None:
    table = _table().astype(object)
    table.loc[np.random.default_rng(0).random(150) < 0.15, "b"] = None
    table["d"] = np.random.default_rng(1).integers(2, size=150)
    beliefs = {("d", "a"): 1 - 1e-12}
    model = BayesianNetworkEstimator(
        **form, arc_prior=beliefs, tiers=[["c"], ["b"]], random_state=0
    ).fit(table)
    assert ("b", "c") not in model.edges_
    assert ("d", "a") in model.edges_


def test_the_classifier_saves_and_shows_its_beliefs(tmp_path: Any) -> None:
    table = _table()
    beliefs = {("a", "b"): 0.9, ("b", "class"): 0.25}
    y = pd.Series(np.where(table["a"] > 0, "p", "q"), name="class")
    model = BayesianNetworkClassifier(arc_prior=beliefs, random_state=0).fit(table, y)
    model.save(tmp_path / "model.json")
    loaded = bayleaf.load(tmp_path / "model.json")
    assert loaded.arc_prior == beliefs
    text = "prior probabilities of arcs: a -> b 0.9, b -> class 0.25"
    assert text in str(model.summary())
    assert text in str(loaded.summary())
