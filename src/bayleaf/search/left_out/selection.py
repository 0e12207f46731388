"""A record of what was tried and how well each candidate predicts left-out rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.counts.threads import run_tasks
from bayleaf.cpds.smoothing import Backoff, Dirichlet, Lidstone, MEstimate, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.results.document import Document, Table
from bayleaf.results.result import Shown
from bayleaf.search.left_out.left_out_scores import (
    AddMissing,
    FamilyTables,
    Floats,
    LeaveOneOut,
    LeaveOneOutScores,
    LeftOutRows,
    loss_sums,
)
from bayleaf.wording import brief, in_bits

if TYPE_CHECKING:
    # It needs SciPy, which commands that only read a model do without.
    from bayleaf.search.feature_orders import KDBRanking

# The rules among which smoothing="auto" chooses, the simplest first.
SMOOTHING_GRID: tuple[Smoothing, ...] = (
    Lidstone(1.0),
    Lidstone(0.5),
    Lidstone(0.1),
    Lidstone(0.01),
    Dirichlet(1.0),
    Dirichlet(5.0),
    MEstimate(1.0),
    MEstimate(5.0),
    Backoff(0.5),
    Backoff(2.0),
    Backoff(5.0),
)


def rules_without_zeros(codes: Codes) -> tuple[Smoothing, ...]:
    """Rules of the grid that leave no zero in a table learned from some rows.

    An m-estimate pulls towards the shares of the states in a family's rows: a state
    that these lack has probability zero, so it is tried only where no cell is missing
    and every state occurs.
    """
    for variable, card in enumerate(codes.cards):
        column = codes.column(variable)
        weights = np.bincount(column, codes.weights, minlength=card + 1)
        if weights[card] or not weights[:card].all():
            return tuple(r for r in SMOOTHING_GRID if not isinstance(r, MEstimate))
    return SMOOTHING_GRID


# Log-losses that agree to this many decimals count as equal.
_TIE_DECIMALS = 12
# Candidates that a record shows.
_SHOWN = 10


@dataclass(frozen=True)
class Candidate(Shown, nats=("log_loss",)):
    """One choice and its leave-one-out scores.

    Parameters
    ----------
    smoothing : Smoothing
        Rule.
    log_loss, error, rmse : float
        See `LeaveOneOutScores`.
    k, n_features : int, optional
        Number of parents and of features used, where these were chosen too.
    """

    smoothing: Smoothing
    log_loss: float
    error: float
    rmse: float
    k: int | None = None
    n_features: int | None = None

    @classmethod
    def from_scores(
        cls,
        scores: LeaveOneOutScores,
        smoothing: Smoothing,
        k: int | None = None,
        n_features: int | None = None,
    ) -> Candidate:
        """A candidate with these scores."""
        return cls(smoothing, scores.log_loss, scores.error, scores.rmse, k, n_features)

    def __str__(self) -> str:
        places = [
            f"{name}={value}"
            for name, value in (("k", self.k), ("n_features", self.n_features))
            if value is not None
        ]
        return (
            f"log-loss {in_bits(self.log_loss):.4f}  error {self.error:.4f}  "
            f"rmse {self.rmse:.4f}  {', '.join([*places, str(self.smoothing)])}"
        )


@dataclass(frozen=True)
class Selection(Shown):
    """All candidates of a choice by leave-one-out, in the order of their simplicity.

    Parameters
    ----------
    candidates : tuple of Candidate
        By k, number of features and rule.
    """

    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate:
        """The candidate of least log-loss; the first of equal ones."""
        return min(self.candidates, key=lambda c: round(c.log_loss, _TIE_DECIMALS))

    def document(self) -> Document:
        """The best candidates, those of least log-loss first."""
        ranked = sorted(self.candidates, key=lambda c: round(c.log_loss, _TIE_DECIMALS))
        rows = [
            (
                str(c.smoothing),
                *("-" if n is None else str(n) for n in (c.k, c.n_features)),
                f"{in_bits(c.log_loss):.4f}",
                f"{c.error:.4f}",
                f"{c.rmse:.4f}",
            )
            for c in ranked[:_SHOWN]
        ]
        heads = ("smoothing", "k", "n_features", "log-loss", "error", "rmse")
        best = f"best {len(rows)} of {len(self)} candidates"
        title = f"{best} by leave-one-out log-loss (bits)"
        return Document("", [Table(heads, rows, title)])

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __getitem__(self, position: int) -> Candidate:
        return self.candidates[position]

    def __repr__(self) -> str:
        return brief(self, f"best of {len(self)} candidates: {self.best}")

    def __str__(self) -> str:
        from bayleaf.results.text import text_of

        return text_of(self.document())


def choose_rule(
    rules: Sequence[Smoothing], scores: Sequence[LeaveOneOutScores]
) -> Selection:
    """The choice among rules alone."""
    return Selection(
        tuple(
            Candidate.from_scores(score, rule)
            for rule, score in zip(rules, scores, strict=True)
        )
    )


def select_kdb(
    left_out: LeaveOneOut,
    ranking: KDBRanking,
    depths: Sequence[int],
    prefixes: Sequence[int],
    max_table_cells: int,
) -> Selection:
    """Score every k, number of features and smoothing rule, in one pass per k.

    Selective KDB (Martinez, Webb, Chen & Zaidi 2016).

    `depths` (values of k) and `prefixes` (numbers of features) increase. A k whose
    tables have more than `max_table_cells` cells together is skipped unless it is the
    first.
    """
    codes = left_out.rows.codes
    weight = float(codes.weights.sum())
    candidates: list[Candidate] = []
    for k in depths:
        parents, class_index = ranking.parents(k), left_out.rows.class_index
        families = [
            (class_index, *(parents[feature] or ()), feature)
            for feature in ranking.order[: prefixes[-1]].tolist()
        ]
        cells = sum(prod(codes.cards[v] for v in family) for family in families)
        if k > depths[0] and cells > max_table_cells:
            break
        tables = left_out.tables(families)
        whole = PrefixPass(left_out, tables, left_out.missing(tables), prefixes)
        tasks = [partial(whole.sums, rows) for rows in left_out.blocks()]
        sums = np.sum(run_tasks(tasks, left_out.counts.n_jobs), axis=0)
        for prefix, of_rules in zip(prefixes, sums, strict=True):
            candidates += [
                Candidate.from_scores(
                    LeaveOneOutScores.from_sums(of_rule, weight), rule, k, prefix
                )
                for rule, of_rule in zip(left_out.rules, of_rules, strict=True)
            ]
    return Selection(tuple(candidates))


@dataclass(frozen=True, eq=False)
class PrefixPass:
    """One pass over some rows, family after family."""

    left_out: LeaveOneOut
    tables: Sequence[FamilyTables]  # in the order of the features
    missing: Sequence[AddMissing]  # of each rule, sums missing features out
    prefixes: Sequence[int]  # numbers of families after which losses are taken

    def sums(self, rows: LeftOutRows) -> Floats:
        """Sums of losses, shape (n_prefixes, n_rules, 3)."""
        scores = self.left_out.log_prior(rows)
        # What missing features say, once summed out, at the prefix last looked at.
        summed_out = np.zeros(scores.shape)
        sums = []
        if self.prefixes[0] == 0:
            sums.append(loss_sums(scores, rows.own, rows.codes.weights))
        affected = np.zeros(rows.n_rows, dtype=bool)
        for position in self.left_out.add_families(rows, self.tables, scores):
            affected |= _has_gap(rows, self.tables[position].family)
            if position + 1 in self.prefixes:
                self._sum_out(rows, affected, position + 1, summed_out)
                affected[:] = False
                total = scores + summed_out
                sums.append(loss_sums(total, rows.own, rows.codes.weights))
        return np.stack(sums)

    def _sum_out(
        self,
        rows: LeftOutRows,
        affected: NDArray[np.bool_],
        n_families: int,
        summed_out: Floats,
    ) -> None:
        """Sum missing features out of the first families, for the rows affected.

        A family changes nothing for other rows: where its child is missing no
        descendant is known yet, and where nothing is missing nothing is summed out.
        """
        chosen = np.flatnonzero(affected)
        if not len(chosen):
            return
        children = {table.family[-1] for table in self.tables[:n_families]}
        codes = rows.features.rows(chosen)
        for add_missing, values in zip(self.missing, summed_out, strict=True):
            fresh = np.zeros((len(values), len(chosen)))
            add_missing(codes, fresh, children)
            values[:, chosen] = fresh


def _has_gap(rows: LeftOutRows, family: Family) -> NDArray[np.bool_]:
    """Rows with the child of a family but without one of its parents."""
    gap = np.zeros(rows.n_rows, dtype=bool)
    for parent in family[1:-1]:
        gap |= rows.codes.missing(parent)
    return gap & ~rows.codes.missing(family[-1])
