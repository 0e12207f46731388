"""The hierarchical naive Bayes model as plain values, and back with every check."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.data.domain import Domain
from bayleaf.io.distributions import check_distributions
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel

# Latent variables over more cells than this are refused, so that no file asks for much.
MAX_CELLS = 20_000_000
# Larger numbers could overflow once they are added up.
_MOST = 1e100


def hierarchical_to(
    model: HierarchicalNaiveBayesModel, arrays: ArrayWriter
) -> dict[str, Any]:
    """The model as plain values; its tables and maps go to `arrays`.

    Raises
    ------
    ModelFileError
        If a table does not hold distributions, so that no reader would take it.
    """
    check_distributions(model.prior, "the class prior")
    for node, table in zip(model.tree.class_children, model.tables, strict=True):
        check_distributions(table, f"the table of node {node}")
    return {
        "prior": arrays.add(model.prior),
        "latents": [
            {
                "left": latent.left,
                "right": latent.right,
                "states": arrays.add(latent.states.astype(np.uint16)),
                "cell_counts": arrays.add(counts),
            }
            for latent, counts in zip(
                model.tree.latents, model.cell_counts, strict=True
            )
        ],
        "tables": [arrays.add(table) for table in model.tables],
        "used": None if model.used is None else list(model.used),
        "cell_smoothing": model.cell_smoothing,
        "max_table_cells": int(model.max_table_cells),
    }


def hierarchical_from(
    fields: Fields, domain: Domain, arrays: ArrayReader
) -> HierarchicalNaiveBayesModel:
    """The model from plain values.

    Raises
    ------
    ModelFileError
        If something in it is no part of such a model.
    """
    *cards, n_classes = domain.cards
    tree = LatentTree(tuple(cards))
    cell_counts = []
    for value in fields.list("latents"):
        if not isinstance(value, dict):
            raise ModelFileError("a latent variable should be an object")
        latent = Fields(value, "a latent variable")
        pair = _node(latent, "left", tree), _node(latent, "right", tree)
        shape = (tree.cards[pair[0]], tree.cards[pair[1]])
        if prod(shape) > MAX_CELLS:
            raise ModelFileError(f"a latent variable has {prod(shape)} cells")
        what = f"the latent variable over nodes {pair[0]} and {pair[1]}"
        states = arrays.get_codes(value.get("states"), shape, what)
        counts = arrays.get(value.get("cell_counts"), shape, f"the cells of {what}")
        if (counts < 0).any() or (counts > _MOST).any():
            raise ModelFileError(f"the cells of {what} hold a negative or huge count")
        tree = tree.join(*pair, states.astype(np.intp))
        cell_counts.append(counts)
    prior = arrays.get(fields.values.get("prior"), (n_classes,), "the class prior")
    check_distributions(prior, "the class prior")
    return HierarchicalNaiveBayesModel(
        domain,
        tree,
        prior,
        _tables(fields, tree, n_classes, arrays),
        tuple(cell_counts),
        _used(fields),
        fields.count("max_table_cells"),
        _cell_smoothing(fields),
    )


def _cell_smoothing(fields: Fields) -> float:
    """What is added to each cell count."""
    value = fields.number("cell_smoothing")
    if not 1.0 / _MOST <= value <= _MOST:
        raise ModelFileError(f"cell_smoothing is {value:.6g}, which is no pseudo-count")
    return value


def _node(fields: Fields, key: str, tree: LatentTree) -> int:
    """A child of a latent variable: a feature or an earlier latent."""
    node = fields.values.get(key)
    if type(node) is not int or not 0 <= node < len(tree.cards):
        raise ModelFileError(f"field {key!r} of {fields.where} should be a node")
    return node


def _tables(
    fields: Fields, tree: LatentTree, n_classes: int, arrays: ArrayReader
) -> tuple[Any, ...]:
    """P(node | class) of each child of the class."""
    values = fields.list("tables")
    if len(values) != len(tree.class_children):
        raise ModelFileError(
            f"the model has {len(values)} tables for {len(tree.class_children)} "
            "children of the class"
        )
    tables = []
    for node, value in zip(tree.class_children, values, strict=True):
        what = f"the table of node {node}"
        table = arrays.get(value, (n_classes, tree.cards[node]), what)
        check_distributions(table, what)
        tables.append(table)
    return tuple(tables)


def _used(fields: Fields) -> tuple[int, ...] | None:
    """Children of the class that tell on it; None for all."""
    if fields.values.get("used") is None:
        return None
    used = fields.list("used")
    if not all(type(node) is int for node in used):
        raise ModelFileError("the nodes used should be positions")
    return tuple(used)
