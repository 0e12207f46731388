"""Pairs of class children that a latent variable may join, and its states."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.table_counts import TableCounts
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.data.codes import Codes
from bayleaf.native.latents import collapse
from bayleaf.search.latents.moves import JoinCandidate
from bayleaf.search.latents.node_rows import NodeRows
from bayleaf.search.latents.pair_tests import (
    PairScore,
    pair_tests,
    rank_features,
    without,
)
from bayleaf.search.latents.wrapper_scores import WrapperScore

# Pairs that a warning names.
_NAMED_PAIRS = 3
Counts = NDArray[np.float64]

# Gains that differ by less are equal, and a merge must gain more.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Proposal:
    """A latent variable that may be made to join two nodes; see `pair_tests`."""

    left: int
    right: int
    statistic: float
    degrees_of_freedom: float
    negative_log_p: float
    partition: Partition  # its states

    def candidate(self, score: WrapperScore | None, *, accepted: bool) -> JoinCandidate:
        """What the record of the search keeps of it."""
        return JoinCandidate(
            self.left,
            self.right,
            self.statistic,
            self.degrees_of_freedom,
            self.negative_log_p,
            self.partition.states.size,
            self.partition.n_states,
            self.partition.deltas,
            score,
            accepted,
        )


class LatentProposals:
    """Tests and collapsed states of pairs, on all rows or on overlapping subsets.

    With `parts` (n_rows,), int32, each subset is all rows but those of its part. Latent
    variables are added to `rows`. Pairs with more than `max_cells` joint states are
    never proposed; warnings contain their `names`.
    """

    def __init__(
        self,
        codes: Codes,
        rows: NodeRows,
        parts: NDArray[np.int32] | None,
        n_parts: int,
        pair_score: PairScore,
        *,
        matched: bool,
        max_cells: int,
        names: Sequence[str],
        n_jobs: int,
    ) -> None:
        self._rows, self._names = rows, list(names)
        self._n_parts, self._max_cells = n_parts, max_cells
        self._pair_score, self._matched = pair_score, matched
        tables = [codes]
        if parts is None:
            parts = np.zeros(codes.n_rows, dtype=np.int32)
        else:
            tables = [codes.rows(parts == part) for part in range(n_parts)]
        self._runs = rows.runs(parts, n_parts)
        cards, n_nodes = codes.cards[:-1], 2 * codes.n_variables
        self._rankings = rank_features(
            [TableCounts(table, n_jobs) for table in tables],
            cards,
            n_nodes,
            pair_score,
            matched=matched,
        )
        self._allowed = np.zeros((n_nodes, n_nodes), dtype=bool)
        self._partitions: dict[tuple[int, int, int], Partition] = {}
        self._allow(LatentTree(cards), range(len(cards)))

    def ranked(self, tree: LatentTree, part: int = 0) -> Iterator[Proposal]:
        """Propose pairs of class children, the most dependent first."""
        ranking = self._rankings[part]
        for left, right in ranking.ranked(tree.class_children, self._allowed):
            partition = self._partition(part, left, right)
            yield Proposal(left, right, *ranking.test(left, right), partition)

    def best_of_parts(self, tree: LatentTree) -> Iterator[Proposal]:
        """Propose the best pair of each subset, identical latent variables once."""
        seen = set()
        for part in range(self._n_parts):
            best = next(self.ranked(tree, part), None)
            if best is None:
                return
            key = best.left, best.right, best.partition.states.tobytes()
            if key not in seen:
                seen.add(key)
                yield best

    def add_latent(self, tree: LatentTree) -> None:
        """Test the tree's last latent variable, which `rows` holds, with the others."""
        node = len(tree.cards) - 1
        self._allow(tree, [node])
        others = [v for v in tree.class_children if self._allowed[v, node]]
        if not others:
            return
        counts = self._rows.pair_counts(node, others, self._runs)
        n_classes = self._rows.n_classes
        counts = counts.reshape(self._n_parts, n_classes, *counts.shape[1:])
        total = counts.sum(axis=0)
        for ranking, own in zip(self._rankings, counts):
            rest = own if self._n_parts == 1 else without(total, own)
            tests = pair_tests(
                np.ascontiguousarray(rest.transpose(0, 2, 1)),
                [tree.cards[other] for other in others],
                [tree.cards[node]],
                self._pair_score,
                matched=self._matched,
            )
            ranking.add(others, [node], tests)

    def _partition(self, part: int, left: int, right: int) -> Partition:
        """Collapsed states of a pair on one subset."""
        key = part, left, right
        if key not in self._partitions:
            cells = self._rows.cell_counts(left, right, self._runs)[:, :-1, :-1]
            n_parts = self._n_parts
            cells = cells.reshape(n_parts, self._rows.n_classes, *cells.shape[1:])
            own = cells[part]
            counts = own if n_parts == 1 else without(cells.sum(axis=0), own)
            self._partitions[key] = collapse_states(counts)
        return self._partitions[key]

    def _allow(self, tree: LatentTree, nodes: Sequence[int]) -> None:
        """Find out with which earlier class children some nodes may be joined."""
        large = []
        cards = np.array(tree.cards)
        for node in nodes:
            others = np.array([each for each in tree.class_children if each < node])
            if cards[node] == 1 or not len(others):
                continue
            others = others[cards[others] > 1]
            fits = cards[others] * cards[node] <= self._max_cells
            self._allowed[others, node] = fits
            large += [(other, node) for other in others[~fits].tolist()]
        if large:
            self._warn(tree, large)

    def _warn(self, tree: LatentTree, pairs: Sequence[tuple[int, int]]) -> None:
        """Warn of pairs with too many joint states."""
        cards = tree.cards
        parts = [
            f"{self._name(tree, i)} and {self._name(tree, j)} ({cards[i] * cards[j]})"
            for i, j in pairs[:_NAMED_PAIRS]
        ]
        if len(pairs) > _NAMED_PAIRS:
            parts.append(f"{len(pairs) - _NAMED_PAIRS} more pairs")
        warnings.warn(
            f"pairs of more than max_cells={self._max_cells} joint states are not "
            f"joined: {', '.join(parts)}; use fewer intervals or raise max_cells",
            stacklevel=2,
        )

    def _name(self, tree: LatentTree, node: int) -> str:
        """Name of a feature, or of a latent variable by its features."""
        leaves = [repr(self._names[leaf]) for leaf in tree.leaves(node)]
        if tree.latent(node) is None:
            return leaves[0]
        return f"the latent variable over {' and '.join(leaves)}"


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of the joint states of two variables."""

    states: NDArray[np.intp]  # (left card, right card), groups by first cell
    deltas: tuple[float, ...]  # gain of each merge in turn, nats

    @property
    def n_states(self) -> int:
        """Number of groups."""
        return int(self.states.max()) + 1


def collapse_states(counts: Counts) -> Partition:
    """Merge joint states of two variables while the gain in description length lasts.

    Merging states i and j of a latent variable changes the model's score by
    ``(|C| / 2) ln N + h(n_i + n_j) - h(n_i) - h(n_j)``, where h(n) is the sum of
    ``n_c ln(n_c / n)`` over the class counts of a state. The pair that gains most is
    merged first; of gains within 1e-9 that of the first cells. Empty cells then join
    the group whose class distribution is nearest to the prediction of naive Bayes.

    `counts` is (n_classes, left card, right card); without any there is one group.
    Langseth and Nielsen (2006), Machine Learning 63, 135-159, algorithm 2; their
    equation 5 is printed upside down.

    >>> import numpy as np
    >>> equal = np.array([[[40.0, 0.0], [0.0, 40.0]], [[0.0, 40.0], [40.0, 0.0]]])
    >>> collapse_states(equal).states.tolist()
    [[0, 1], [1, 0]]
    """
    total = float(counts.sum())
    if total <= 0.0:
        return Partition(np.zeros(counts.shape[1:], dtype=np.intp), ())
    penalty = 0.5 * len(counts) * math.log(total)
    table = np.ascontiguousarray(counts, dtype=np.float64)
    states = np.empty(counts.shape[1:], dtype=np.int64)
    deltas = np.empty(states.size)
    collapse(table, penalty, TOLERANCE, states, deltas)
    gains = deltas[~np.isnan(deltas)]
    return Partition(states.astype(np.intp, copy=False), tuple(gains.tolist()))
