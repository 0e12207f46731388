"""Regressors that grow few trees, because a thousand in each of six parts take 2 s."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bayleaf.regression import learned_trees

ALL_TREES = (learned_trees._MEANS, learned_trees._SPREAD)


@pytest.fixture(scope="module", autouse=True)
def few_trees() -> Iterator[None]:
    """Grow trees of both kinds as always, but few; each learns more instead."""
    deep, shallow = learned_trees._MEANS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            learned_trees,
            "_MEANS",
            (
                replace(deep, n_estimators=6, learning_rate=0.4),
                replace(shallow, n_estimators=12, learning_rate=0.4),
            ),
        )
        patch.setattr(
            learned_trees, "_SPREAD", replace(learned_trees._SPREAD, n_estimators=4)
        )
        yield


@pytest.fixture
def all_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grow as many trees as users get."""
    means, spread = ALL_TREES
    monkeypatch.setattr(learned_trees, "_MEANS", means)
    monkeypatch.setattr(learned_trees, "_SPREAD", spread)
