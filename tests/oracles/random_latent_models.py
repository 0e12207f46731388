"""Random trees of latent variables, and models over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.data.domain import Domain
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from property.networks import domain_of


def random_partition(
    rng: np.random.Generator, shape: tuple[int, int], n_states: int
) -> np.ndarray:
    """A partition of cells into at most so many states, numbered by first cells."""
    drawn = rng.integers(n_states, size=shape).ravel()
    found, first = np.unique(drawn, return_index=True)
    number = np.empty(n_states, dtype=np.intp)
    number[found[np.argsort(first)]] = np.arange(len(found))
    return number[drawn].reshape(shape)


def random_tree(
    rng: np.random.Generator,
    cards: Sequence[int],
    n_latents: int,
    *,
    max_states: int = 4,
) -> LatentTree:
    """A tree in which so many pairs of class children, drawn evenly, are joined."""
    tree = LatentTree(tuple(cards))
    for _ in range(n_latents):
        left, right = (int(node) for node in rng.permutation(tree.class_children)[:2])
        shape = (tree.cards[left], tree.cards[right])
        if rng.random() < 0.2:
            states = np.arange(shape[0] * shape[1]).reshape(shape)
        else:
            states = random_partition(rng, shape, int(rng.integers(1, max_states + 1)))
        tree = tree.join(left, right, states)
    return tree


def random_model(
    rng: np.random.Generator,
    tree: LatentTree,
    n_classes: int,
    domain: Domain | None = None,
    **options: Any,
) -> HierarchicalNaiveBayesModel:
    """A model whose tables are drawn evenly; some cells are never seen."""
    return HierarchicalNaiveBayesModel(
        domain or domain_of([*tree.feature_cards, n_classes]),
        tree,
        rng.dirichlet(np.ones(n_classes)),
        tuple(
            rng.dirichlet(np.ones(tree.cards[node]), size=n_classes)
            for node in tree.class_children
        ),
        tuple(rng.integers(4, size=h.states.shape).astype(float) for h in tree.latents),
        **options,
    )
