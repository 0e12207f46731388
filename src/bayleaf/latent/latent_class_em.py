"""Mixtures of products within each class: learned by EM, and sized by held-out rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bayleaf.counts.threads import run_tasks
from bayleaf.cpds.smoothing import Backoff, Dirichlet, Lidstone, MEstimate, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.inference.log_sums import log_of, log_sum_exp
from bayleaf.latent.architecture_growth import stratified_folds
from bayleaf.latent.expectation_maximisation import Climb, EMOptions, best_climb
from bayleaf.models.latent_class_model import LatentClassModel
from bayleaf.progress import Work
from bayleaf.wording import brief_fields, counted

Floats = NDArray[np.float64]

# Rules that are the mode of a density over tables, which EM can climb with.
_RuleWithPrior = Lidstone | Dirichlet | MEstimate | Backoff

# A size is better if it lowers the least log-loss so far by more than this share;
# beyond what the rows need, more components change little either way.
_LEAST_GAIN = 0.01
# Sizes in a row that may fail to be better before growing ends.
_PATIENCE = 3


@dataclass(frozen=True, eq=False)
class LatentClassFit:
    """End of expectation maximisation, the heaviest component of each class first.

    `objectives`, from the start on, are the log-likelihood of the features given the
    class plus the logarithm of the prior over tables (nats); they rise at every step.
    """

    weights: Floats  # (n_classes, n_components), P(component | class)
    tables: tuple[Floats, ...]  # each (n_classes, n_components, card), P(feature | ...)
    objectives: tuple[float, ...]
    log_likelihood: float  # of observed features given the class, nats
    converged: bool  # whether `tol`, not `max_iter`, ended the steps

    __repr__ = brief_fields

    @property
    def n_iter(self) -> int:
        """Number of steps made."""
        return len(self.objectives) - 1


def learn_latent_class(
    codes: Codes,
    n_components: int,
    smoothing: Smoothing,
    options: EMOptions,
    seed: Sequence[int],
    n_threads: int = 1,
) -> LatentClassFit:
    """Learn P(component | class) and P(feature | class, component) of every class.

    Smoothing rules of the shape (counts + prior counts) / total make EM climb a
    penalised likelihood; under others it climbs with one prior row for each table, and
    the rule turns the final expected counts into tables. Equal rows are merged, so that
    their order, or repeating instead of weighting them, does not change a bit. Start s
    draws from (*seed, s); the largest objective wins, the first of equal ones.
    `n_threads` share the starts without effect on the result.

    Dempster, Laird and Rubin (1977). A missing cell is summed out: it adds neither to a
    row's probability nor to expected counts. One step is two products with the sparse
    matrix of the rows' observed states.
    """
    rows = _Rows(codes, smoothing, n_components)
    work = Work(options.n_restarts)

    def start(number: int) -> Floats:
        work.step(f"starts of {counted(n_components, 'component')} a class")
        return rows.random_tables(np.random.default_rng([*seed, number]))

    starts = [partial(start, number) for number in range(options.n_restarts)]
    with work:
        return rows.fit(best_climb(rows, starts, options, n_threads))


class _Rows:
    """The distinct rows and the prior: what all starts and steps have in common.

    A *cell* is a state of a feature in a class, then a class; each row touches the
    cells of its observed states and that of its class. Log tables and counts have the
    shape (n_cells, n_components).
    """

    def __init__(self, codes: Codes, smoothing: Smoothing, n_components: int) -> None:
        self.smoothing = smoothing
        self.n_components = n_components
        rows, _ = merged_rows(codes)
        *self.cards, self.n_classes = rows.cards
        widths = [card * self.n_classes for card in self.cards]
        self.starts = np.cumsum([0, *widths])
        self.n_cells = int(self.starts[-1]) + self.n_classes
        self.row_weights = np.asarray(rows.weights, dtype=np.float64)
        self.total_weight = float(self.row_weights.sum())
        self._touched = self._touched_cells(rows)
        self._touching = self._touched.T
        self._counts = np.asarray(self._touching @ self.row_weights)
        # Features without states have no cells, and no sums either.
        sizes = np.repeat(self.cards, self.n_classes)
        self._sizes = sizes[sizes > 0]
        self._groups = np.cumsum(self._sizes) - self._sizes
        self._prior = self._prior_counts()
        self._weighed = self._prior > 0

    def _touched_cells(self, rows: Codes) -> csr_array:
        """The cells of each row as a matrix of zeros and ones."""
        largest = max(self.n_cells, rows.n_rows * rows.n_variables)
        kind = np.dtype(np.int32 if largest <= np.iinfo(np.int32).max else np.int64)
        classes = rows.column(rows.n_variables - 1).astype(kind)
        starts = self.starts.astype(kind)
        observed, cells = [], []
        for feature, card in enumerate(self.cards):
            states = rows.column(feature)
            present = states < card
            observed.append(present)
            cells.append(
                np.where(
                    present, starts[feature] + classes * kind.type(card) + states, 0
                )
            )
        observed.append(np.ones(rows.n_rows, dtype=bool))
        cells.append(starts[-1] + classes)
        kept = np.column_stack(observed)
        ends = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(kind)
        indices = np.column_stack(cells)[kept]
        shape = (rows.n_rows, self.n_cells)
        return csr_array((np.ones(len(indices)), indices, ends), shape=shape)

    def _prior_counts(self) -> Floats:
        """What the smoothing rule adds to expected counts, (n_cells, n_components).

        The sums over components that a rule looks at are those of the observed rows,
        whatever the components: the prior stays the same from step to step.
        """
        rule = self.smoothing
        if not isinstance(rule, _RuleWithPrior):
            rule = Dirichlet(1.0)
        added = np.empty(self.n_cells)
        for feature, card in enumerate(self.cards):
            span = slice(*self.starts[feature : feature + 2])
            counts = self._counts[span].reshape(self.n_classes, card)
            added[span] = _added(rule, counts).ravel()
        evenly = _added(rule, np.zeros((1, self.n_components)))[0, 0]
        added[self.starts[-1] :] = evenly
        return np.repeat(added[:, None], self.n_components, axis=1)

    def random_tables(self, generator: np.random.Generator) -> Floats:
        """Tables of each class with its states' weights multiplied by chance."""
        totals = self._counts + self._prior.sum(axis=1)
        counts = totals[:, None] * np.ones(self.n_components)
        for feature, card in enumerate(self.cards):
            # A constant column must not change what others draw.
            if card > 1:
                span = slice(*self.starts[feature : feature + 2])
                shape = counts[span].shape
                counts[span] *= generator.standard_exponential(shape)
        counts[self.starts[-1] :] = 1.0
        return self.log_tables(counts)

    def log_tables(self, counts: Floats) -> Floats:
        """Logarithms of the distributions in proportion to counts."""
        split = self.starts[-1]
        totals = np.add.reduceat(counts[:split], self._groups, axis=0)
        logs = np.empty_like(counts)
        logs[:split] = log_of(counts[:split])
        logs[:split] -= np.repeat(log_of(totals), self._sizes, axis=0)
        shares = counts[split:] / counts[split:].sum(axis=1, keepdims=True)
        logs[split:] = log_of(shares)
        return logs

    def expect(self, log_tables: Floats) -> tuple[Floats, float]:
        """Expected counts, and the log-likelihood of the features given the class."""
        joint = np.asarray(self._touched @ log_tables)
        # NumPy takes maxima along short rows one by one, along columns in vectors.
        highest = np.ascontiguousarray(joint.T).max(axis=0)[:, None]
        joint -= highest
        np.exp(joint, out=joint)
        totals = joint.sum(axis=1, keepdims=True)
        joint *= self.row_weights[:, None] / totals
        log_rows = (np.log(totals) + highest)[:, 0]
        log_likelihood = float(np.sum(self.row_weights * log_rows))
        return np.asarray(self._touching @ joint), log_likelihood

    def totals(self, expected: Floats) -> list[Floats]:
        return self._tables(expected + self._prior)

    def fitted(self, _: Floats, totals: Sequence[Floats]) -> Floats:
        return self.log_tables(self._cells(totals))

    def _cells(self, tables: Sequence[Floats]) -> Floats:
        """The cells that have these parts; see `_tables`."""
        *features, shares = tables
        cells = [np.moveaxis(t, 1, 2).reshape(-1, self.n_components) for t in features]
        return np.concatenate([*cells, shares])

    def _tables(self, cells: Floats) -> list[Floats]:
        """Parts of cells: (n_classes, n_components, card) each, and of components."""
        return [
            *(
                np.moveaxis(cells[start:end].reshape(self.n_classes, card, -1), 2, 1)
                for (start, end), card in zip(
                    pairwise(self.starts), self.cards, strict=True
                )
            ),
            cells[self.starts[-1] :],
        ]

    def log_prior(self, log_tables: Floats) -> float:
        weighed = self._weighed
        return float(np.sum(self._prior[weighed] * log_tables[weighed]))

    def probabilities(self, log_tables: Floats) -> list[Floats]:
        return self._tables(np.exp(log_tables))

    def fit(self, climb: Climb[Floats, Floats]) -> LatentClassFit:
        """A climb's end as tables, the heaviest component of each class first."""
        log_likelihood = climb.log_likelihood
        *tables, weights = self.probabilities(climb.parameters)
        order = np.argsort(-weights, axis=1, kind="stable")
        if not isinstance(self.smoothing, _RuleWithPrior):
            # The rule makes the tables of the expected counts.
            found = list(map(self.smoothing.estimate, self._tables(climb.expected)))
            log_likelihood = self.expect(log_of(self._cells(found)))[1]
            *tables, weights = found
        by_weight = order[:, :, None]
        return LatentClassFit(
            np.take_along_axis(weights, order, axis=1),
            tuple(np.take_along_axis(table, by_weight, axis=1) for table in tables),
            climb.objectives,
            log_likelihood,
            climb.converged,
        )


def _added(rule: _RuleWithPrior, counts: Floats) -> Floats:
    """Prior of each component's counts (n_classes, n_states) of a feature."""
    n_states = max(counts.shape[1], 1)
    even = np.full(counts.shape, 1.0 / n_states)
    if isinstance(rule, Lidstone):
        return np.full(counts.shape, rule.alpha)
    if isinstance(rule, Dirichlet):
        return np.asarray(even * rule.equivalent_sample_size)
    if isinstance(rule, MEstimate):
        total = counts.sum()
        shares = counts.sum(axis=0) / total if total > 0 else even
        return np.asarray(rule.m * np.broadcast_to(shares, counts.shape))
    return np.asarray(rule.m * rule.estimate(counts))


@dataclass(frozen=True)
class SizeStep:
    """A number of components that was tried."""

    n_components: int  # of each class
    log_loss: float  # weighted mean of held-out rows, nats


@dataclass(frozen=True)
class HeldOut:
    """Folds that are held out, and how mixtures are learned from the rest.

    Distinct rows are dealt to folds class by class. `seed` is that of folds and starts;
    `n_threads` share the folds without effect on the result.
    """

    n_folds: int
    seed: int
    smoothing: Smoothing  # of the tables
    prior_rule: Smoothing  # of P(class)
    options: EMOptions
    max_components: int = 32
    n_threads: int = 1


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Log joints of distinct rows under mixtures that were not learned from them."""

    log_scores: Floats  # (n_rows, n_classes), nats
    own: NDArray[np.intp]  # (n_rows,), true classes
    weights: Floats  # (n_rows,)

    @property
    def log_loss(self) -> float:
        """Mean -ln P(true class | features) by weight (nats); infinite without rows."""
        if not len(self.own):
            return math.inf
        true = self.log_scores[np.arange(len(self.own)), self.own]
        losses = log_sum_exp(self.log_scores, axis=1) - true
        return float(np.sum(self.weights * losses) / np.sum(self.weights))


@dataclass(frozen=True)
class SizeChoice:
    """Number of components that held-out rows favour."""

    n_components: int  # last size that lowered the log-loss by over 1%
    steps: tuple[SizeStep, ...]  # all sizes tried, in order


def choose_size(codes: Codes, domain: Domain, held_out: HeldOut) -> SizeChoice:
    """Try 1, 2, 4, 8, ... components until held-out rows gain no more.

    Growing ends after three sizes in a row that do not lower the least log-loss so far
    by more than a hundredth, or with as many components as allowed or as there are
    distinct rows.
    """
    rows, _ = merged_rows(codes)
    most = min(rows.n_rows, held_out.max_components)
    size, best, least, failed = 1, 1, math.inf, 0
    steps: list[SizeStep] = []
    work = Work()
    while size <= most and failed < _PATIENCE:
        work.say(f"trying {counted(size, 'component')} a class")
        log_loss = held_out_scores(rows, domain, held_out, size).log_loss
        steps.append(SizeStep(size, log_loss))
        failed += 1
        if log_loss < (1.0 - _LEAST_GAIN) * least:
            best, least, failed = size, log_loss, 0
        size *= 2
    return SizeChoice(best, tuple(steps))


def held_out_scores(
    codes: Codes, domain: Domain, held_out: HeldOut, n_components: int
) -> HeldOutScores:
    """Score every distinct row by a mixture of the rows in the other folds.

    The scores are empty if there are too few rows to hold some out.
    """
    rows, _ = merged_rows(codes)
    classes = rows.column(rows.n_variables - 1)
    folds = stratified_folds(classes, held_out.n_folds, held_out.seed)
    n_used = min(held_out.n_folds, rows.n_rows)
    if n_used < 2:
        rows, n_used = rows.rows(slice(0)), 0
    found = run_tasks(
        [
            partial(
                _fold_scores, rows, folds == fold, domain, held_out, n_components, fold
            )
            for fold in range(n_used)
        ],
        held_out.n_threads,
    )
    scores = np.empty((rows.n_rows, rows.cards[-1]))
    for fold, fold_scores in enumerate(found):
        scores[folds == fold] = fold_scores
    own = rows.column(rows.n_variables - 1).astype(np.intp)
    return HeldOutScores(scores, own, rows.weights)


def _fold_scores(
    rows: Codes,
    tested: NDArray[np.bool_],
    domain: Domain,
    held_out: HeldOut,
    n_components: int,
    fold: int,
) -> Floats:
    """Log joints of one fold's rows, shape (n_rows, n_classes)."""
    train, test = rows.rows(~tested), rows.rows(tested)
    fit = learn_latent_class(
        train,
        n_components,
        held_out.smoothing,
        held_out.options,
        [held_out.seed, n_components, fold],
    )
    own = train.column(train.n_variables - 1).astype(np.intp)
    counts = np.bincount(own, train.weights, minlength=train.cards[-1])
    prior = held_out.prior_rule.estimate(counts.astype(np.float64))
    model = LatentClassModel(domain, prior, fit.weights, fit.tables)
    scores = model.class_log_scores(test.without_last())
    # A state that no other fold holds may be impossible under every class.
    impossible = np.isneginf(scores).all(axis=1)
    scores[impossible] = log_of(prior)
    return scores
