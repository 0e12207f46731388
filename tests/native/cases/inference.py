"""Valid calls of compiled junction trees, of their makers, and of look-ups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.native.inference import CompiledParts, CompiledTree, Known

Arguments = tuple[Any, ...]


def known(rng: np.random.Generator) -> Arguments:
    return [0, int(rng.integers(300)), 1, -1], [rng.random(3)]


def _add_looked_up(rng: np.random.Generator) -> Arguments:
    """Two groups of a narrow and a wide variable, three classes."""
    n_rows = int(rng.integers(1, 1500))
    narrow = rng.integers(4, size=(2, n_rows)).astype(np.uint8)
    wide = rng.integers(5, size=(1, n_rows)).astype(np.uint16)
    slots, strides = np.array([1, -1, 0]), np.array([5, 1, 1])
    return (
        narrow,
        wide,
        slots,
        strides,
        np.array([0, 2, 3]),
        rng.normal(size=3 * (20 + 4)),
        np.array([0, 60, 72]),
        np.zeros((3, n_rows)),
    )


def _add_children(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(1, 1500))
    positions = rng.integers(7, size=(3, n_rows)).astype(np.int32)
    parents = rng.integers(7, size=n_rows)
    return rng.normal(size=(2, 7, 7)), parents, positions, np.zeros((2, n_rows))


def _tree(rng: np.random.Generator) -> Arguments:
    """A chain of three variables, the first of them wide."""
    cards = np.array([300, 3, int(rng.integers(1, 4))])
    families = [[0], [0, 1], [1, 2]]
    tables = []
    for family in families:
        table = rng.random([cards[v] for v in family])
        tables.append((table / table.sum(axis=-1, keepdims=True)).ravel())
    return (
        cards,
        rng.permutation(3),
        np.array([0, 1, 3, 5]),
        np.concatenate(families),
        np.concatenate(tables),
        np.ones(3, dtype=np.bool_),
        np.zeros(3, dtype=np.bool_),
        np.array([0, 2, 4]),
        np.array([0, 1, 2, 1]),
        np.array([[0, 1]]),
        int(rng.integers(-1, 3)),
        bool(rng.integers(2)),
    )


def _compiled(rng: np.random.Generator) -> CompiledTree:
    return CompiledTree(*_tree(rng))


def _question(rng: np.random.Generator) -> Arguments:
    return _compiled(rng), Known(*known(rng))


def _some_marginals(rng: np.random.Generator) -> Arguments:
    wanted = np.flatnonzero(rng.integers(2, size=3)).tolist()
    return *_question(rng), None if rng.integers(2) else wanted


def _rows(rng: np.random.Generator) -> tuple[Arguments, int]:
    """Codes with holes, and how many of them are asked for."""
    tree, n_rows = _compiled(rng), int(rng.integers(1, 20))
    first = int(rng.integers(n_rows))
    cards = np.array(tree.cards)[[1, 2], None]
    narrow = rng.integers(cards + 1, size=(2, n_rows)).astype(np.uint8)
    wide = rng.integers(301, size=(1, n_rows)).astype(np.uint16)
    return (tree, narrow, wide, np.array([-1, 0, 1]), n_rows, first), n_rows - first


def _row_evidence(rng: np.random.Generator) -> Arguments:
    rows, n_asked = _rows(rng)
    return *rows, np.zeros(n_asked)


def _row_posteriors(rng: np.random.Generator) -> Arguments:
    rows, n_asked = _rows(rng)
    target = int(rng.integers(3))
    posteriors = np.zeros((n_asked, rows[0].cards[target]))
    return *rows, target, posteriors, np.zeros(n_asked)


def _row_families(rng: np.random.Generator) -> Arguments:
    rows, n_asked = _rows(rng)
    weights, nodes = rng.random(n_asked), np.array([2, 1])
    cards = rows[0].cards
    totals = np.zeros(cards[1] * (cards[2] + cards[0]))
    return *rows, weights, nodes, totals, np.zeros(n_asked)


def _parts(_: np.random.Generator) -> Arguments:
    """Two families of three variables; both missing members, then one of each."""
    families = np.array([0, 0, 1, 1, 2], dtype=np.int32)
    variables = np.array([0, 1, 2, 0, 1, 1, 2], dtype=np.int32)
    codes = np.array([2, 3, 1, 2, 0, 0, 4], dtype=np.int32)
    starts = np.array([0, 3, 5, 7])
    cards = np.array([2, 3, 4])
    return cards, np.array([0, 1, 3, 5]), families, starts, variables, codes


def _expected(rng: np.random.Generator) -> Arguments:
    first = int(rng.integers(4))
    n_asked = 3 - first
    tables, totals = rng.random(20), np.zeros(20)
    parts = CompiledParts(*_parts(rng))
    variances = np.zeros(20 if rng.random() < 0.5 else 0)
    weights, logs = rng.random(n_asked), np.zeros(n_asked)
    return parts, first, weights, tables, totals, variances, logs


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "Known": known,
    "add_looked_up": _add_looked_up,
    "add_children": _add_children,
    "CompiledTree": _tree,
    "CompiledTree.marginals": _some_marginals,
    "CompiledTree.log_evidence": _question,
    "CompiledTree.families": _question,
    "CompiledTree.most_probable": _question,
    "CompiledTree.cells": _question,
    "CompiledTree.log_evidence_rows": _row_evidence,
    "CompiledTree.posterior_rows": _row_posteriors,
    "CompiledParts": _parts,
    "CompiledParts.expect": _expected,
    "CompiledTree.add_families_of_rows": _row_families,
}
