"""Structures over rows of which only the weights change."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.cpds.local_structure import log_probabilities_of_rows
from bayleaf.cpds.smoothing import Lidstone
from bayleaf.data.codes import Codes
from bayleaf.models.networks import structured_network
from bayleaf.models.networks.structured_network import (
    PlacedStructures,
    Structure,
    filled,
    structure_counts,
)
from bayleaf.search.structure import GroupedParents
from bayleaf.search.trees.shape import LeafShape, SplitShape, TreeShape

CARDS = (3, 2, 4)


def _structures() -> list[Structure]:
    """A root, a table whose groups stand in no order, grouped states and a tree."""
    return [
        GroupedParents(0, (), ()),
        GroupedParents(1, (0,), (((2,), (0,), (1,)),)),
        GroupedParents(2, (0, 1), (((0, 2), (1,)), ((0,), (1,)))),
        TreeShape(
            0, (2,), SplitShape(2, ((0, 1), (2, 3)), (LeafShape(0), LeafShape(1)))
        ),
    ]


def _codes(n_rows: int = 50) -> Codes:
    rng = np.random.default_rng(0)
    columns = [rng.integers(card, size=n_rows) for card in CARDS]
    return Codes.from_columns(columns, CARDS, rng.random(n_rows))


@pytest.mark.parametrize("most", [0, 60, 1 << 24])
def test_counts_and_densities_are_those_of_the_rows_one_by_one(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structured_network, "_MOST_POSITIONS", most)
    codes, rule = _codes(), Lidstone(0.5)
    placed = PlacedStructures(_structures(), codes)
    counts = placed.counts(codes.weights)
    expected = np.zeros(codes.n_rows)
    for structure, own in zip(_structures(), counts, strict=True):
        np.testing.assert_array_equal(own, structure_counts(structure, codes))
        cpd = filled(structure, own, CARDS, rule)
        expected += log_probabilities_of_rows(cpd, codes)
    tables = [rule.estimate(own) for own in counts]
    np.testing.assert_array_equal(placed.log_densities(tables, 2), expected)
