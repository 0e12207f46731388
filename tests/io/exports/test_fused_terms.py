"""Tables of an average that look at the same features are added up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayleaf
from bayleaf.datasets import load_heart
from bayleaf.io.exports.fused_terms import FusedTerm, fused_terms
from bayleaf.io.exports.occupied_terms import averaged_terms


def average(n_networks: int) -> Any:
    X, y = load_heart(return_X_y=True)
    classifier = bayleaf.AveragedKDBClassifier(
        n_networks=n_networks,
        max_parents=2,
        linear_families=False,
        class_trees=False,
        random_state=0,
    )
    classifier.fit(X.select(["age", "sex", "chest_pain", "serum_cholesterol"]), y)
    return classifier._predictor().model


def said(term: FusedTerm, codes: Any) -> Any:
    """What a term adds to each row."""
    table = np.zeros((*term.radices, term.rows.shape[1]))
    table[tuple(term.states.T)] = term.rows
    pairs = zip(term.maps, term.features, strict=True)
    found = table[tuple(own[codes[:, v]] for own, v in pairs)]
    if term.counts_for is not None:
        found = found * term.counts_for[codes[:, term.child]][:, None]
    return found


@pytest.mark.parametrize("by_child", [False, True])
def test_terms_add_up_to_the_models_scores(by_child: bool) -> None:
    from bayleaf.data.codes import Codes

    model = average(5)
    cards = model.domain.cards[:-1]
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(card + 1, size=50) for card in cards], axis=1)
    terms = fused_terms(model.shipped.values, by_child=by_child)
    total = model.shipped.values["base"] + sum(said(term, codes) for term in terms)
    scores = model.class_log_scores(Codes.from_columns(list(codes.T), cards))
    expected = scores - scores[:, :1]
    np.testing.assert_allclose(total - total[:, :1], expected, atol=1e-12)


def test_tables_of_many_networks_are_fewer_than_those_of_each() -> None:
    values = average(40).shipped.values
    n_before = sum(1 for _ in averaged_terms(values))
    terms = fused_terms(values, by_child=True)
    assert len(terms) < n_before / 4
    # One feature alone needs one table, whatever cuts the networks drew.
    alone = [t.features for t in terms if len(t.features) == 1 and t.counts_for is None]
    assert len(alone) == len(set(alone))
