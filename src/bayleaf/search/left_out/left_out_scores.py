"""Exact leave-one-out predictions of the training rows, from counts alone.

Leaving a row out takes its weight, at most one, from every count that it touches.
Structure, domain and cut points stay those of all rows, so that the scores equal those
of parameters that are estimated again without the row (Martinez, Webb, Chen & Zaidi
2016, third pass).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Counts, CountSource, Family
from bayleaf.counts.threads import run_tasks
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.smoothing import CellCounts, CellSmoothing, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.shuffled_rows import shuffled_distinct_rows
from bayleaf.results.result import Shown
from bayleaf.search.constraints import Constraints
from bayleaf.wording import brief_fields, quoted

# Rows that are worked off at a time, whatever the number of threads.
_BLOCK_ROWS = 8192
# A probability of zero counts as this, so that a state that only the row itself shows,
# and which is impossible under every class, leaves the choice to the other features.
_LEAST_PROBABILITY = float(np.finfo(np.float64).tiny)
# Least probability of the true class in the log-loss.
_CLIP = 1e-15

Floats = NDArray[np.float64]
# Adds to scores of shape (n_classes, n_rows) what tables with missing features say, of
# those tables whose children are among the given ones.
AddMissing = Callable[[Codes, Floats, Collection[int]], None]

# Probabilities of a class are compared with what came true by tenths.
_N_BINS = 10

# What fractional weights leave of an empty cell, as a share of what was taken out.
_RESIDUE = 1e-9


@dataclass(frozen=True, eq=False)
class CalibrationBins(Shown):
    """How often each class came true, by tenths of the probability that it was given.

    Parameters
    ----------
    rows : ndarray of shape (n_classes, 10)
        Weight of the rows whose probability of the class is in each tenth.
    expected : ndarray of shape (n_classes, 10)
        Sum of these probabilities: rows of the class that the model expects there.
    observed : ndarray of shape (n_classes, 10)
        Weight of the rows of the class among them.
    """

    rows: Floats
    expected: Floats
    observed: Floats

    def __repr__(self) -> str:
        return brief_fields(self)

    @classmethod
    def of(
        cls, log_scores: Floats, truth: NDArray[np.integer], weights: Floats
    ) -> CalibrationBins:
        """Bins of log joints (n_classes, n_rows), classes and weights (n_rows,)."""
        n_classes = len(log_scores)
        bins: Floats = np.zeros((3, n_classes, _N_BINS))
        proba = np.exp(log_scores - log_scores.max(axis=0))
        proba /= proba.sum(axis=0)
        for label, given in enumerate(proba):
            tenths = np.minimum((given * _N_BINS).astype(np.intp), _N_BINS - 1)
            each = (weights, weights * given, weights * (truth == label))
            for sums, values in zip(bins, each, strict=True):
                sums[label] = np.bincount(tenths, values, _N_BINS)
        return cls(*bins)

    def check_content(self) -> None:
        """Raise ValueError unless the bins may be those of one table."""
        shape = (len(self.rows), _N_BINS)
        for name, values in vars(self).items():
            if values.shape != shape or not (values >= 0).all():
                raise ValueError(f"{name} of calibration must be {shape} numbers >= 0")


@dataclass(frozen=True)
class LeaveOneOutScores(Shown, nats=("log_loss",)):
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
    calibration : CalibrationBins, optional
        How often each class came true, by the probability that it was given.
    """

    log_loss: float
    error: float
    rmse: float
    calibration: CalibrationBins | None = field(default=None, compare=False, repr=False)

    def __float__(self) -> float:
        return self.log_loss

    @classmethod
    def from_sums(cls, sums: Floats, weight: float) -> LeaveOneOutScores:
        """Scores from what `loss_sums` returns and the weight of all rows."""
        log_loss, error, squared = (sums / weight).tolist()
        return cls(log_loss, error, math.sqrt(squared))

    @classmethod
    def of(
        cls, log_scores: Floats, truth: NDArray[np.integer], weights: Floats
    ) -> LeaveOneOutScores:
        """Scores and calibration of log joints (n_classes, n_rows)."""
        sums = loss_sums(log_scores, truth, weights)
        scores = cls.from_sums(sums, float(weights.sum()))
        bins = CalibrationBins.of(log_scores, truth, weights)
        return replace(scores, calibration=bins)

    def check_content(self) -> None:
        """Raise ValueError unless the means may be those of rows."""
        if not (self.log_loss >= 0 and 0 <= self.error <= 1 and 0 <= self.rmse <= 1):
            raise ValueError("the scores of left-out rows are out of range")


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


def log_losses(log_scores: Floats, own: NDArray[np.integer]) -> Floats:
    """-ln P(own class) of each row, nats, from log scores (n_rows, n_classes)."""
    highest = log_scores.max(axis=1)
    totals = np.log(np.exp(log_scores - highest[:, None]).sum(axis=1)) + highest
    return np.asarray(totals - log_scores[np.arange(len(own)), own])


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
        """Log class prior without the row, and other evidence than that of tables.

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


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """Training rows, each of which is to be predicted without itself."""

    codes: Codes  # class last
    beside: Floats | None = None  # (n_classes, n_rows), other evidence, nats

    def stretch(self, rows: slice) -> LeftOutRows:
        """Some of the rows."""
        beside = None if self.beside is None else self.beside[:, rows]
        return LeftOutRows(self.codes.rows(rows), beside)

    @classmethod
    def drawn(cls, codes: Codes, most: int, rng: np.random.Generator) -> LeftOutRows:
        """Distinct training rows in random order, at most so many."""
        rows, weights = shuffled_distinct_rows(codes, rng)
        chosen = codes.rows(rows[:most])
        columns = [chosen.column(i) for i in range(chosen.n_variables)]
        return cls(Codes.from_columns(columns, codes.cards, weights[:most]))

    @cached_property
    def own(self) -> NDArray[np.intp]:
        """Class of each row, shape (n_rows,)."""
        return self.codes.column(self.codes.n_variables - 1).astype(np.intp)

    @cached_property
    def shares(self) -> Floats:
        """What leaving a row out takes from every count that it touches, (n_rows,).

        One of the equal rows that a weight above one stands for, or all of a
        fraction of a row.
        """
        return np.minimum(self.codes.weights, 1.0)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.codes.n_rows

    @property
    def class_index(self) -> int:
        """Index of the class variable."""
        return self.codes.n_variables - 1

    @cached_property
    def features(self) -> Codes:
        """The rows without their class."""
        columns = [self.codes.column(i) for i in range(self.class_index)]
        return Codes.from_columns(columns, self.codes.cards[:-1])

    def observed(self, family: Family) -> slice | NDArray[np.intp]:
        """Rows in which no member of a family is missing."""
        absent = np.zeros(self.n_rows, dtype=bool)
        for variable in family:
            absent |= self.codes.missing(variable)
        return np.flatnonzero(~absent) if absent.any() else slice(None)


@dataclass(frozen=True, eq=False)
class FamilyTables:
    """Counts of a family with all of its parents, with one less, and so on."""

    family: Family  # parents, a class first, then the child
    counts: Counts  # (*parents, child)
    has_class: bool  # whether the class is the first parent

    @cached_property
    def joint(self) -> list[Counts]:
        """One table a number of parents, each of shape (classes or 1, n_cells)."""
        tables = [self.counts if self.has_class else self.counts[None]]
        while tables[0].ndim > 2:
            tables.insert(0, tables[0].sum(axis=-2))
        return [table.reshape(len(table), -1) for table in tables]

    @cached_property
    def parents(self) -> list[Counts]:
        """The same tables without the child."""
        return [
            table.reshape(len(table), -1, self.n_states).sum(axis=-1)
            for table in self.joint
        ]

    @cached_property
    def marginal(self) -> Counts:
        """Weight of each state of the child, shape (n_states,)."""
        return np.asarray(self.counts.sum(axis=tuple(range(self.counts.ndim - 1))))

    @property
    def n_states(self) -> int:
        """Number of states of the child."""
        return int(self.counts.shape[-1])

    def left_out(
        self, rows: LeftOutRows, observed: slice | NDArray[np.intp]
    ) -> CellCounts:
        """Counts without the row itself, (n_classes or 1, n_observed).

        `observed` selects rows that have all members of the family, see
        `LeftOutRows.observed`.
        """
        shares = rows.shares[observed]
        own = rows.own[observed] if self.has_class else np.zeros(len(shares), np.intp)
        child = rows.codes.column(self.family[-1])[observed].astype(np.intp)
        key = np.zeros(len(shares), dtype=np.intp)
        joint, parents = [], []
        others = self.family[1 if self.has_class else 0 : -1]
        for depth, (cells, margins) in enumerate(
            zip(self.joint, self.parents, strict=True)
        ):
            if depth:
                parent = others[depth - 1]
                key *= rows.codes.cards[parent]
                key += rows.codes.column(parent)[observed]
            cell = key * self.n_states + child
            joint.append(_without(np.take(cells, cell, axis=1), own, shares))
            parents.append(_without(np.take(margins, key, axis=1), own, shares))
        marginal = less(self.marginal[child], shares)
        total = less(np.full(len(shares), self.marginal.sum()), shares)
        return CellCounts(joint, parents, marginal, total, self.n_states)


def less(counts: Counts, shares: Floats) -> Counts:
    """Counts less what is taken from them, without the residue of rounding."""
    rest = counts - shares
    return np.where(rest < _RESIDUE * shares, 0.0, rest)


def _without(counts: Counts, own: NDArray[np.intp], shares: Floats) -> Counts:
    """Counts of shape (n_classes, n_rows), each row's own class lowered."""
    place = own, np.arange(len(own))
    counts[place] = less(counts[place], shares)
    return counts


def left_out_class_counts(class_counts: Counts, rows: LeftOutRows) -> CellCounts:
    """Counts of each class without the row itself, shape (n_classes, n_rows)."""
    counts = np.repeat(class_counts[:, None], rows.n_rows, axis=1)
    counts = _without(counts, rows.own, rows.shares)
    total = less(np.full(rows.n_rows, class_counts.sum()), rows.shares)
    return CellCounts([counts], [total], counts, total, len(class_counts))


def cell_rule(rule: Smoothing | Any) -> CellSmoothing:
    """Return the rule itself; TypeError if it has no method `probabilities`."""
    if not isinstance(rule, CellSmoothing):
        raise TypeError(
            "leave-one-out needs a smoothing rule with a method probabilities(cells), "
            f"which {quoted(rule)} lacks; write one, or use a rule of the library"
        )
    return rule


def one_dependence_log_scores(
    left_out: LeaveOneOut, min_count: float, constraints: Constraints | None = None
) -> Floats:
    """Log of the mean joint probability under all networks learned without the row.

    A super-parent whose value has less weight than `min_count` in the other rows is
    skipped; naive Bayes scores a row that has none left. Constraints forbid arcs among
    the features. Returns (n_rules, n_classes, n_rows), nats.
    """
    class_index = left_out.rows.class_index
    features = range(class_index)
    is_open = (constraints or Constraints()).open_arcs(class_index)
    naive = left_out.log_scores([(class_index, i) for i in features])
    total = np.full(naive.shape, -np.inf)
    n_kept = np.zeros(left_out.rows.n_rows, dtype=np.int64)
    for parent in features:
        children = [
            (class_index, parent, i) if is_open[i, parent] else (class_index, i)
            for i in features
            if i != parent
        ]
        member = left_out.log_scores([(class_index, parent), *children])
        kept = _is_kept(left_out, parent, min_count)
        total[:, :, kept] = np.logaddexp(total[:, :, kept], member[:, :, kept])
        n_kept += kept
    mean = total - np.log(np.maximum(n_kept, 1))
    return np.where(n_kept > 0, mean, naive)


def _is_kept(left_out: LeaveOneOut, parent: int, min_count: float) -> NDArray[np.bool_]:
    """Rows whose value of a super-parent others show often enough, or which lack it."""
    rows = left_out.rows
    (counts,) = left_out.counts.family_counts([(rows.class_index, parent)])
    states = np.append(counts.sum(axis=0), np.inf)
    column = rows.codes.column(parent)
    return np.asarray(less(states[column], rows.shares) >= min_count)
