"""Scores of one family by name: MDL, BIC, AIC, BDeu and K2."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayleaf.wording import name_list, quoted

Unit = Literal["bits", "nats"]
Counts = NDArray[np.float64]
Scores = NDArray[np.float64]


@runtime_checkable
class LocalScore(Protocol):
    """Score of one variable's distribution given its parents; larger is better.

    The score of a network is the sum over its variables. That of one variable is what
    its rows of counts score, and the terms for the shape of its CPD.

    Attributes
    ----------
    name : str
        The name by which `resolve_score` knows it.
    unit : {"bits", "nats"}
        What all its terms are measured in.
    adds_over_rows : bool
        Whether scoring rows apart, each as a CPD of one row, gives the same sum.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def unit(self) -> Unit: ...  # noqa: D102

    @property
    def adds_over_rows(self) -> bool: ...  # noqa: D102

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters of CPDs.

        Parameters
        ----------
        counts : ndarray of shape (..., n_seen, n_states), dtype float64
            Weight of each state of the child in each row of the CPD: a configuration
            of the parents, a group of them or a leaf. Rows without data may be left
            out.
        n_rows : float
            Number of rows of the CPD, those left out included.
        total_weight : float
            Weight of the whole table, N.

        Returns
        -------
        ndarray of shape (...)
            One score a CPD.
        """
        ...

    def parents_score(self, n_parents: int, n_variables: int) -> float:
        """Score naming the parents among all variables."""
        ...

    def cuts_score(self, n_cuts: Iterable[int]) -> float:
        """Score naming one cut through the hierarchy of each parent.

        Parameters
        ----------
        n_cuts : iterable of int
            Number of cuts of each of the hierarchies, the root's not among them.
        """
        ...

    def leaf_score(self) -> float:
        """Score saying that a node of a tree is a leaf."""
        ...

    def split_score(self, n_candidates: int) -> float:
        """Score saying that a node of a tree splits on one of some variables."""
        ...

    def merge_score(self, n_leaves: int) -> float:
        """Score naming the leaf that one of so many leaves is merged with."""
        ...


class ParametersOnly:
    """The shape of a CPD costs nothing but its parameters."""

    adds_over_rows = True

    def _zero(self, *_: object, **__: object) -> float:
        return 0.0

    parents_score = cuts_score = leaf_score = split_score = merge_score = _zero

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def log_likelihood(counts: Counts) -> Scores:
    """Largest log-likelihood (nats) that rows of counts can have.

    Sum of N(x, row) ln(N(x, row) / N(row)), with 0 ln 0 = 0: (..., n_rows, n_states) ->
    (...).
    """
    rows = counts.sum(axis=-1)
    cells = _weighted_logs(counts).sum(axis=(-2, -1))
    return np.asarray(cells - _weighted_logs(rows).sum(axis=-1))


def _weighted_logs(weights: Counts) -> Scores:
    """Each weight times its natural logarithm, zero where it is zero."""
    # Not scipy's xlogy, which takes four times as long.
    logs: Scores = np.log(weights, where=weights > 0, out=np.zeros(weights.shape))
    logs *= weights
    return logs


class AIC(ParametersOnly):
    """Log-likelihood less one per free parameter (nats).

    Akaike (1974), halved and with the sign turned, as structure learning has it.
    """

    name = "aic"
    unit: ClassVar[Unit] = "nats"

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters (nats), see `LocalScore.rows_score`."""
        cost = (counts.shape[-1] - 1) * n_rows
        return np.asarray(log_likelihood(counts) - cost)


class BIC(ParametersOnly):
    """Log-likelihood less ``0.5 * ln(N)`` per free parameter (nats).

    Schwarz (1978), halved and with the sign turned, as structure learning has it.
    """

    name = "bic"
    unit: ClassVar[Unit] = "nats"

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters (nats), see `LocalScore.rows_score`."""
        n_parameters = (counts.shape[-1] - 1) * n_rows
        cost = 0.5 * n_parameters * math.log(max(total_weight, 1.0))
        return np.asarray(log_likelihood(counts) - cost)


@dataclass(frozen=True)
class BDeu(ParametersOnly):
    """Log marginal likelihood (nats) under a uniform prior of fixed strength.

    Heckerman, Geiger and Chickering (1995), equation 28 with uniform weights. The
    weight of the prior, `equivalent_sample_size`, is shared out equally over the rows
    of a CPD and the states; ValueError if it is not above zero.
    """

    equivalent_sample_size: float = 1.0
    name = "bdeu"
    unit: ClassVar[Unit] = "nats"
    # Each row has its share of the prior, which depends on how many rows there are.
    adds_over_rows = False

    def __post_init__(self) -> None:
        if not 0 < self.equivalent_sample_size < math.inf:
            raise ValueError(
                "equivalent_sample_size must be a finite number above 0, got "
                f"{quoted(self.equivalent_sample_size)}"
            )

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters (nats), see `LocalScore.rows_score`."""
        prior = self.equivalent_sample_size / (n_rows * counts.shape[-1])
        return dirichlet_log_marginal(counts, prior)


def dirichlet_log_marginal(counts: Counts, prior: float) -> Scores:
    """Log marginal likelihood (nats) of rows whose states all have the same prior.

    `counts` (..., n_rows, n_states) -> (...); `prior` is the weight of each cell, above
    0.
    """
    n_states = counts.shape[-1]
    rows = counts.sum(axis=-1)
    states = gammaln(counts + prior) - gammaln(prior)
    strength = prior * n_states
    marginals = gammaln(rows + strength) - gammaln(strength)
    return np.asarray(states.sum(axis=(-2, -1)) - marginals.sum(axis=-1))


class K2(ParametersOnly):
    """Log marginal likelihood (nats) with all Dirichlet weights one.

    Cooper and Herskovits (1992), equation 12, without the prior over structures.
    """

    name = "k2"
    unit: ClassVar[Unit] = "nats"

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters (nats), see `LocalScore.rows_score`."""
        return dirichlet_log_marginal(counts, 1.0)


@dataclass(frozen=True)
class MDL:
    """Bits that the data and the model take, negated.

    desJardins, Rathod and Getoor (2008), section 3.1. A parameter takes
    ``0.5 * log2(N)`` bits, a parent ``log2`` of the number of variables, a cut ``log2``
    of the number of cuts that its hierarchy has; a leaf of a tree takes one bit, a
    split one bit and ``log2`` of the number of variables that may be split on. The data
    term of their equation 7 is printed without its minus sign. Under one unit of weight
    parameters cost nothing.

    `penalty_weight` weighs the model's bits against those of the data; ValueError if it
    is negative or not finite.
    """

    penalty_weight: float = 1.0
    name = "mdl"
    unit: ClassVar[Unit] = "bits"
    adds_over_rows = True

    def __post_init__(self) -> None:
        if not 0 <= self.penalty_weight < math.inf:
            raise ValueError(
                "penalty_weight must be a finite number of at least 0, got "
                f"{quoted(self.penalty_weight)}"
            )

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters (bits), see `LocalScore.rows_score`."""
        n_parameters = (counts.shape[-1] - 1) * n_rows
        bits = 0.5 * n_parameters * math.log2(max(total_weight, 1.0))
        scores: Scores = log_likelihood(counts) / math.log(2)
        return np.asarray(scores - self.penalty_weight * bits)

    def parents_score(self, n_parents: int, n_variables: int) -> float:
        """Score naming the parents among all variables (bits)."""
        if n_parents == 0:
            return 0.0
        return -self.penalty_weight * n_parents * math.log2(n_variables)

    def cuts_score(self, n_cuts: Iterable[int]) -> float:
        """Score naming one cut through the hierarchy of each parent (bits)."""
        return -self.penalty_weight * sum(math.log2(number) for number in n_cuts)

    def leaf_score(self) -> float:
        """Score saying that a node of a tree is a leaf: a bit."""
        return -self.penalty_weight

    def split_score(self, n_candidates: int) -> float:
        """Score saying that a node of a tree splits on one of some variables (bits)."""
        return -self.penalty_weight * (1.0 + math.log2(n_candidates))

    def merge_score(self, n_leaves: int) -> float:
        """Score naming the leaf that one of so many leaves is merged with (bits)."""
        return -self.penalty_weight * math.log2(n_leaves)


LOCAL_SCORES: dict[str, type[Any]] = {
    "mdl": MDL,
    "bic": BIC,
    "bdeu": BDeu,
    "aic": AIC,
    "k2": K2,
}


def resolve_score(
    score: str | LocalScore,
    *,
    penalty_weight: float = 1.0,
    equivalent_sample_size: float = 1.0,
) -> LocalScore:
    """Give the score of a name; a score stands for itself.

    A score whose class has a field of the name of a weight takes it.

    Parameters
    ----------
    score : {"mdl", "bic", "bdeu", "aic", "k2"} or LocalScore
        What the search is to make large.
    penalty_weight : float, default=1.0
        Weight of the model's part; "mdl" alone has one.
    equivalent_sample_size : float, default=1.0
        Weight of the prior; "bdeu" alone has one.

    Raises
    ------
    ValueError
        If there is no score of this name, or a weight is out of range, or other than 1
        where the score has none.
    TypeError
        If it is neither a name nor a score.

    Examples
    --------
    >>> resolve_score("mdl").unit
    'bits'
    """
    if not isinstance(score, str | LocalScore):
        raise TypeError(
            f"local_score must be a name or a LocalScore, got {quoted(score)}"
        )
    if isinstance(score, str) and score not in LOCAL_SCORES:
        raise ValueError(
            f"local_score must be one of {name_list(list(LOCAL_SCORES))}, got "
            f"{quoted(score)}"
        )
    weights = {
        "penalty_weight": penalty_weight,
        "equivalent_sample_size": equivalent_sample_size,
    }
    taken = _weights(score) if isinstance(score, str) else []
    for name, weight in weights.items():
        if weight != 1.0 and name not in taken:
            others = [other for other in LOCAL_SCORES if name in _weights(other)]
            raise ValueError(
                f"local_score={quoted(score)} does not look at {name}; leave it out, "
                f"or take {name_list(others)}"
            )
    if not isinstance(score, str):
        return score
    made: LocalScore = LOCAL_SCORES[score](**{name: weights[name] for name in taken})
    return made


def _weights(score: str) -> list[str]:
    """The parameters of a score of this name."""
    return list(signature(LOCAL_SCORES[score]).parameters)
