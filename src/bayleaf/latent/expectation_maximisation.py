"""Expectation maximisation: its steps, its starts, and the one rule that ends them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.threads import run_tasks
from bayleaf.progress import Work

Parameters = TypeVar("Parameters")
Expected = TypeVar("Expected")
Progress = Callable[[int, float], object]


class IncompleteRows(Protocol[Parameters, Expected]):
    """Rows with unobserved parts, the model that they are rows of, and its prior."""

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""

    def expect(self, parameters: Parameters) -> tuple[Expected, float]:
        """E step: expected counts, and the log-likelihood of the rows (nats)."""

    def maximize(self, parameters: Parameters, expected: Expected) -> Parameters:
        """M step: the parameters that fit expected counts and prior best."""

    def log_prior(self, parameters: Parameters) -> float:
        """Logarithm of the prior density, up to a constant (nats)."""

    def probabilities(self, parameters: Parameters) -> Sequence[NDArray[np.float64]]:
        """Distributions that are learned, in an order that no step changes."""


@dataclass(frozen=True)
class EMOptions:
    """Starts, and the rule that ends the steps from each.

    They end once a step gains at most `tol` nats per row, by weight, and changes no
    probability by more than the root of `tol`: near the top a gain is about the square
    of the change that makes it. A share of the log-likelihood, instead, would end steps
    earlier the more variables there are.
    """

    n_restarts: int = 3  # of which the best end is kept
    max_iter: int = 500  # steps of each start
    tol: float = 1e-6


@dataclass(frozen=True, eq=False)
class Climb(Generic[Parameters, Expected]):
    """The end of the steps from one start, and the way there."""

    parameters: Parameters
    expected: Expected  # counts under `parameters`
    log_likelihood: float  # of the rows, nats
    objectives: tuple[float, ...]  # log-likelihood plus log prior, from the start on
    converged: bool


def best_climb(
    rows: IncompleteRows[Parameters, Expected],
    starts: Sequence[Callable[[], Parameters]],
    options: EMOptions,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> Climb[Parameters, Expected]:
    """Climb from each start, and return the end with the largest objective.

    The first of equal ends is kept. `n_threads` share the starts without effect on the
    result; `progress` gets the step's number and the objective after each step.
    """

    def climb_from(start: Callable[[], Parameters]) -> Climb[Parameters, Expected]:
        return climb(rows, start(), options, progress)

    climbs = run_tasks([partial(climb_from, start) for start in starts], n_threads)
    return max(climbs, key=lambda climb: climb.objectives[-1])


def climb(
    rows: IncompleteRows[Parameters, Expected],
    start: Parameters,
    options: EMOptions,
    progress: Progress | None = None,
) -> Climb[Parameters, Expected]:
    """Take E and M steps in turn from a start (Dempster, Laird and Rubin 1977).

    ValueError if a row is impossible after a step.
    """
    parameters = start
    expected, log_likelihood = rows.expect(parameters)
    objectives = [log_likelihood + rows.log_prior(parameters)]
    converged, work = False, Work()
    while not converged and len(objectives) <= options.max_iter:
        before, parameters = parameters, rows.maximize(parameters, expected)
        expected, log_likelihood = rows.expect(parameters)
        objectives.append(log_likelihood + rows.log_prior(parameters))
        if objectives[-1] == -math.inf:
            raise ValueError(
                "some row is impossible under the distributions that are not learned; "
                "give those experience counts, or correct the rows"
            )
        work.say(f"step {len(objectives) - 1} of at most {options.max_iter}")
        if progress is not None:
            progress(len(objectives) - 1, objectives[-1])
        gain = abs(objectives[-1] - objectives[-2])
        converged = gain <= options.tol * rows.total_weight and all(
            np.abs(new - old).max(initial=0.0) <= math.sqrt(options.tol)
            for old, new in zip(
                rows.probabilities(before), rows.probabilities(parameters), strict=True
            )
        )
    return Climb(parameters, expected, log_likelihood, tuple(objectives), converged)
