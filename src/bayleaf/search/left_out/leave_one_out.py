"""Exact leave-one-out predictions of the training rows, from counts alone.

Leaving a row out takes its weight, at most one, from every count that it touches.
Structure, domain and cut points stay those of all rows, so that the scores equal those
of parameters that are estimated anew without the row (Martinez, Webb, Chen & Zaidi
2016, third pass).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource, Family
from bayleaf.counts.threads import run_tasks
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.smoothing import CellSmoothing
from bayleaf.data.codes import Codes
from bayleaf.search.left_out.cells import (
    FamilyTables,
    Floats,
    LeftOutRows,
    left_out_class_counts,
)

# Rows that are worked off at a time, whatever the number of threads.
_BLOCK_ROWS = 8192
# A probability of zero counts as this, so that a state that only the row itself shows,
# and which is impossible under every class, leaves the choice to the other features.
_LEAST_PROBABILITY = float(np.finfo(np.float64).tiny)
# Least probability of the true class in the log-loss.
_CLIP = 1e-15

# Adds to scores of shape (n_classes, n_rows) what tables with missing features say, of
# those tables whose children are among the given ones.
AddMissing = Callable[[Codes, Floats, Collection[int]], None]


@dataclass(frozen=True)
class LeaveOneOutScores:
    """How well training rows are predicted by a model that did not see them.

    Means over rows, weighted by their weight.

    Parameters
    ----------
    log_loss : float
        Mean of -ln P(true class), nats, with probabilities below 1e-15 taken as that.
    error : float
        Share of rows whose most probable class is not the true one.
    rmse : float
        Root of the mean of ``(1 - P(true class))²``.
    """

    log_loss: float
    error: float
    rmse: float

    def __float__(self) -> float:
        return self.log_loss

    @classmethod
    def from_sums(cls, sums: Floats, weight: float) -> LeaveOneOutScores:
        """Scores from what `loss_sums` returns and the weight of all rows."""
        log_loss, error, squared = (sums / weight).tolist()
        return cls(log_loss, error, math.sqrt(squared))


def loss_sums(log_scores: Floats, own: NDArray[np.integer], weights: Floats) -> Floats:
    """Weighted sums over rows of log-loss, errors and squared ``1 - P(true class)``.

    Takes log joints or posteriors (..., n_classes, n_rows) and the true classes `own`
    (n_rows,); returns (..., 3).
    """
    highest = log_scores.max(axis=-2)
    total = np.exp(log_scores - highest[..., None, :]).sum(axis=-2)
    true = np.exp(log_scores[..., own, np.arange(len(own))] - highest) / total
    wrong = log_scores.argmax(axis=-2) != own
    losses = [-np.log(np.maximum(true, _CLIP)), wrong, (1.0 - true) ** 2]
    return np.stack([(loss * weights).sum(axis=-1) for loss in losses], axis=-1)


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Scorer of a table's rows by networks that are learned without the row.

    `summing_out` takes tables and returns what adds their evidence on the class once
    missing features are summed out. A row is not counted in the tables of families that
    it has only in part, so that ordinary tables are those learned without it.
    """

    counts: CountSource  # with rows, class last
    rules: Sequence[CellSmoothing]  # each gives scores of its own
    fixed_prior: Floats | None  # (n_classes,); None if learned too
    summing_out: Callable[[Sequence[TableCPD]], AddMissing]
    beside: Floats | None = None  # (n_classes, n_rows), other evidence, nats

    @cached_property
    def rows(self) -> LeftOutRows:
        """All training rows."""
        return LeftOutRows(self.counts.rows(), self.beside)

    def blocks(self) -> list[LeftOutRows]:
        """The training rows in stretches."""
        starts = range(0, self.rows.n_rows, _BLOCK_ROWS)
        return [self.rows.stretch(slice(i, i + _BLOCK_ROWS)) for i in starts]

    @cached_property
    def has_missing(self) -> list[bool]:
        """Whether any cell of each variable is missing."""
        codes = self.rows.codes
        return [bool(codes.missing(v).any()) for v in range(codes.n_variables)]

    def tables(self, families: Sequence[Family]) -> list[FamilyTables]:
        """Counts of some families, over all rows."""
        return [
            FamilyTables(family, counts, family[0] == self.counts.class_index)
            for family, counts in zip(
                families, self.counts.family_counts(families), strict=True
            )
        ]

    def missing(self, tables: Sequence[FamilyTables]) -> list[AddMissing]:
        """For each rule what sums missing features out of the ordinary tables.

        Families in which no cell is missing have no part in that.
        """
        concerned = [t for t in tables if any(self.has_missing[v] for v in t.family)]
        return [
            self.summing_out(
                [
                    TableCPD(
                        table.family,
                        np.maximum(rule.estimate(table.counts), _LEAST_PROBABILITY),
                    )
                    for table in concerned
                ]
            )
            for rule in self.rules
        ]

    def log_scores(self, families: Sequence[Family]) -> Floats:
        """Log joint probability (nats) of each class and a row's observed features.

        Takes one family per feature, ancestors before descendants and a class parent
        first; returns (n_rules, n_classes, n_rows).
        """
        tables = self.tables(families)
        missing = self.missing(tables)
        children = {family[-1] for family in families}

        def score(rows: LeftOutRows) -> Floats:
            scores = self.log_prior(rows)
            for _ in self.add_families(rows, tables, scores):
                pass
            for rule_scores, add_missing in zip(scores, missing, strict=True):
                add_missing(rows.features, rule_scores, children)
            return scores

        tasks = [partial(score, rows) for rows in self.blocks()]
        return np.concatenate(run_tasks(tasks, self.counts.n_jobs), axis=2)

    def mean_log_scores(self, networks: Sequence[Sequence[Family]]) -> Floats:
        """Log of the mean joint probability of several networks, see `log_scores`."""
        total = self.log_scores(networks[0])
        for families in networks[1:]:
            np.logaddexp(total, self.log_scores(families), out=total)
        total -= np.log(len(networks))
        return total

    def scores(self, log_scores: Floats) -> LeaveOneOutScores:
        """Means over rows for one rule's log scores of shape (n_classes, n_rows)."""
        weights = self.rows.codes.weights
        sums = loss_sums(log_scores, self.rows.own, weights)
        return LeaveOneOutScores.from_sums(sums, float(weights.sum()))

    def log_prior(self, rows: LeftOutRows) -> Floats:
        """Log class prior without the row, and what speaks beside the tables.

        Shape (n_rules, n_classes, n_rows).
        """
        with np.errstate(divide="ignore"):
            if self.fixed_prior is not None:
                prior = np.log(self.fixed_prior)[:, None]
                shape = len(self.rules), len(prior), rows.n_rows
                found = np.broadcast_to(prior, shape).copy()
            else:
                cells = left_out_class_counts(self.counts.class_counts(), rows)
                each = [rule.probabilities(cells) for rule in self.rules]
                found = np.log(np.stack(each))
        if rows.beside is not None:
            found += rows.beside
        return found

    def add_families(
        self, rows: LeftOutRows, tables: Sequence[FamilyTables], scores: Floats
    ) -> Iterator[int]:
        """Add family after family to scores of shape (n_rules, n_classes, n_rows).

        Rows that miss a member of a family get nothing from it. Yields the position
        of each family once it is added.
        """
        for position, table in enumerate(tables):
            observed = rows.observed(table.family)
            cells = table.left_out(rows, observed)
            for rule, rule_scores in zip(self.rules, scores, strict=True):
                probabilities = rule.probabilities(cells)
                rule_scores[:, observed] += np.log(
                    np.maximum(probabilities, _LEAST_PROBABILITY)
                )
            yield position
