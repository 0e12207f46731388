"""What the observed features below a node of a latent tree say about its state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.latent_tree import LatentTree, LatentVariable

Floats = NDArray[np.float64]

Columns = Mapping[int, NDArray[np.integer[Any]]]

# Rows are taken in blocks, so that no array has more cells than this.
_BLOCK_CELLS = 1 << 21


def cell_probabilities(latent: LatentVariable, counts: Floats, extra: float) -> Floats:
    """P(cell | state): counts + `extra`, scaled to sum to one over each state's cells.

    Counts and result are (left card, right card); `extra` is positive, so that no cell
    is impossible. Langseth and Nielsen (2006), Classification using hierarchical naive
    Bayes models, Machine Learning 63, 135-159, section 6.3.
    """
    values = np.asarray(counts, dtype=np.float64) + extra
    totals = np.bincount(
        latent.states.ravel(), weights=values.ravel(), minlength=latent.n_states
    )
    return np.asarray(values / totals[latent.states])


@dataclass(frozen=True, eq=False)
class SharedMessages:
    """P(observed features below a node | its state), in rows that share messages.

    A kind is the node's state where the observed features imply it; otherwise ``card +
    k`` for message `k` of `unknown`, which leaves several states possible.
    """

    kinds: NDArray[np.intp]  # (n_rows,)
    unknown: Floats  # (n_unknown, card), maximum one
    log_scales: Floats  # (n_rows,), nats scaled down by

    @classmethod
    def of_feature(cls, column: NDArray[np.integer[Any]], card: int) -> SharedMessages:
        """Messages of a feature: its state, or all ones where it is missing."""
        return cls(column.astype(np.intp), np.ones((1, card)), np.zeros(len(column)))

    @property
    def n_kinds(self) -> int:
        """Number of kinds that rows may have."""
        return sum(self.unknown.shape)

    def of_kinds(self, kinds: NDArray[np.intp]) -> Floats:
        """The messages of some kinds, shape (n, card)."""
        card = self.unknown.shape[1]
        found = np.zeros((len(kinds), card))
        known = kinds < card
        found[known, kinds[known]] = 1.0
        found[~known] = self.unknown[kinds[~known] - card]
        return found


@dataclass(frozen=True, eq=False)
class LatentMessages:
    """Likelihoods of the states of tree nodes, from the features below them."""

    tree: LatentTree
    cells: Sequence[Floats]  # P(cell | state): (left, right card)

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
    def _log_cells(self) -> list[Floats]:
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

    def log_likelihood(self, node: int, table: Floats, columns: Columns) -> Floats:
        """Log-likelihood (nats) of the classes from the features below one child.

        `table` (n_classes, card) is P(node | class); features' columns (n_rows,) ->
        (n_classes, n_rows). Missing cells are summed out exactly; zero if none is
        observed.
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
            for part, shared in self.shared(node, _taken(columns, leaves, torn)):
                for c, distribution in enumerate(table):
                    unknown = (shared.unknown * distribution).sum(axis=1)
                    totals = np.concatenate([distribution, unknown])
                    logs = np.log(totals)[shared.kinds] + shared.log_scales
                    found[c, torn[part]] = logs
        return found

    def shared(
        self, node: int, columns: Columns
    ) -> Iterator[tuple[slice, SharedMessages]]:
        """Messages to a node from the observed features below it, block by block.

        At every latent on the way up, rows whose messages from below are equal share
        the work. The message from a row does not depend on the other rows. Columns are
        (n_rows,), by feature.
        """
        n_rows = len(next(iter(columns.values())))
        step = max(1, _BLOCK_CELLS // self._widest(node))
        for start in range(0, n_rows, step):
            part = slice(start, min(start + step, n_rows))
            below = {leaf: column[part] for leaf, column in columns.items()}
            yield part, self._shared(node, below)

    def _widest(self, node: int) -> int:
        """Most cells of a latent from a node downwards, or the states of a feature."""
        below = self.positions_below(node)
        sizes = [self.tree.latents[position].states.size for position in below]
        return max(self.tree.cards[node], *sizes, 1)

    def _values(self, node: int, columns: Columns) -> tuple[NDArray[np.intp], Floats]:
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

    def _shared(self, node: int, columns: Columns) -> SharedMessages:
        """Messages of a block of rows, each distinct pair of messages joined once."""
        found = {
            leaf: SharedMessages.of_feature(column, self.tree.cards[leaf])
            for leaf, column in columns.items()
        }
        for position in self.positions_below(node):
            latent = self.tree.latents[position]
            pair = found.pop(latent.left), found.pop(latent.right)
            found[self.tree.n_features + position] = self._joined(position, *pair)
        return found[node]

    def _joined(
        self, position: int, left: SharedMessages, right: SharedMessages
    ) -> SharedMessages:
        """Messages to a latent from those to its two children."""
        keys = left.kinds * right.n_kinds + right.kinds
        pairs, place = np.unique(keys, return_inverse=True)
        x = left.of_kinds(pairs // right.n_kinds)
        y = right.of_kinds(pairs % right.n_kinds)
        joint = x[:, :, None] * y[:, None, :] * self.cells[position]
        order, starts = self._by_state[position]
        by_state = joint.reshape(len(joint), -1)[:, order]
        messages = np.add.reduceat(by_state, starts, axis=1)
        highest = messages.max(axis=1)
        messages /= highest[:, None]
        unknown = np.count_nonzero(messages, axis=1) > 1
        kinds = np.where(
            unknown, len(starts) - 1 + np.cumsum(unknown), messages.argmax(axis=1)
        )
        scales = left.log_scales + right.log_scales + np.log(highest)[place]
        return SharedMessages(kinds[place], messages[unknown], scales)


def _taken(
    columns: Columns, leaves: Sequence[int], rows: NDArray[np.intp]
) -> dict[int, NDArray[np.integer[Any]]]:
    """Codes of some features in some rows."""
    return {leaf: columns[leaf][rows] for leaf in leaves}
