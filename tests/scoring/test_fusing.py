"""Tables of an average over the same features are added up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayleaf
from bayleaf.data.codes import Codes
from bayleaf.datasets import load_heart
from bayleaf.scoring.fusing import fused, tables_of
from bayleaf.scoring.program_scores import scores
from bayleaf.scoring.terms import Counts, ScoringProgram, program_of


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


@pytest.mark.parametrize("by_owner", [False, True])
def test_fused_tables_add_up_to_the_scores_of_the_model(by_owner: bool) -> None:
    model = average(5)
    cards = model.domain.cards[:-1]
    rng = np.random.default_rng(0)
    codes = Codes.from_columns([rng.integers(card, size=50) for card in cards], cards)
    program = program_of(model)
    tables = fused(tables_of(program.terms), by_owner=by_owner)
    counts = [look for t in program.terms if isinstance(t, Counts) for look in t.looks]
    assert len(tables) < len(counts)
    total = scores(ScoringProgram(cards, program.base, tuple(tables)), codes)
    expected = model.class_log_scores(codes)
    np.testing.assert_allclose(
        total - total[:, :1], expected - expected[:, :1], atol=1e-12
    )


def test_tables_of_many_networks_are_fewer_than_those_of_each() -> None:
    looks = list(tables_of(average(40).terms))
    tables = fused(looks, by_owner=True)
    assert len(tables) < len(looks) / 4
    # A single feature needs one table, whatever cuts the networks drew.
    singles = [t.features for t in tables if len(t.features) == 1 and t.gate is None]
    assert len(singles) == len(set(singles))
