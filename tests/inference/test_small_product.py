"""Families are taken apart where that saves cells, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bayleaf.cpds.distribution import CPD, TableCPD
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.graph.triangulation import married, plain_forest
from bayleaf.inference import family_decomposition
from bayleaf.inference.family_decomposition import Form, Product, decomposable
from offenders import check_each
from oracles.context_networks import random_context_network

LIMIT = 20_000_000


def cells(product: Product) -> int:
    """Cells of all cliques."""
    neighbours = married(product.families, len(product.cards))
    return sum(plain_forest(neighbours, product.cards).table_cells(product.cards))


def first_zero_decides(n_parents: int, card: int) -> tuple[list[int], Sequence[CPD]]:
    """Independent parents, asked one after another until one is in state 0."""
    node: Leaf | Split = Leaf(np.array([0.5, 0.5]))
    for parent in reversed(range(n_parents)):
        groups = ((0,), tuple(range(1, card)))
        node = Split(parent, groups, (Leaf(np.array([0.1, 0.9])), node))
    cards = [card] * n_parents + [2]
    tree = TreeCPD(tuple(range(n_parents + 1)), tuple(cards), node)
    row = np.full(card, 1 / card)
    return cards, [*(TableCPD((v,), row) for v in range(n_parents)), tree]


def test_families_of_small_networks_stay_whole() -> None:
    network = random_context_network(np.random.default_rng(0), 7)
    assert any(map(decomposable, network.cpds))
    product = family_decomposition.small_product(
        network.domain.cards, network.cpds, LIMIT
    )
    assert set(product.forms) == {Form.WHOLE}
    assert product.cards == network.domain.cards


def test_the_choice_has_never_more_cells_than_full_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def check(seed: int) -> None:
        monkeypatch.setattr(family_decomposition, "FEW_CELLS", 0)
        network = random_context_network(np.random.default_rng(seed), 8)
        cards, cpds = network.domain.cards, network.cpds
        whole = family_decomposition.ProductBuilder(cards, cpds).product({})
        chosen = family_decomposition.small_product(cards, cpds, LIMIT)
        assert cells(chosen) <= cells(whole)

    check_each(range(8), check)


def test_a_wide_tree_is_asked_context_by_context() -> None:
    cards, cpds = first_zero_decides(30, 2)
    product = family_decomposition.small_product(cards, cpds, LIMIT)
    assert product.forms[30] is Form.CONTEXTS
    # One table of contexts and states a parent, and one for the child.
    assert cells(product) <= 31 * 31 * 2 + 60


def test_few_groups_of_many_states_are_worth_variables_of_their_own() -> None:
    cards, cpds = first_zero_decides(4, 40)
    product = family_decomposition.small_product(cards, cpds, LIMIT)
    assert product.forms[4] is not Form.WHOLE
    assert product.cards.count(2) >= 4
    assert cells(product) < 1000
