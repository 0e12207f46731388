"""Regressors that grow few trees, as NumPy adds up a thousand in seconds."""

from __future__ import annotations

from collections.abc import Iterator

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
                deep._replace(n_trees=6, n_stages=1, rate=0.4),
                shallow._replace(n_trees=12, n_stages=1, rate=0.4),
            ),
        )
        patch.setattr(
            learned_trees, "_SPREAD", learned_trees._SPREAD._replace(n_trees=4)
        )
        yield


@pytest.fixture
def all_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grow as many trees as users get."""
    means, spread = ALL_TREES
    monkeypatch.setattr(learned_trees, "_MEANS", means)
    monkeypatch.setattr(learned_trees, "_SPREAD", spread)
