"""Estimates of a conditional probability table from counts: the smoothing rules."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bayleaf.wording import brief_fields, quoted

Table = NDArray[np.float64]

_NOT_ASKED = np.array(np.nan)
# Weights of a prior, in rows, among which left-out rows choose.
_PRIOR_ROWS = tuple(2.0**k for k in range(-3, 11))


class Smoothing(Protocol):
    """A rule that turns the counts of a family into probabilities."""

    def estimate(self, counts: Table) -> Table:
        """Probabilities of the child given its parents.

        Parameters
        ----------
        counts : ndarray of shape (*parents, child)
            Non-negative weights of the joint states.

        Returns
        -------
        ndarray of the same shape
            Distributions along the last axis.
        """
        ...


class CellCounts(NamedTuple):
    """What the rules need to know of the cells of a family; all arrays broadcast.

    Parameters
    ----------
    joint : sequence of ndarray
        Weight of the child's state with the states of the first parent, of the first
        two, and so on to all of them. Without parents there is one entry, the weight
        of the state.
    parents : sequence of ndarray
        The same without the child; the total without parents.
    marginal : ndarray
        Weight of the child's state.
    total : ndarray
        Weight of the family's rows.
    n_states : int
        Number of states of the child.
    """

    joint: Sequence[Table]
    parents: Sequence[Table]
    marginal: Table
    total: Table
    n_states: int

    @classmethod
    def of_table(
        cls, counts: Table, *, shorter: bool = False, marginal: bool = False
    ) -> CellCounts:
        """All cells of a table of shape ``(*parents, child)``.

        Sums that a rule does not look at cost as much as the estimate itself, so the
        tables with fewer parents, and the marginal with the total, are made only on
        demand; without it there is one level, and the marginal is NaN.
        """
        joint = _nested_tables(counts) if shorter else [counts]
        parents = [table.sum(axis=-1, keepdims=True) for table in joint]
        states = total = _NOT_ASKED
        if marginal:
            states = counts.sum(axis=tuple(range(counts.ndim - 1)))
            total = states.sum(axis=-1, keepdims=True)
        return cls(joint, parents, states, total, counts.shape[-1])


@runtime_checkable
class CellSmoothing(Smoothing, Protocol):
    """A rule that also tells the probability of single cells, as leave-one-out asks."""

    def probabilities(self, cells: CellCounts) -> Table:
        """Probability of each cell's state given its parents.

        Parameters
        ----------
        cells : CellCounts
            Their weights.

        Returns
        -------
        ndarray
            Of the shape to which the arrays broadcast.
        """
        ...


class _Parameters:
    """Parameters as scikit-learn lists them."""

    def get_params(self, deep: bool = True) -> dict[str, float]:
        """Parameters by name; `deep` is there for scikit-learn."""
        return dict(vars(self))


@dataclass(frozen=True)
class _CellRule(_Parameters):
    """A rule for single cells, all of whose parameters are positive, or at least 0."""

    # Sums that the rule looks at, see `CellCounts.of_table`.
    _sums: ClassVar[Mapping[str, bool]] = MappingProxyType({})
    _allows_zero: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            is_number = isinstance(value, numbers.Real) and math.isfinite(value)
            if not (is_number and (value > 0 or (self._allows_zero and value == 0))):
                least = ">= 0" if self._allows_zero else "> 0"
                raise ValueError(
                    f"{name} must be a number {least}, got {quoted(value)}"
                )

    def estimate(self, counts: Table) -> Table:
        """Distributions along the last axis, by `probabilities`."""
        return self.probabilities(CellCounts.of_table(counts, **self._sums))

    def probabilities(self, cells: CellCounts) -> Table:
        """Probability of each cell's state given its parents."""
        raise NotImplementedError


@dataclass(frozen=True)
class Lidstone(_CellRule):
    """Add `alpha` to every cell (Laplace's rule of succession at ``alpha=1``).

    Parameters
    ----------
    alpha : float, default=1.0
        Added to each count; scikit-learn's `alpha`.

    Examples
    --------
    >>> import numpy as np
    >>> Lidstone(1.0).estimate(np.array([3.0, 0.0])).tolist()
    [0.8, 0.2]
    """

    alpha: float = 1.0

    def probabilities(self, cells: CellCounts) -> Table:
        """Return ``(N + alpha) / (N_parents + alpha * n_states)``."""
        totals = cells.parents[-1] + self.alpha * cells.n_states
        return np.asarray((cells.joint[-1] + self.alpha) / totals)


@dataclass(frozen=True)
class Dirichlet(_CellRule):
    """Spread a fixed prior weight evenly over the child's states.

    Parameters
    ----------
    equivalent_sample_size : float, default=1.0
        Weight of the prior for each parent configuration.
    """

    equivalent_sample_size: float = 1.0

    def probabilities(self, cells: CellCounts) -> Table:
        """Return ``(N + s / n_states) / (N_parents + s)``."""
        weight = self.equivalent_sample_size
        joint = cells.joint[-1] + weight * _uniform(cells.n_states)
        return np.asarray(joint / (cells.parents[-1] + weight))


@dataclass(frozen=True)
class MEstimate(_CellRule):
    """Pull each distribution towards the child's marginal distribution.

    Parameters
    ----------
    m : float, default=5.0
        Weight of the marginal (Friedman, Geiger & Goldszmidt 1997, section 5, use 5).
    """

    m: float = 5.0

    _sums = MappingProxyType({"marginal": True})

    def probabilities(self, cells: CellCounts) -> Table:
        """Return ``(N + m P(x)) / (N_parents + m)``; P is uniform without counts."""
        prior = _shares(cells.marginal, cells.total, cells.n_states)
        joint = cells.joint[-1] + self.m * prior
        return np.asarray(joint / (cells.parents[-1] + self.m))


@dataclass(frozen=True)
class Backoff(_CellRule):
    """Pull each distribution towards the one with the last parent left out.

    Parents stand strongest first, so the weakest is dropped first; below the first
    parent (the class) stands the uniform distribution.

    Parameters
    ----------
    m : float, default=1.0
        Weight of the shorter table's distribution.
    """

    m: float = 1.0

    _sums = MappingProxyType({"shorter": True})

    def probabilities(self, cells: CellCounts) -> Table:
        """Return ``(N + m P_shorter) / (N_parents + m)``, recursively."""
        prior = np.asarray(_uniform(cells.n_states))
        for joint, parents in zip(cells.joint, cells.parents, strict=True):
            prior = np.asarray((joint + self.m * prior) / (parents + self.m))
        return prior


@dataclass(frozen=True)
class MaximumLikelihood(_CellRule):
    """Plain relative frequencies with a floor for unseen states.

    Meant for reproducing published figures; its log-loss is far worse than that of
    the other rules.

    Parameters
    ----------
    floor : float, default=1e-6
        A state with count zero gets ``floor / N``, N the family's total weight; the
        row is not renormalised. A parent configuration without counts is uniform.
        With 0, frequencies are exact: what no training row has is impossible.
    """

    floor: float = 1e-6

    _sums = MappingProxyType({"marginal": True})
    _allows_zero = True

    def probabilities(self, cells: CellCounts) -> Table:
        """Return ``N / N_parents``, ``floor / N`` where the count is zero.

        Raises
        ------
        ValueError
            If the floor is larger than the weight of all rows.
        """
        joint, parents = cells.joint[-1], cells.parents[-1]
        total = np.where(cells.total > 0, cells.total, 1.0)
        if self.floor > np.min(total):
            raise ValueError(
                f"the floor {self.floor:g} of maximum likelihood is larger than a "
                f"total weight of {np.min(total):.3g}; lower it, or scale weights up"
            )
        floor = self.floor / total
        shares = _shares(joint, parents, cells.n_states)
        return np.where((joint == 0) & (parents > 0), floor, shares)


@dataclass(frozen=True)
class MarginalPreserving(_Parameters):
    """Pull distributions towards a mean so that the child's marginal stays.

    The mean q of the Dirichlet prior is that for which the family's probabilities,
    averaged over the parents as they were counted, give the child's own marginal:
    ``q ~ sum of N(x, pa) / (N_pa + s)`` over the parents' states. Laplace's rule shifts
    this marginal wherever rows per distribution are few. Its weight `s` is, for each
    table, that of ``.125, .25, ... 1024`` with which rows left out one at a time are
    most probable.

    Parameters
    ----------
    floor_rows : float, default=1.0
        Weight of one row spread evenly over the child's states, in the prior's mean and
        in tables without parents: by so much at most do marginals differ from those
        of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[400.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> p = MarginalPreserving().estimate(counts)
    >>> bool(abs(counts.sum(axis=1) @ p - counts.sum(axis=0)).max() < 1)
    True
    """

    floor_rows: float = 1.0

    def __post_init__(self) -> None:
        value = self.floor_rows
        if not (isinstance(value, numbers.Real) and 0 < value < math.inf):
            raise ValueError(f"floor_rows must be a number > 0, got {quoted(value)}")

    def estimate(self, counts: Table) -> Table:
        """Return ``(N + s q) / (N_pa + s)``; see the class for s and q."""
        n_states = counts.shape[-1]
        table = counts.reshape(-1, n_states)
        uniform, total = _uniform(n_states), float(table.sum())
        if len(table) == 1 or not total:
            joint = table + self.floor_rows * uniform
            return (joint / (total + self.floor_rows)).reshape(counts.shape)
        met = table[table.sum(axis=1) > 0]
        share = self.floor_rows / (total + self.floor_rows)
        weight = max(_PRIOR_ROWS, key=lambda rows: _left_out(met, rows, share))
        rows = table.sum(axis=1, keepdims=True)
        sums = (table / (rows + weight)).sum(axis=0)
        mean = (1.0 - share) * sums / sums.sum() + share * uniform
        found = (table + weight * mean) / (rows + weight)
        return np.asarray(found).reshape(counts.shape)


def _left_out(met: Table, weight: float, share: float) -> float:
    """Log-likelihood (nats) of rows, each under a `MarginalPreserving` of all others.

    `met` (n_distributions, n_states) are counts; a row is taken out with a weight of at
    most 1, also of the prior's mean. `share` of that is uniform.
    """
    totals = met.sum(axis=1, keepdims=True)
    cells, rows = np.maximum(met - 1.0, 0.0), np.maximum(totals - 1.0, 0.0)
    all_sums, all_rows = met / (totals + weight), totals / (totals + weight)
    sums = all_sums.sum(axis=0) - all_sums + cells / (rows + weight)
    whole = all_rows.sum() - all_rows + rows / (rows + weight)
    mean = (1.0 - share) * _shares(sums, whole, met.shape[1]) + share / met.shape[1]
    logs = np.log((cells + weight * mean) / (rows + weight))
    return float((met * logs).sum())


@dataclass(frozen=True, eq=False)
class FixedDistribution:
    """A smoothing rule that ignores the counts."""

    probabilities: Table  # (n_states,)

    __repr__ = brief_fields

    def estimate(self, counts: Table) -> Table:
        """The same distribution, whatever the counts."""
        return np.broadcast_to(self.probabilities, counts.shape)


def added_rows(smoothing: Smoothing, n_states: int) -> float:
    """How many rows a rule adds to each distribution over so many states."""
    if isinstance(smoothing, Lidstone):
        return float(smoothing.alpha * n_states)
    if isinstance(smoothing, Dirichlet):
        return float(smoothing.equivalent_sample_size)
    return float(getattr(smoothing, "m", 0.0))


def dirichlet_rows(smoothing: Smoothing) -> Callable[[int], float]:
    """Function from the number of states to the rows that a rule adds, spread evenly.

    ValueError if the rule looks at counts, as expectation maximisation allows no prior
    to.
    """
    if isinstance(smoothing, Lidstone | Dirichlet | MaximumLikelihood):
        return partial(added_rows, smoothing)
    raise ValueError(
        "expectation maximisation needs a smoothing that is a prior of its own "
        "('laplace', 'dirichlet', Lidstone(...) or Dirichlet(...)), or "
        f"'maximum_likelihood', got {quoted(smoothing)}, which looks at counts"
    )


def _nested_tables(counts: Table) -> list[Table]:
    """Tables of the first parent, the first two and so on, with axes of length one."""
    tables = [counts]
    while tables[0].ndim > 2:
        tables.insert(0, tables[0].sum(axis=-2))
    return [
        table.reshape(
            *table.shape[:-1], *[1] * (counts.ndim - table.ndim), table.shape[-1]
        )
        for table in tables
    ]


def _uniform(n_states: int) -> float:
    """Probability of each of so many states; a first batch may show none."""
    return 1.0 / n_states if n_states else 0.0


def _shares(counts: Table, totals: Table, n_states: int) -> Table:
    """Counts divided by totals; uniform where a total is zero."""
    shares = counts / np.where(totals > 0, totals, 1.0)
    return np.where(totals > 0, shares, _uniform(n_states))


SMOOTHINGS_BY_NAME: dict[str, Smoothing] = {
    "laplace": Lidstone(1.0),
    "dirichlet": Dirichlet(),
    "m_estimate": MEstimate(),
    "backoff": Backoff(),
    "marginal": MarginalPreserving(),
    "maximum_likelihood": MaximumLikelihood(),
}


def resolve_smoothing(smoothing: str | Smoothing) -> Smoothing:
    """Return the rule with this name, or the rule itself.

    Raises
    ------
    ValueError
        If there is no rule of that name.
    TypeError
        If the value is neither a name nor an object with an `estimate` method.
    """
    if isinstance(smoothing, str):
        if smoothing not in SMOOTHINGS_BY_NAME:
            raise ValueError(
                f"smoothing must be one of {', '.join(SMOOTHINGS_BY_NAME)} or a rule "
                f"such as Lidstone(0.5), got {quoted(smoothing)}"
            )
        return SMOOTHINGS_BY_NAME[smoothing]
    if not hasattr(smoothing, "estimate") or isinstance(smoothing, type):
        raise TypeError(
            f"smoothing must be a name ({', '.join(SMOOTHINGS_BY_NAME)}) or a rule "
            f"such as Lidstone(0.5), got {quoted(smoothing)}"
        )
    return smoothing


def with_parameters(smoothing: str | Smoothing, values: Mapping[str, Any]) -> Smoothing:
    """The rule, or that of a name, with other values of some parameters.

    ValueError if the rule has no such parameter, or a value is not allowed.
    """
    rule: Any = resolve_smoothing(smoothing)
    known = rule.get_params() if hasattr(rule, "get_params") else {}
    for name in values:
        if name not in known:
            raise ValueError(
                f"the smoothing {quoted(rule)} has no parameter {quoted(name)}; "
                f"its parameters are {', '.join(known) or 'none'}"
            )
    result: Smoothing = replace(rule, **values)
    return result
