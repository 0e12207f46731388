"""Posteriors estimated from samples that an importance function draws."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.random_state import random_generator
from bayleaf.graph.separation import ancestors
from bayleaf.inference.approximate.mini_buckets import (
    Floats,
    JoinGraph,
    MiniBucketElimination,
    Potentials,
    Scope,
    potentials,
)
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.log_sums import log_of
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.posteriors import EstimatedPosterior, EstimatedPosteriors
from bayleaf.inference.sampling import Draw, Drawing, forward_draw
from bayleaf.inference.states import check_integer
from bayleaf.wording import name_list, quoted

_FEWEST = 5
OFFER = 'or use method="auto" to estimate the answer from samples'
# Samples drawn at a time, and those that try an importance function; part of what a
# seed means.
_BATCH = 4096
_PILOT = 1024
# Cells of all mini-buckets that are computed in a fraction of a second.
_FIRST_CELLS = 8_000_000
_FEWEST_CELLS = 256
# Passes down and up again over mini-buckets that are split.
_ROUNDS = 2
# Larger mini-buckets are tried while samples are worth less than this share of them.
_GOOD_SHARE = 0.1
_GROWTH = 8
# Standard errors mean little before samples are worth this many.
_FEWEST_EFFECTIVE = 200
# Beyond this, the central limit theorem needs more samples than anyone draws.
_HEAVY_TAIL = 0.7
Column = NDArray[np.int64]
Method = Literal["exact", "auto", "approximate"]


class ApproximationWarning(UserWarning):
    """An estimate is less sure than was asked for, or its errors cannot be trusted."""


@dataclass(frozen=True)
class Sampling:
    """Sampling options as of `Inference.query`; ValueError if one is out of range."""

    method: Method
    tolerance: float  # standard error at which samples end
    max_samples: int  # at which they end in any case
    random_state: Any

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            methods = name_list([quoted(method) for method in get_args(Method)])
            raise ValueError(
                f"method must be one of {methods}, got {quoted(self.method)}"
            )
        is_number = isinstance(self.tolerance, numbers.Real)
        if not is_number or not 0 < self.tolerance < math.inf:
            raise ValueError(
                f"tolerance must be a number above 0, got {quoted(self.tolerance)}; it "
                "is the largest standard error of a probability"
            )
        check_integer("max_samples", self.max_samples)


def pareto_k(log_weights: Floats) -> float:
    """Shape k of a generalised Pareto distribution fitted to the largest weights.

    `log_weights` (n_samples,), minus infinity for weight 0. Moments of order 1/k and
    beyond do not exist; up to 0.7, estimates and standard errors can be trusted; 0 if
    the weights are about equal, or too few.

    Vehtari, Simpson, Gelman, Yao & Gabry 2024, "Pareto smoothed importance sampling".
    Zhang & Stephens 2009, "A new and efficient estimation method for the generalized
    Pareto distribution".
    """
    n = len(log_weights)
    n_tail = int(min(0.2 * n, 3.0 * np.sqrt(n)))
    if n_tail < _FEWEST:
        return 0.0
    ranked = np.sort(log_weights)[-n_tail - 1 :]
    scaled = np.exp(ranked - ranked[-1])
    excess = scaled[1:] - scaled[0]
    excess = excess[excess > 0]
    # Tails that rise by less than a mean weight do no harm, whatever their shape.
    mean = np.exp(log_weights - ranked[-1]).mean()
    if len(excess) < _FEWEST or excess[-1] <= mean:
        return 0.0
    return max(0.0, _shape(excess))


def _shape(excess: Floats) -> float:
    """Zhang and Stephens' estimate from increasing positive numbers."""
    n = len(excess)
    n_points = 30 + int(np.sqrt(n))
    steps = np.arange(1, n_points + 1)
    quarter = excess[int(n / 4 + 0.5) - 1]
    theta = 1 / excess[-1] + (1 - np.sqrt(n_points / (steps - 0.5))) / (3 * quarter)
    # Theta of 0 is the exponential distribution, the limit of shapes around it.
    theta = np.where(theta == 0, 1e-12, theta)
    shapes = np.log1p(-theta[:, None] * excess).mean(axis=1)
    log_profile = n * (np.log(-theta / shapes) - shapes - 1)
    share = np.exp(log_profile - log_profile.max())
    best = (theta * share).sum() / share.sum()
    shape = np.log1p(-best * excess).mean()
    # Shrunk a little towards a half, as for smoothing.
    return float((n * shape + 5.0) / (n + 10.0))


class Estimates:
    """Estimates of the distributions of some variables from weighted samples."""

    def __init__(self, targets: Sequence[int], cards: Sequence[int]) -> None:
        self._targets = list(targets)
        self._cards = list(cards)
        ends = accumulate(cards, initial=0)
        self._places = [slice(*both) for both in pairwise(ends)]
        n_states = sum(cards)
        # Sums of weights and of squared weights, of each state and of all samples.
        self._weight = np.zeros(n_states)
        self._square = np.zeros(n_states)
        self._all_weight = 0.0
        self._all_square = 0.0
        self._log_scale = -math.inf
        self._log_weights: list[Floats] = []
        self.n_samples = 0

    def add(
        self, columns: Mapping[int, NDArray[np.int64]], log_weights: Floats
    ) -> None:
        """Count one batch of samples."""
        self.n_samples += len(log_weights)
        self._log_weights.append(log_weights)
        largest = float(log_weights.max())
        if largest == -math.inf:
            return
        if largest > self._log_scale:
            shrunk = math.exp(self._log_scale - largest)
            self._weight *= shrunk
            self._square *= shrunk**2
            self._all_weight *= shrunk
            self._all_square *= shrunk**2
            self._log_scale = largest
        weights = np.exp(log_weights - self._log_scale)
        squares = weights**2
        self._all_weight += float(weights.sum())
        self._all_square += float(squares.sum())
        for target, card, place in zip(
            self._targets, self._cards, self._places, strict=True
        ):
            codes = columns[target]
            self._weight[place] += np.bincount(codes, weights, card)
            self._square[place] += np.bincount(codes, squares, card)

    @property
    def effective_sample_size(self) -> float:
        """How many samples of equal weight are worth as much (Kong 1992)."""
        if not self._all_weight:
            return 0.0
        return self._all_weight**2 / self._all_square

    @property
    def log_mean(self) -> float:
        """Logarithm of the mean weight."""
        if not self._all_weight:
            return -math.inf
        return self._log_scale + math.log(self._all_weight / self.n_samples)

    @property
    def log_mean_error(self) -> float:
        """Standard error of `log_mean`."""
        variance = 1.0 / self.effective_sample_size - 1.0 / self.n_samples
        return math.sqrt(max(0.0, variance))

    @property
    def pareto_k(self) -> float:
        """Shape of the weights' tail; see `pareto_k`."""
        return pareto_k(np.concatenate(self._log_weights))

    @property
    def largest_error(self) -> float:
        """The largest standard error of a state."""
        return float(self._errors().max(initial=0.0))

    def of(self, place: int) -> tuple[Floats, Floats, float]:
        """Probabilities, standard errors and effective sample size of one target.

        The last is the number of exact draws whose frequencies would be as close.
        """
        states = self._places[place]
        probabilities = self._weight[states] / self._weight[states].sum()
        variances = self._variances()[states]
        spread = float((probabilities * (1.0 - probabilities)).sum())
        variance = float(variances.sum())
        size = spread / variance if variance > 0 else self.effective_sample_size
        return probabilities, self._errors()[states], size

    def _variances(self) -> Floats:
        """Variance of each state's share of the weights, by the delta method."""
        share = self._weight / self._all_weight
        squares = self._square * (1.0 - 2.0 * share) + share**2 * self._all_square
        return np.maximum(squares, 0.0) / self._all_weight**2

    def _errors(self) -> Floats:
        """Standard errors; a state that was never drawn may have one sample's share."""
        return np.asarray(np.sqrt(self._variances() + self.effective_sample_size**-2.0))


def estimated(
    trees: NetworkTrees, known: Evidence, wanted: Sequence[int], sampling: Sampling
) -> EstimatedPosteriors:
    """Estimate the posteriors of the variables `wanted`.

    ImpossibleEvidenceError if mini-buckets prove the evidence impossible, ValueError if
    no sample agrees with it.
    """
    rng = random_generator(sampling.random_state)
    function, log_constant = _importance_function(trees, known, wanted, rng)
    cards = trees.domain.cards
    estimates = Estimates(wanted, [cards[target] for target in wanted])
    is_reached = False
    while not is_reached and estimates.n_samples < sampling.max_samples:
        left = sampling.max_samples - estimates.n_samples
        estimates.add(*function.draw(min(_BATCH, left), rng))
        enough = estimates.effective_sample_size >= _FEWEST_EFFECTIVE
        is_reached = enough and estimates.largest_error <= sampling.tolerance
    if not estimates.effective_sample_size:
        raise ValueError(
            f"none of {estimates.n_samples} samples agrees with the evidence, which is "
            "impossible or too unlikely for sampling; leave some of it out, or raise "
            "max_samples or max_table_cells"
        )
    tail = estimates.pareto_k
    _warn(estimates, sampling, is_reached, tail)
    found: dict[str | int, EstimatedPosterior] = {}
    for place, target in enumerate(wanted):
        probabilities, errors, size = estimates.of(place)
        if target in known.hard:
            # What is given is not estimated.
            errors, size = np.zeros(len(errors)), math.inf
        variable = trees.domain[target]
        found[variable.name] = EstimatedPosterior(variable, probabilities, errors, size)
    return EstimatedPosteriors(
        found,
        estimates.log_mean + log_constant + known.log_scale,
        estimates.log_mean_error,
        estimates.n_samples,
        estimates.effective_sample_size,
        tail,
    )


def _importance_function(
    trees: NetworkTrees,
    known: Evidence,
    wanted: Sequence[int],
    rng: np.random.Generator,
) -> tuple[ImportanceFunction, float]:
    """What samples are drawn from, and the logarithm of what their weights lack."""
    network = trees.network
    above = ancestors(network.dag, [item.variable for item in known.items])
    if not above:
        function = ImportanceFunction(network, {}, wanted, above, None, ())
        return function, 0.0
    factors = potentials(network, known, above, trees.max_table_cells)
    if factors.log_constant == -math.inf:
        raise trees.impossible(known)
    limit = trees.max_table_cells
    n = max(1, len(factors.open_variables))
    most = min(limit, max(_FEWEST_CELLS, _FIRST_CELLS // n))
    best: ImportanceFunction | None = None
    best_share = -1.0
    while True:
        graph, is_final = _join_graph(factors, most, limit, is_first=best is None)
        if graph is not None:
            if graph.is_impossible:
                raise trees.impossible(known)
            function = ImportanceFunction(
                network, known.hard, wanted, above, graph, factors.cards
            )
            trial = Estimates((), ())
            trial.add(*function.draw(_PILOT, rng))
            share = trial.effective_sample_size / _PILOT
            if share > best_share:
                best, best_share = function, share
        if is_final or best_share >= _GOOD_SHARE:
            assert best is not None
            return best, factors.log_constant
        most = min(limit, most * _GROWTH)


def _join_graph(
    factors: Potentials, most: int, limit: int, *, is_first: bool
) -> tuple[JoinGraph | None, bool]:
    """Mini-buckets within a bound, and whether a larger bound is no use.

    There are none if they have too many cells, unless they are the first ones.
    """
    split = MiniBucketElimination(
        factors.scopes, factors.open_variables, factors.cards, most
    ).run()
    if split.cells(factors.cards) > limit and not is_first:
        return None, True
    graph = JoinGraph(factors, split)
    graph.up()
    if split.is_exact:
        return graph, True
    for _ in range(_ROUNDS):
        if not graph.is_impossible:
            graph.down()
            graph.up()
    return graph, most >= limit


def _warn(
    estimates: Estimates, sampling: Sampling, is_reached: bool, tail: float
) -> None:
    """Say in words what an estimate lacks."""
    worth = f"{estimates.effective_sample_size:.3g}"
    if not is_reached:
        warnings.warn(
            f"the tolerance of {sampling.tolerance:g} is not reached within "
            f"{estimates.n_samples} samples, worth {worth} equal ones: the largest "
            f"standard error is {estimates.largest_error:.2g}; raise max_samples or "
            "max_table_cells, or accept a larger tolerance",
            ApproximationWarning,
            stacklevel=4,
        )
    if tail > _HEAVY_TAIL:
        warnings.warn(
            f"a few of {estimates.n_samples} samples carry most of the weight (Pareto "
            f"k = {tail:.2f}, above {_HEAVY_TAIL}), so that the standard errors are "
            "too small; raise max_table_cells, or leave out unlikely evidence",
            ApproximationWarning,
            stacklevel=4,
        )


@dataclass(frozen=True, eq=False)
class Piece:
    """The table and message of one mini-bucket, as samples look them up.

    `table` is the product of its factors; states first, because long axes are quick.
    """

    given: Scope  # variables drawn before
    cards: tuple[int, ...]  # of `given`
    table: Floats  # (card, n_given)
    log_message: Floats  # (n_given,), what it sends up

    def rows(self, columns: Mapping[int, Column], n_rows: int) -> Column:
        """Row of the table in each sample."""
        found = np.zeros(n_rows, dtype=np.int64)
        for variable, card in zip(self.given, self.cards, strict=True):
            found *= card
            found += columns[variable]
        return found


class SplitDraw:
    """A step that draws the variable of a split bucket and weighs the samples.

    A state is drawn in proportion to the product of the mini-buckets' tables. The
    weight is what the product sums to, over the messages that stood for that sum.
    """

    def __init__(self, pieces: list[Piece]) -> None:
        self._pieces = pieces

    def draw(
        self, columns: Mapping[int, Column], uniforms: Floats
    ) -> tuple[Column, Floats]:
        """State drawn in each sample, and what is added to its log weight."""
        product: Floats | None = None
        log_messages = np.zeros(len(uniforms))
        for piece in self._pieces:
            rows = piece.rows(columns, len(uniforms))
            part = piece.table.take(rows, axis=1)
            product = part if product is None else np.multiply(product, part, out=part)
            log_messages += piece.log_message.take(rows)
        assert product is not None
        sums = np.cumsum(product, axis=0)
        total = sums[-1]
        states = (sums[:-1] <= uniforms * total).sum(axis=0)
        added = np.full(len(uniforms), -np.inf)
        np.log(total, out=added, where=total > 0)
        np.subtract(added, log_messages, out=added, where=total > 0)
        return states, added


class ImportanceFunction:
    """Draws samples that all agree with evidence, and their weights.

    What comes before the evidence (`above`, itself included) is drawn against the order
    of elimination of its mini-buckets, everything else from its parents. `graph` has
    had a pass upwards; `cards` include auxiliary variables.

    Yuan & Druzdzel 2003, "An importance sampling algorithm based on evidence
    pre-propagation". Gogate & Dechter 2011, "SampleSearch: importance sampling in
    presence of determinism" (the importance function is that of join-graph
    propagation).
    """

    def __init__(
        self,
        network: Factorisation,
        hard: Mapping[int, int],
        targets: Iterable[int],
        above: set[int],
        graph: JoinGraph | None,
        cards: tuple[int, ...],
    ) -> None:
        self._hard = dict(hard)
        self._log_constant = 0.0
        self._steps: list[tuple[int, Drawing | SplitDraw]] = []
        if graph is not None:
            self._add_buckets(graph, cards)
        wanted = ancestors(network.dag, targets) - above
        for node in network.dag.order:
            if node in wanted:
                self._steps.append((node, forward_draw(network.cpds[node])))

    def _add_buckets(self, graph: JoinGraph, cards: tuple[int, ...]) -> None:
        """Steps for the variables of mini-buckets, the last eliminated first."""
        for place in reversed(range(len(graph.buckets))):
            bucket = graph.buckets[place]
            if any(mate > place for mate in bucket.mates):
                continue
            group = sorted([place, *bucket.mates])
            step: Drawing | SplitDraw
            if len(group) == 1:
                given = bucket.scope[:-1]
                table = graph.tables[place]
                step = Draw.from_table(given, (bucket.variable,), table)
            else:
                step = SplitDraw([_piece(graph, own, cards) for own in group])
            self._log_constant += sum(graph.log_shift(own) for own in group)
            self._steps.append((bucket.variable, step))

    def draw(
        self, n_rows: int, rng: np.random.Generator
    ) -> tuple[dict[int, Column], Floats]:
        """Draw samples: states (n_rows,) by variable, and log weights (n_rows,).

        The mean of the weights estimates the product of all potentials.
        """
        columns = {
            variable: np.full(n_rows, state, dtype=np.int64)
            for variable, state in self._hard.items()
        }
        log_weights = np.full(n_rows, self._log_constant)
        for variable, step in self._steps:
            uniforms = rng.random(n_rows)
            if isinstance(step, SplitDraw):
                columns[variable], added = step.draw(columns, uniforms)
                log_weights += added
            else:
                columns[variable] = step.joint_states(columns, uniforms)
        return columns, log_weights


def _piece(graph: JoinGraph, place: int, cards: tuple[int, ...]) -> Piece:
    """A mini-bucket as samples look it up."""
    given = graph.buckets[place].scope[:-1]
    table = graph.tables[place]
    log_message = log_of(graph.messages[place]).ravel()
    return Piece(
        given,
        tuple(cards[v] for v in given),
        np.ascontiguousarray(table.reshape(-1, table.shape[-1]).T),
        # Where the message is 0, no sample of positive weight comes.
        np.where(np.isneginf(log_message), 0.0, log_message),
    )
