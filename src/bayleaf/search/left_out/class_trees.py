"""Trees that correct scores where conjunctions of states say more than their parts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from bayleaf.counts.threads import run_tasks
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.native.class_trees import Growth, Nodes, add_class_trees, grow_class_trees
from bayleaf.search.left_out.cells import LeftOutRows
from bayleaf.search.left_out.correction import pays

# Weight of the rows below which trees cannot be told from noise.
LEAST_WEIGHT = 300.0
# Folds that are held out in turn.
_N_FOLDS = 3
# Rounds without a gain after which growth ends.
_PATIENCE = 20
# Least curvature of a leaf, and the pull of steps to nothing: one a thousand rows,
# within bounds.
_LEAST_CURVATURE, _PULL_A_ROW, _PULLS = 0.1, 0.001, (1.0, 10.0)
# Most rounds, leaves of a tree and share of a Newton step: where there are many rows,
# fewer rounds come as far.
_FEW, _MANY, _MANY_ROWS = (300, 16, 0.1), (100, 32, 0.3), 10_000

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class GrownTrees(NamedTuple):
    """Trees, and what their roots add to all rows."""

    classes: Whole  # (n_trees,), the class that each tree adds to
    is_ordered: NDArray[np.bool_]  # (n_features,), whether states are intervals
    nodes: Nodes  # values are nats relative to the root
    base: Floats  # (n_classes,), nats that all rows get
    scores: Floats  # (n_rows, n_classes), left out, corrected by trees of other folds

    def scaled(self, scale: float) -> GrownTrees:
        """The trees, their values times a number."""
        nodes = self.nodes._replace(values=scale * self.nodes.values)
        return self._replace(nodes=nodes)


def learn_class_trees(
    scores: Floats,
    left_out: LeftOutRows,
    variables: Sequence[Variable],
    n_jobs: int = 1,
    without: Collection[int] = (),
) -> GrownTrees | None:
    """Grow trees on left-out scores; None unless they pay.

    `scores` (n_rows, n_classes) are log scores of rows in random order. Trees pay if
    rows that were held out gain by more than one standard error. They never branch at
    the features in `without`; folds run in `n_jobs` threads.
    """
    task = _Task.of(scores, left_out, variables, without)
    if left_out.codes.weights.sum() < LEAST_WEIGHT or scores.shape[1] < 2:
        return None
    n_rounds, out_of_fold = _best_number_of_rounds(task, n_jobs)
    if not n_rounds:
        return None
    everyone = np.arange(left_out.n_rows)
    _, nodes = task.grown(everyone, everyone[:0], n_rounds)
    return task.without_roots(nodes, out_of_fold)


class _Task(NamedTuple):
    """What trees are grown on."""

    codes: Codes
    rows: NDArray[np.uint16]
    cards: Whole
    is_ordered: NDArray[np.bool_]
    own: Whole
    weights: Floats
    scores: Floats

    @classmethod
    def of(
        cls,
        scores: Floats,
        left_out: LeftOutRows,
        variables: Sequence[Variable],
        without: Collection[int],
    ) -> _Task:
        features = left_out.features
        rows = np.empty((left_out.n_rows, features.n_variables), dtype=np.uint16)
        for feature in range(features.n_variables):
            # Nothing can be gained by branching where all rows are alike.
            rows[:, feature] = 0 if feature in without else features.column(feature)
        return cls(
            features,
            rows,
            np.array(features.cards, dtype=np.int64),
            np.array([variable.kind == "numeric" for variable in variables]),
            left_out.own.astype(np.int64),
            np.array(left_out.codes.weights, dtype=np.float64),
            np.ascontiguousarray(scores),
        )

    @property
    def classes_of_round(self) -> Whole:
        """The class of each tree of a round."""
        n_classes = self.scores.shape[1]
        return np.arange(1 if n_classes == 2 else 0, n_classes)

    def grown(
        self, fitted: Whole, held_out: Whole, n_rounds: int | None = None
    ) -> tuple[Floats, Nodes]:
        """Held-out loss (nats) by round, and the trees."""
        order = np.concatenate([fitted, held_out])
        most, leaves, rate = _MANY if len(self.own) > _MANY_ROWS else _FEW
        pull = float(np.clip(_PULL_A_ROW * self.weights.sum(), *_PULLS))
        return grow_class_trees(
            self.rows[order],
            self.cards,
            self.is_ordered,
            self.own[order],
            self.weights[order],
            self.scores[order],
            len(fitted),
            Growth(n_rounds or most, _PATIENCE, leaves, rate, pull, _LEAST_CURVATURE),
        )

    def without_roots(self, nodes: Nodes, scores: Floats) -> GrownTrees:
        """The trees beside what their roots say."""
        roots = nodes.roots
        sizes = np.diff(np.append(roots, len(nodes.values)))
        of_root = nodes.values[roots]
        classes = np.resize(self.classes_of_round, len(roots))
        base = np.zeros(self.scores.shape[1])
        np.add.at(base, classes, of_root)
        nodes = nodes._replace(values=nodes.values - np.repeat(of_root, sizes))
        return GrownTrees(classes, self.is_ordered, nodes, base, scores)

    def corrected(self, rows: Whole, nodes: Nodes, n_rounds: int) -> Floats:
        """Scores of rows after some rounds."""
        ends = np.append(nodes.roots, len(nodes.values))
        first = nodes.until(int(ends[n_rounds * len(self.classes_of_round)]))
        scores = self.scores[rows]
        grown = self.without_roots(first, scores)
        codes = self.codes.rows(rows)
        add_class_trees(
            codes.narrow,
            codes.wide,
            np.array(codes.slots, dtype=np.int64),
            codes.n_rows,
            self.cards,
            self.is_ordered,
            first.roots,
            grown.classes,
            grown.nodes,
            scores,
        )
        return scores + grown.base

    def losses(self, scores: Floats) -> Floats:
        """Log-loss (nats) of each row under scores."""
        logs = log_softmax(scores, axis=1)
        return np.asarray(-logs[np.arange(len(scores)), self.own])


def _best_number_of_rounds(task: _Task, n_jobs: int) -> tuple[int, Floats]:
    """Rounds after which held-out rows lose least, and their scores then.

    No rounds if none pay.
    """
    n_rows = len(task.own)
    edges = [n_rows * part // _N_FOLDS for part in range(_N_FOLDS + 1)]
    everyone = np.arange(n_rows)
    folds = [everyone[edges[f] : edges[f + 1]] for f in range(_N_FOLDS)]
    grow = [partial(task.grown, np.setdiff1d(everyone, f), f) for f in folds]
    found = run_tasks(grow, n_jobs)
    n_common = min(len(losses) for losses, _ in found)
    best = int(np.argmin(sum(losses[:n_common] for losses, _ in found)))
    if not best:
        return 0, task.scores
    parts = zip(folds, found, strict=True)
    scores = np.concatenate([task.corrected(f, own, best) for f, (_, own) in parts])
    gains = task.losses(task.scores) - task.losses(scores)
    return (best, scores) if pays(gains, task.weights) else (0, task.scores)
