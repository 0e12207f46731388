"""Posteriors estimated from weighted samples, as closely as is asked for."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np

from bayleaf.data.random_state import random_generator
from bayleaf.graph.separation import ancestors
from bayleaf.inference.approximate.estimated_posteriors import (
    EstimatedPosterior,
    EstimatedPosteriors,
)
from bayleaf.inference.approximate.estimates import Estimates
from bayleaf.inference.approximate.importance import ImportanceFunction
from bayleaf.inference.approximate.mini_buckets import mini_buckets
from bayleaf.inference.approximate.potentials import Potentials, potentials
from bayleaf.inference.approximate.propagation import JoinGraph
from bayleaf.inference.approximate.settings import ApproximationWarning, Sampling
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.parts import NetworkTrees

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
    log_scale = log_constant + known.log_scale
    return _posteriors(trees, known, wanted, estimates, log_scale, tail)


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
            share = _share(function, rng)
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
    split = mini_buckets(factors.scopes, factors.open_variables, factors.cards, most)
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


def _share(function: ImportanceFunction, rng: np.random.Generator) -> float:
    """Effective share of a few samples."""
    trial = Estimates((), ())
    trial.add(*function.draw(_PILOT, rng))
    return trial.effective_sample_size / _PILOT


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


def _posteriors(
    trees: NetworkTrees,
    known: Evidence,
    wanted: Sequence[int],
    estimates: Estimates,
    log_scale: float,
    tail: float,
) -> EstimatedPosteriors:
    """The estimates by name."""
    found: dict[str | int, EstimatedPosterior] = {}
    for place, target in enumerate(wanted):
        probabilities, errors, size = estimates.of(place)
        if target in known.hard:
            # What is given is no estimate.
            errors, size = np.zeros(len(errors)), math.inf
        variable = trees.domain[target]
        found[variable.name] = EstimatedPosterior(variable, probabilities, errors, size)
    return EstimatedPosteriors(
        found,
        estimates.log_mean + log_scale,
        estimates.log_mean_error,
        estimates.n_samples,
        estimates.effective_sample_size,
        tail,
    )
