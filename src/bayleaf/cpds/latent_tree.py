"""Trees of latent variables between a class and its features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.native.latents import with_missing
from bayleaf.results.result import Shown
from bayleaf.wording import brief_fields, name_list


@dataclass(frozen=True, eq=False)
class LatentVariable:
    """A latent variable: a partition of the joint states of its two children.

    Parameters
    ----------
    left, right : int
        The children: nodes of the tree.
    states : ndarray of shape (left card, right card), dtype intp
        State of the latent for each joint state of the children, numbered without
        gaps in the order of their first cells, row by row. Kept read-only.

    Raises
    ------
    ValueError
        If states are not numbered like this.
    """

    left: int
    right: int
    states: NDArray[np.intp]

    __repr__ = brief_fields

    def __post_init__(self) -> None:
        states = np.array(self.states, dtype=np.intp, order="C")
        found, first = np.unique(states, return_index=True)
        numbered = np.array_equal(found, np.arange(len(found)))
        if states.ndim != 2 or not numbered or (np.diff(first) < 0).any():
            raise ValueError(
                "the states of a latent variable must be numbered 0, 1, ... by their "
                "first cells"
            )
        states.setflags(write=False)
        object.__setattr__(self, "states", states)

    @cached_property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.states.max()) + 1

    @property
    def is_collapsed(self) -> bool:
        """Whether some state holds more than one cell."""
        return self.n_states < self.states.size


@dataclass(frozen=True, eq=False)
class LatentTree(Shown):
    """The class at the root, features at the leaves, latent variables between.

    Nodes are known by index: the features in the order of the codes, then the latent
    variables in the order in which they were made.

    Parameters
    ----------
    feature_cards : tuple of int
        Number of states of each feature.
    latents : tuple of LatentVariable, default=()
        The children of each are features or earlier latents, and no node has two
        parents.

    Raises
    ------
    ValueError
        If latents do not form such a tree.

    References
    ----------
    Langseth, H., Nielsen, T. D. (2006). Classification using hierarchical naive Bayes
    models. Machine Learning 63, 135-159, section 3.
    """

    feature_cards: tuple[int, ...]
    latents: tuple[LatentVariable, ...] = ()

    __repr__ = brief_fields

    def __post_init__(self) -> None:
        cards = list(self.feature_cards)
        joined: set[int] = set()
        for latent in self.latents:
            pair = (latent.left, latent.right)
            known = all(0 <= node < len(cards) for node in pair)
            if not known or joined & set(pair) or pair[0] == pair[1]:
                raise ValueError(
                    f"a latent variable joins nodes {name_list(pair)}, which are not "
                    "two children of the class"
                )
            if latent.states.shape != (cards[pair[0]], cards[pair[1]]):
                raise ValueError(
                    f"a latent variable over nodes {name_list(pair)} maps "
                    f"{latent.states.shape} cells, but they have "
                    f"{(cards[pair[0]], cards[pair[1]])} joint states"
                )
            joined |= set(pair)
            cards.append(latent.n_states)
        object.__setattr__(self, "_cards", tuple(cards))
        object.__setattr__(
            self,
            "_children",
            tuple(node for node in range(len(cards)) if node not in joined),
        )

    @property
    def n_features(self) -> int:
        """Number of leaves."""
        return len(self.feature_cards)

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each node."""
        return self._cards  # type: ignore[attr-defined, no-any-return]

    @property
    def class_children(self) -> tuple[int, ...]:
        """Nodes directly below the class, in increasing order: ch(C)."""
        return self._children  # type: ignore[attr-defined, no-any-return]

    def latent(self, node: int) -> LatentVariable | None:
        """The latent variable with this index; None for a feature."""
        position = node - self.n_features
        return self.latents[position] if position >= 0 else None

    def join(self, left: int, right: int, states: NDArray[np.intp]) -> LatentTree:
        """Return the tree with one more latent variable over two class children."""
        latent = LatentVariable(left, right, states)
        return replace(self, latents=(*self.latents, latent))

    def leaves(self, node: int) -> tuple[int, ...]:
        """Features below a node, in increasing order; a feature itself."""
        open_nodes, found = [node], []
        while open_nodes:
            current = open_nodes.pop()
            latent = self.latent(current)
            if latent is None:
                found.append(current)
            else:
                open_nodes += [latent.left, latent.right]
        return tuple(sorted(found))

    def node_codes(self, codes: Codes) -> list[NDArray[np.integer[Any]]]:
        """States of all nodes in every row.

        Parameters
        ----------
        codes : Codes
            Features in the tree's order; further variables are not looked at.

        Returns
        -------
        list of ndarray of shape (n_rows,)
            One array of small integers a node. A latent whose value does not follow
            from the cells that a row holds has its number of states there, as a missing
            cell has.
        """
        columns: list[NDArray[np.integer[Any]]] = [
            codes.column(feature) for feature in range(self.n_features)
        ]
        for latent in self.latents:
            padded = padded_map(latent.states)
            narrow = padded.astype(np.min_scalar_type(latent.n_states))
            columns.append(narrow[columns[latent.left], columns[latent.right]])
        return columns


def padded_map(states: NDArray[np.intp]) -> NDArray[np.int64]:
    """A latent variable's map, by codes: missing states of both children stand last.

    Where a child is missing, the latent variable is known only if it is the same for
    all states of that child.
    """
    n_left, n_right = states.shape
    padded = np.empty((n_left + 1, n_right + 1), dtype=np.int64)
    with_missing(np.ascontiguousarray(states, dtype=np.int64), padded)
    return padded
