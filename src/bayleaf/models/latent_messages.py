"""What the observed features below a node of a latent tree say about its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.latent_tree import LatentTree, LatentVariable

Columns = Mapping[int, NDArray[np.integer[Any]]]
Message = tuple[NDArray[np.float64], NDArray[np.float64]]

# Rows are taken in blocks, so that no array has more cells than this.
_BLOCK_CELLS = 1 << 21


def cell_probabilities(
    latent: LatentVariable, counts: NDArray[np.float64], extra: float
) -> NDArray[np.float64]:
    """P(cell | state): counts + `extra`, scaled to sum to one over each state's cells.

    Parameters
    ----------
    latent : LatentVariable
        The partition of the cells.
    counts : ndarray of shape (left card, right card)
        Rows in each cell.
    extra : float
        Positive, so that no cell is impossible.

    Returns
    -------
    ndarray of shape (left card, right card)
        Probability of each cell given the state that it belongs to.

    References
    ----------
    Langseth, H., Nielsen, T. D. (2006). Classification using hierarchical naive Bayes
    models. Machine Learning 63, 135-159, section 6.3.
    """
    values = np.asarray(counts, dtype=np.float64) + extra
    totals = np.bincount(
        latent.states.ravel(), weights=values.ravel(), minlength=latent.n_states
    )
    return np.asarray(values / totals[latent.states])


@dataclass(frozen=True, eq=False)
class LatentMessages:
    """Likelihoods of the states of tree nodes, from the features below them.

    Parameters
    ----------
    tree : LatentTree
        The latent variables.
    cells : sequence of ndarray of shape (left card, right card)
        P(cell | state) of each latent variable.
    """

    tree: LatentTree
    cells: Sequence[NDArray[np.float64]]

    @cached_property
    def _by_state(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Cells of each latent sorted by state, and where each state begins."""
        found = []
        for latent in self.tree.latents:
            states = latent.states.ravel()
            order = np.argsort(states, kind="stable")
            starts = np.searchsorted(states[order], np.arange(latent.n_states))
            found.append((order, starts))
        return found

    @cached_property
    def _log_cells(self) -> list[NDArray[np.float64]]:
        """Log P(cell | state) of each latent."""
        return [np.log(cells) for cells in self.cells]

    def positions_below(self, node: int) -> list[int]:
        """Positions of the latents from a node downwards, children first."""
        n_features, open_nodes, found = self.tree.n_features, [node], []
        while open_nodes:
            latent = self.tree.latent(current := open_nodes.pop())
            if latent is not None:
                found.append(current - n_features)
                open_nodes += [latent.left, latent.right]
        return sorted(found)

    def log_likelihood(
        self, node: int, table: NDArray[np.float64], columns: Columns
    ) -> NDArray[np.float64]:
        """Log-likelihood of the classes from the features below one class child.

        Parameters
        ----------
        node : int
            The class child.
        table : ndarray of shape (n_classes, card)
            P(node | class).
        columns : mapping of feature to ndarray of shape (n_rows,)
            Codes of the features below; missing ones are summed out exactly.

        Returns
        -------
        ndarray of shape (n_classes, n_rows)
            Nats; zero where nothing is observed.
        """
        leaves = self.tree.leaves(node)
        absent = [columns[leaf] == self.tree.cards[leaf] for leaf in leaves]
        some = np.logical_or.reduce(absent)
        found = np.zeros((len(table), len(some)))
        whole = np.flatnonzero(~some)
        with np.errstate(divide="ignore"):
            if len(whole):
                states, weights = self._values(node, _taken(columns, leaves, whole))
                found[:, whole] = np.log(table)[:, states] + weights
            torn = np.flatnonzero(some & ~np.logical_and.reduce(absent))
            step = max(1, _BLOCK_CELLS // self._widest(node))
            for start in range(0, len(torn), step):
                rows = torn[start : start + step]
                message, scale = self._message(node, _taken(columns, leaves, rows))
                for c, distribution in enumerate(table):
                    total = (message * distribution).sum(axis=1)
                    found[c, rows] = np.log(total) + scale
        return found

    def _widest(self, node: int) -> int:
        """Most cells of a latent from a node downwards, or the states of a feature."""
        below = self.positions_below(node)
        sizes = [self.tree.latents[position].states.size for position in below]
        return max(self.tree.cards[node], *sizes, 1)

    def _values(
        self, node: int, columns: Columns
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The state of a node in complete rows, ln P(features below | that state)."""
        states = {leaf: column.astype(np.intp) for leaf, column in columns.items()}
        weights = np.zeros(len(next(iter(columns.values()))))
        for position in self.positions_below(node):
            latent = self.tree.latents[position]
            cell = states.pop(latent.left) * latent.states.shape[1]
            cell += states.pop(latent.right)
            states[self.tree.n_features + position] = latent.states.ravel()[cell]
            weights += self._log_cells[position].ravel()[cell]
        return states[node], weights

    def _message(self, node: int, columns: Columns) -> Message:
        """P(observed features below | state) for all states, shape (n_rows, card).

        Each row is divided by the exponential of its scale, the second array.
        """
        messages = {
            leaf: _leaf(column, self.tree.cards[leaf])
            for leaf, column in columns.items()
        }
        scale = np.zeros(len(next(iter(columns.values()))))
        for position in self.positions_below(node):
            latent = self.tree.latents[position]
            left, right = messages.pop(latent.left), messages.pop(latent.right)
            joint = left[:, :, None] * right[:, None, :] * self.cells[position]
            order, starts = self._by_state[position]
            by_state = joint.reshape(len(joint), -1)[:, order]
            message = np.add.reduceat(by_state, starts, axis=1)
            highest = message.max(axis=1)
            scale += np.log(highest)
            messages[self.tree.n_features + position] = message / highest[:, None]
        return messages[node], scale


def _leaf(column: NDArray[np.integer[Any]], card: int) -> NDArray[np.float64]:
    """One at the state observed, at all states where none is."""
    padded = np.vstack([np.eye(card), np.ones(card)])
    return np.asarray(padded[column])


def _taken(
    columns: Columns, leaves: Sequence[int], rows: NDArray[np.intp]
) -> dict[int, NDArray[np.integer[Any]]]:
    """Codes of some features in some rows."""
    return {leaf: columns[leaf][rows] for leaf in leaves}
