"""Moves and results of searches over network structures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.dag import DAG
from bayleaf.wording import brief_fields

Mask = NDArray[np.bool_]
MoveKind = Literal[
    "add_edge",
    "delete_edge",
    "reverse_edge",
    "refine",
    "abstract",
    "refresh",
    "split",
    "remove_split",
    "abstract_split",
    "grow_tree",
    "merge_leaves",
]

# Gains up to this, in the unit of the score, are no gains: sums are rounded.
LEAST_GAIN = 1e-7


@dataclass(frozen=True)
class Move:
    """One step of a search.

    Parameters
    ----------
    kind : str
        What was done.
    child : int
        Variable whose distribution changed. For "reverse_edge", the child of the edge
        before it was turned.
    parent : int or None
        The other end of the edge, or the parent whose groups of states changed.
    detail : object
        What else tells the move from others: the node of the hierarchy that was
        refined or abstracted to, or the leaf of the tree.
    gain : float
        How much the score grew.
    score : float
        Score of the whole network after the move.
    """

    kind: MoveKind
    child: int
    parent: int | None
    detail: Any
    gain: float
    score: float

    __repr__ = brief_fields


@dataclass(frozen=True)
class GroupedParents:
    """Shape of a table whose rows are groups of parent configurations.

    `cuts` are the nodes of each parent's hierarchy that its groups come from, in
    preorder.
    """

    child: int
    parents: tuple[int, ...]  # increasing
    groups: tuple[tuple[tuple[int, ...], ...], ...]  # of each parent's states
    cuts: tuple[tuple[Any, ...], ...] = field(default=(), compare=False)

    @property
    def n_rows(self) -> int:
        """Number of distributions."""
        return prod(map(len, self.groups))


@dataclass(frozen=True)
class SearchResult:
    """The best structure that a search found.

    `trace` contains the moves from the start of this restart, those that lost included.
    A restart that went on from the end of another begins with that one's moves.
    """

    dag: DAG  # each variable's parents increase
    cpd_structures: tuple[Any, ...]  # `GroupedParents`, or shapes of trees
    score: float  # larger is better
    trace: tuple[Move, ...]
    stopped_early: bool  # whether time ended or prevented some restart
    restart: int = 0  # that found it

    __repr__ = brief_fields


def sorted_parents(parents: Iterable[Iterable[int]]) -> DAG:
    """The graph of some sets of parents, each in increasing order."""
    return DAG(tuple(tuple(sorted(own)) for own in parents))


def descendants(parents: Iterable[Iterable[int]]) -> Mask:
    """Whether a variable leads to another or is it, (n_variables, n_variables)."""
    graph = sorted_parents(parents)
    found: Mask = np.eye(len(graph.parents), dtype=np.bool_)
    for node in reversed(graph.order):
        found[list(graph.parents[node])] |= found[node]
    return found
