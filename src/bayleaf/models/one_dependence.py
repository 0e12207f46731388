"""The average of all one-dependence networks (Webb, Boughton & Wang 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.inference.log_sums import log_sum_exp, logarithmic_mean_weights
from bayleaf.models.class_model import LogScores
from bayleaf.models.one_dependence_tables import OneDependenceTables
from bayleaf.native.inference import add_children

# Rows scored together: each holds one log joint a class and super-parent.
_BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class AveragedOneDependenceModel(OneDependenceTables):
    """Mean of the joint distributions of n one-dependence networks.

    In network p, feature p (the super-parent) and the class are the parents of every
    other feature. Every state of every feature has a *position*; feature i takes the
    positions from ``offsets[i]`` on, the last of them meaning "missing".

    Parameters
    ----------
    domain : Domain
        Features, then the class.
    prior : ndarray of shape (n_classes,)
        P(class).
    parent_probabilities : ndarray of shape (n_classes, n_positions)
        P(state | class); 1 at positions that mean missing.
    child_probabilities : ndarray of shape (n_classes, n_positions, n_positions)
        P(second state | class, first state); 1 where the second is missing or both
        belong to one feature.
    usable : ndarray of shape (n_positions,), dtype bool
        States seen often enough to serve as a super-parent's.
    left_out : ndarray of shape (n_features, n_features), dtype bool, optional
        By super-parent, then child: arcs that no network has. The child's distribution
        is then the same under all states of the super-parent.
    """

    @cached_property
    def _log_prior(self) -> NDArray[np.float64]:
        return _log(self.prior)

    @cached_property
    def _log_parent(self) -> NDArray[np.float64]:
        return _log(self.parent_probabilities)

    @cached_property
    def _log_child(self) -> NDArray[np.float64]:
        return _log(self.child_probabilities)

    def _positions(self, codes: Codes) -> NDArray[np.int32]:
        """Position of each cell, shape (n_features, n_rows)."""
        return np.stack(
            [
                codes.column(i).astype(np.int32) + np.int32(offset)
                for i, offset in enumerate(self.offsets)
            ]
        )

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log of the mean joint probability of each class and the observed features.

        A super-parent whose value was seen too seldom is skipped for that row; if
        none is left the row is scored by naive Bayes. Missing features are summed
        out of each network.

        Parameters
        ----------
        codes : Codes
            Features only.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        n_classes = len(self.prior)
        block = max(1, _BLOCK_CELLS // (n_classes * codes.n_variables))
        scores = np.empty((n_classes, codes.n_rows))
        for start in range(0, codes.n_rows, block):
            rows = codes.rows(slice(start, start + block))
            positions = self._positions(rows)
            members, kept = self._member_scores(rows, positions)
            n_kept = kept.sum(axis=0)
            mean = log_sum_exp(members, axis=1) - np.log(np.maximum(n_kept, 1))
            alone = self._naive_scores(positions)
            scores[:, start : start + block] = np.where(n_kept > 0, mean, alone)
        return scores.T

    def _member_scores(
        self, codes: Codes, positions: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Log joint of each network, (n_classes, n_features, n_rows), and its use."""
        n_features, n_rows = positions.shape
        members = np.empty((len(self.prior), n_features, n_rows))
        kept = np.empty((n_features, n_rows), dtype=bool)
        for parent in range(n_features):
            absent = codes.missing(parent)
            at = positions[parent].astype(np.int64)
            members[:, parent] = self._joint(at, positions)
            kept[parent] = self.usable[at] | absent
            if absent.any():
                those = np.compress(absent, positions, axis=1)
                members[:, parent, absent] = log_sum_exp(
                    self._joint_by_state(parent, those), axis=1
                )
        members[:, ~kept] = -np.inf
        return members, kept

    def _joint_by_state(
        self, parent: int, positions: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Log joints with a missing super-parent set to each of its states.

        Shape (n_classes, n_states, n_rows).
        """
        n_rows = positions.shape[1]
        first, n_states = self.offsets[parent], self.domain[parent].n_states
        return np.stack(
            [
                self._joint(np.full(n_rows, first + state, dtype=np.int64), positions)
                for state in range(n_states)
            ],
            axis=1,
        )

    def _joint(
        self, parent_positions: NDArray[np.int64], positions: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Log joint with the super-parent's state given, shape (n_classes, n_rows)."""
        scores = np.take(self._log_parent, parent_positions, axis=1)
        scores += self._log_prior[:, None]
        add_children(self._log_child, parent_positions, positions, scores)
        return scores

    def _naive_scores(self, positions: NDArray[np.int32]) -> NDArray[np.float64]:
        """Log joint of naive Bayes, shape (n_classes, n_rows)."""
        scores = np.repeat(self._log_prior[:, None], positions.shape[1], axis=1)
        for row in positions:
            scores += self._log_parent[:, row]
        return scores

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Split the log-odds of `target` against `against` exactly.

        The ratio of two sums is split among the networks by logarithmic-mean
        weights, and each network's log-odds by its own families.

        Returns
        -------
        prior : ndarray of shape (n_rows,)
            Nats.
        terms : ndarray of shape (n_rows, n_features)
            Nats; zero for a missing feature.
        """
        prior = np.empty(codes.n_rows)
        terms = np.empty((codes.n_rows, codes.n_variables))
        positions = self._positions(codes)
        members, kept = self._member_scores(codes, positions)
        for row in range(codes.n_rows):
            pair = np.array([target[row], against[row]])
            prior[row] = np.subtract(*self._log_prior[pair])
            cells = positions[:, row]
            absent = np.array([codes.missing(i)[row] for i in range(len(cells))])
            if not kept[:, row].any():
                log_odds = np.subtract(*self._log_parent[pair])[cells]
                terms[row] = np.where(absent, 0.0, log_odds)
                continue
            weights = logarithmic_mean_weights(*members[pair, :, row])
            terms[row] = sum(
                weights[p] * self._member_terms(int(p), pair, cells, absent)
                for p in np.flatnonzero(kept[:, row])
            )
            prior[row] *= weights.sum()
        return prior, terms

    def _member_terms(
        self,
        parent: int,
        pair: NDArray[np.intp],
        cells: NDArray[np.int32],
        absent: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Terms of one network's log-odds between a pair of classes."""
        present = np.flatnonzero(~absent)
        terms = np.zeros(len(cells))
        if not absent[parent]:
            tables = self._log_child[pair, cells[parent]][:, cells[present]]
            terms[present] = tables[0] - tables[1]
            terms[parent] = np.subtract(*self._log_parent[pair, cells[parent]])
            return terms
        first, n_states = self.offsets[parent], self.domain[parent].n_states
        states = np.arange(first, first + n_states)
        steps = self._log_child[pair[:, None, None], states[:, None], cells[present]]
        start = self._log_parent[pair[:, None], states][:, :, None]
        chain = np.cumsum(np.concatenate([start, steps], axis=2), axis=2)
        odds = np.subtract(*log_sum_exp(chain, axis=1))
        terms[present] = np.diff(odds)
        return terms


def _log(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm, minus infinity for zero."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
