"""Expectation maximisation: its steps, its starts, and the one rule that ends them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

from bayleaf.counts.threads import one_thread_of_linear_algebra, run_tasks
from bayleaf.progress import Work

Table = NDArray[np.float64]
Parameters = TypeVar("Parameters")
Expected = TypeVar("Expected")
Progress = Callable[[int, float], object]

# Steps that quasi-Newton steps remember.
_MEMORY = 60
# Share of the rows that a plain step moves at a top, where counts are rounded.
_ROUNDED = 1e-13
# A gradient shorter than this is that of a top.
_SMALLEST = 1e-300


class IncompleteRows(Protocol[Parameters, Expected]):
    """Rows with unobserved parts, the model that they are rows of, and its prior.

    Tables of counts and of probabilities are those of the distributions that are
    learned, in an order that no step changes, states along the last axis.
    """

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""

    def expect(self, parameters: Parameters) -> tuple[Expected, float]:
        """E step: expected counts, and the log-likelihood of the rows (nats)."""

    def totals(self, expected: Expected) -> Sequence[Table]:
        """Expected counts and prior counts together."""

    def fitted(self, parameters: Parameters, totals: Sequence[Table]) -> Parameters:
        """M step: distributions in proportion to counts, as before where all are 0."""

    def log_prior(self, parameters: Parameters) -> float:
        """Logarithm of the prior density, up to a constant (nats)."""

    def probabilities(self, parameters: Parameters) -> Sequence[Table]:
        """Distributions that are learned."""


@dataclass(frozen=True)
class EMOptions:
    """Starts, and the rule that ends the steps from each.

    They end once two in a row each gain at most `tol` nats per row, by weight, and
    change no probability by more than `tol`, as a plain step from there would not,
    those of a state and its parents' states together: what rare parents' states have
    next to no effect on is not waited for. A share of the log-likelihood, instead,
    would end steps earlier the more rows and variables there are.
    """

    n_restarts: int = 3  # of which the best end is kept
    max_iter: int = 500  # steps of each start
    tol: float = 1e-7


@dataclass(frozen=True, eq=False)
class Climb(Generic[Parameters, Expected]):
    """The end of the steps from one start, and the way there."""

    parameters: Parameters
    expected: Expected  # counts under `parameters`
    log_likelihood: float  # of the rows, nats
    objectives: tuple[float, ...]  # log-likelihood plus log prior, from the start on
    converged: bool

    @property
    def n_iter(self) -> int:
        """Number of steps made."""
        return len(self.objectives) - 1


def best_climb(
    rows: IncompleteRows[Parameters, Expected],
    starts: Sequence[Callable[[], Parameters]],
    options: EMOptions,
    n_threads: int = 1,
    progress: Progress | None = None,
    *,
    n_trial_steps: int | None = None,
) -> Climb[Parameters, Expected]:
    """Climb from each start, and return the end with the largest objective.

    The first of equal ends is kept. With `n_trial_steps` every start takes so many, the
    better half goes on for twice as many, and so on until one is left (short runs:
    Biernacki, Celeux and Govaert 2003). `n_threads` share the starts without effect on
    the result; `progress` gets the step's number and the objective after each step.
    """
    limit = options.max_iter
    if n_trial_steps is not None and len(starts) > 1:
        limit = min(n_trial_steps, limit)

    def climb_from(start: Callable[[], Parameters]) -> Climb[Parameters, Expected]:
        return climb(rows, start(), replace(options, max_iter=limit), progress)

    def resumed(before: Climb[Parameters, Expected]) -> Climb[Parameters, Expected]:
        left = limit - before.n_iter
        if before.converged or left < 1:
            return before
        rest = replace(options, max_iter=left)
        end = climb(rows, before.parameters, rest, progress)
        return replace(end, objectives=(*before.objectives, *end.objectives[1:]))

    climbs = run_tasks([partial(climb_from, start) for start in starts], n_threads)
    while len(climbs) > 1 and limit < options.max_iter:
        climbs.sort(key=lambda climb: -climb.objectives[-1])
        del climbs[max(1, len(climbs) // 2) :]
        limit = (
            min(3 * limit, options.max_iter) if len(climbs) > 1 else options.max_iter
        )
        climbs = run_tasks([partial(resumed, climb) for climb in climbs], n_threads)
    return max(climbs, key=lambda climb: climb.objectives[-1])


def climb(
    rows: IncompleteRows[Parameters, Expected],
    start: Parameters,
    options: EMOptions,
    progress: Progress | None = None,
) -> Climb[Parameters, Expected]:
    """Take E and M steps from a start, all but the first by a quasi-Newton method.

    Dempster, Laird and Rubin (1977). Counts are the squares of the coordinates of
    L-BFGS (Byrd, Lu, Nocedal and Zhu 1995): were the rows complete, the objective would
    bend alike in all directions there, so that a step without memory is one of EM
    (as Jamshidian and Jennrich 1997 start from), and the likelihood is smooth where
    probabilities end at 0. Where rounding leaves no such step, steps are plain ones. No
    step leads down. ValueError if a row is impossible after a step.
    """
    steps = _Steps(rows, start, options, progress)
    steps.take_plain()
    if not steps.have_ended:
        steps.take_quasi_newton()
    while not steps.have_ended:
        steps.take_plain()
    return steps.end()


class _Point(Generic[Parameters, Expected]):
    """Parameters, and what an E step finds under them."""

    def __init__(
        self, rows: IncompleteRows[Parameters, Expected], parameters: Parameters
    ) -> None:
        self.parameters = parameters
        self.expected, self.log_likelihood = rows.expect(parameters)
        self.objective = self.log_likelihood + rows.log_prior(parameters)
        self._rows = rows

    @cached_property
    def totals(self) -> Sequence[Table]:
        """Expected counts and prior counts together."""
        return self._rows.totals(self.expected)

    @cached_property
    def probabilities(self) -> Sequence[Table]:
        """Distributions that are learned."""
        return self._rows.probabilities(self.parameters)


class _Steps(Generic[Parameters, Expected]):
    """The steps from one start so far."""

    def __init__(
        self,
        rows: IncompleteRows[Parameters, Expected],
        start: Parameters,
        options: EMOptions,
        progress: Progress | None,
    ) -> None:
        self._rows, self._options, self._progress = rows, options, progress
        self._work = Work()
        self._last = _Point(rows, start)
        self._objectives = [self._last.objective]
        self._n_small = 0  # of the last steps

    @property
    def converged(self) -> bool:
        """Whether the last two steps were small."""
        return self._n_small >= 2

    @property
    def have_ended(self) -> bool:
        """Whether the rule or the limit ended the steps."""
        return self.converged or len(self._objectives) > self._options.max_iter

    def end(self) -> Climb[Parameters, Expected]:
        """Where the steps have led."""
        last = self._last
        return Climb(
            last.parameters,
            last.expected,
            last.log_likelihood,
            tuple(self._objectives),
            self.converged,
        )

    def take_plain(self) -> None:
        """Take a step of expectation maximisation."""
        last = self._last
        self._go(_Point(self._rows, self._rows.fitted(last.parameters, last.totals)))

    def take_quasi_newton(self) -> None:
        """Take steps until they have ended or none leads up.

        A distribution of probabilities u² / sum(u²) under expected counts n with sum N
        has the gradient 2 (n - N u² / sum(u²)) / u.
        """
        totals = self._last.totals
        shapes = [table.shape for table in totals]
        roots = np.concatenate([np.zeros(0), *(np.sqrt(t).ravel() for t in totals)])
        sizes = np.repeat(
            [shape[-1] for shape in shapes],
            [table.size // table.shape[-1] for table in totals],
        )
        self.take_plain()
        if self.have_ended:
            return
        latest = self._last
        first = _slopes(roots, latest.totals, sizes)
        # So scaled, the first step is about as long as one of EM.
        scale = 4.0 / max(float(np.linalg.norm(first)), _SMALLEST)
        start = scale * roots

        def loss(point: Table) -> tuple[float, Table]:
            nonlocal latest
            if not np.array_equal(point, start):
                squares = tables_of(np.square(point), shapes)
                latest = _Point(
                    self._rows, self._rows.fitted(self._last.parameters, squares)
                )
            slopes = _slopes(point / scale, latest.totals, sizes)
            return -scale * scale / 4.0 * latest.objective, -scale / 4.0 * slopes

        def keep(intermediate_result: OptimizeResult) -> None:
            if -intermediate_result.fun != scale * scale / 4.0 * latest.objective:
                loss(intermediate_result.x)
            self._go(latest)
            if self.have_ended:
                raise StopIteration

        left = self._options.max_iter + 1 - len(self._objectives)
        with one_thread_of_linear_algebra():
            minimize(
                loss,
                start,
                jac=True,
                method="L-BFGS-B",
                callback=keep,
                options={
                    "maxcor": _MEMORY,
                    "maxiter": left,
                    "maxfun": 100 * left,
                    "ftol": 0.0,
                    "gtol": 0.0,
                },
            )

    def _go(self, there: _Point[Parameters, Expected]) -> None:
        """Step to a point; ValueError if a row is impossible there."""
        if there.objective == -math.inf:
            raise ValueError(
                "some row is impossible under the distributions that are not learned; "
                "give those experience counts, or correct the rows"
            )
        last, self._last, options = self._last, there, self._options
        self._objectives.append(there.objective)
        number = len(self._objectives) - 1
        self._work.say(f"step {number} of at most {options.max_iter}")
        if self._progress is not None:
            self._progress(number, there.objective)
        gain = abs(there.objective - last.objective)
        weight = self._rows.total_weight
        limit, rounded = options.tol * weight, max(options.tol, _ROUNDED) * weight
        tables = zip(last.probabilities, there.probabilities, there.totals, strict=True)
        is_small = gain <= limit and all(
            np.abs((new - old) * sums).max(initial=0.0) <= limit
            # Rounding of the objective makes quasi-Newton steps short before the top,
            # where a plain one would still be long.
            and np.abs(counts - new * sums).max(initial=0.0) <= rounded
            for old, new, counts in tables
            for sums in [counts.sum(axis=-1, keepdims=True)]
        )
        self._n_small = self._n_small + 1 if is_small else 0


def tables_of(flat: Table, shapes: Sequence[tuple[int, ...]]) -> list[Table]:
    """Tables whose cells are one after another, in their shapes."""
    tables, end = [], 0
    for shape in shapes:
        first, end = end, end + math.prod(shape)
        tables.append(flat[first:end].reshape(shape))
    return tables


def _slopes(root: Table, totals: Sequence[Table], sizes: NDArray[np.intp]) -> Table:
    """Gradient of the objective by the roots of counts, flat.

    `sizes` are the numbers of states of the distributions.
    """
    counts = np.concatenate([np.zeros(0), *(table.ravel() for table in totals)])
    starts = np.cumsum(sizes) - sizes
    squares = np.square(root)
    sums = np.add.reduceat(squares, starts)
    scales = np.add.reduceat(counts, starts) / np.where(sums > 0, sums, 1.0)
    pull = counts - squares * np.repeat(scales, sizes)
    slopes = np.zeros_like(root)
    np.divide(2.0 * pull, root, out=slopes, where=root != 0)
    return slopes


def warn_of_limit(converged: bool, max_iter: int) -> None:
    """Warn if the limit of steps, not convergence, ended expectation maximisation."""
    if not converged:
        warnings.warn(
            f"expectation maximisation ended at max_iter={max_iter} before it "
            "converged; raise max_iter, or tol",
            RuntimeWarning,
            stacklevel=3,
        )
