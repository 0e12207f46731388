"""Scores, explanations and files of random models, against enumeration."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from bayleaf.models.class_model import log_normalize
from oracles.joint import class_scores, joint_cells, one_dependence_scores
from property.for_all import for_all
from property.networks import (
    codes_of,
    incomplete_rows,
    network_models,
    one_dependence_models,
)

ANY_MODEL = st.one_of(
    network_models(), network_models(class_everywhere=False), one_dependence_models()
)


def _expected(model: Any, rows: Any) -> list[list[float]]:
    """Class scores by enumeration."""
    if hasattr(model, "network"):
        return [class_scores(model.network, row) for row in rows]
    return [one_dependence_scores(model, row) for row in rows]


@for_all(network_models(class_everywhere=False), few=15, many=40)
def test_the_joint_sums_to_one(model: Any) -> None:
    total = math.fsum(p for _, p in joint_cells(model.network))
    assert total == pytest.approx(1.0, rel=1e-12)


@for_all(data=st.data(), few=20, many=200)
def test_scores_with_missing_cells_are_sums_over_the_joint(data: st.DataObject) -> None:
    model = data.draw(ANY_MODEL)
    rows = data.draw(incomplete_rows(model))
    found = model.class_log_scores(codes_of(rows, model.domain.cards[:-1]))
    np.testing.assert_allclose(np.exp(found), _expected(model, rows), rtol=1e-10)


@for_all(data=st.data(), few=25, many=60)
def test_scores_of_a_row_do_not_depend_on_the_others(data: st.DataObject) -> None:
    model = data.draw(ANY_MODEL)
    rows = data.draw(incomplete_rows(model, max_rows=6))
    cards = model.domain.cards[:-1]
    together = model.class_log_scores(codes_of(rows, cards))
    alone = [model.class_log_scores(codes_of([row], cards))[0] for row in rows]
    np.testing.assert_array_equal(together, alone)


@for_all(data=st.data(), few=25, many=60)
def test_a_row_without_any_cell_has_the_prior(data: st.DataObject) -> None:
    model = data.draw(ANY_MODEL)
    cards = model.domain.cards[:-1]
    found = model.class_log_scores(codes_of([[None] * len(cards)], cards))
    np.testing.assert_allclose(np.exp(found[0]), model.class_prior, rtol=1e-12)


@for_all(data=st.data(), few=25, many=150)
def test_contributions_add_up_to_the_log_odds(data: st.DataObject) -> None:
    model = data.draw(ANY_MODEL)
    rows = data.draw(incomplete_rows(model))
    codes = codes_of(rows, model.domain.cards[:-1])
    classes = st.integers(0, model.domain.cards[-1] - 1)
    pairs = data.draw(
        st.lists(st.tuples(classes, classes), min_size=len(rows), max_size=len(rows))
    )
    target, against = np.array(pairs, dtype=np.intp).T
    prior, terms = model.contributions(codes, target, against)
    posterior = log_normalize(model.class_log_scores(codes))
    index = np.arange(len(rows))
    odds = posterior[index, target] - posterior[index, against]
    np.testing.assert_allclose(prior + terms.sum(axis=1), odds, rtol=1e-10, atol=1e-10)


@for_all(data=st.data(), few=25, many=60)
def test_a_missing_feature_contributes_nothing(data: st.DataObject) -> None:
    model = data.draw(ANY_MODEL)
    rows = data.draw(incomplete_rows(model))
    classes = np.zeros(len(rows), dtype=np.intp)
    last = np.full(len(rows), model.domain.cards[-1] - 1)
    _, terms = model.contributions(
        codes_of(rows, model.domain.cards[:-1]), last, classes
    )
    missing = np.array([[code is None for code in row] for row in rows])
    np.testing.assert_array_equal(terms[missing], 0.0)


@for_all(data=st.data(), few=25, many=60)
def test_explaining_the_other_way_round_turns_the_sign(data: st.DataObject) -> None:
    model = data.draw(ANY_MODEL)
    rows = data.draw(incomplete_rows(model))
    codes = codes_of(rows, model.domain.cards[:-1])
    one = np.zeros(len(rows), dtype=np.intp)
    other = np.full(len(rows), model.domain.cards[-1] - 1)
    prior, terms = model.contributions(codes, one, other)
    turned_prior, turned_terms = model.contributions(codes, other, one)
    np.testing.assert_allclose(turned_prior, -prior, atol=1e-12)
    np.testing.assert_allclose(turned_terms, -terms, atol=1e-12)


@for_all(data=st.data(), few=25, many=60)
def test_another_prior_shifts_the_scores_by_its_ratio(data: st.DataObject) -> None:
    model = data.draw(ANY_MODEL)
    rows = data.draw(incomplete_rows(model))
    n_classes = model.domain.cards[-1]
    weights = data.draw(
        st.lists(st.floats(0.1, 1.0), min_size=n_classes, max_size=n_classes)
    )
    prior = np.array(weights) / sum(weights)
    codes = codes_of(rows, model.domain.cards[:-1])
    before, after = model.class_log_scores(codes), model.with_class_prior(prior)
    np.testing.assert_array_equal(after.class_prior, prior)
    np.testing.assert_allclose(
        after.class_log_scores(codes) - before,
        np.tile(np.log(prior / model.class_prior), (len(rows), 1)),
        atol=1e-10,
    )


@for_all(data=st.data(), few=25, many=60)
def test_a_pickled_model_scores_bit_for_bit(data: st.DataObject) -> None:
    model = data.draw(ANY_MODEL)
    codes = codes_of(data.draw(incomplete_rows(model)), model.domain.cards[:-1])
    scores = model.class_log_scores(codes)
    again = pickle.loads(pickle.dumps(model))
    assert again.domain == model.domain
    np.testing.assert_array_equal(again.class_log_scores(codes), scores)


@for_all(data=st.data(), few=25, many=60)
def test_revealing_a_cell_never_adds_probability(data: st.DataObject) -> None:
    model = data.draw(network_models(class_everywhere=False))
    (row,) = data.draw(incomplete_rows(model, max_rows=1))
    hidden = [None if i == len(row) - 1 else code for i, code in enumerate(row)]
    shown, less = model.class_log_scores(
        codes_of([row, hidden], model.domain.cards[:-1])
    )
    assert (shown <= less + 1e-12).all()
