"""The Bayesian Dirichlet score with a uniform prior, and its marginal likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from bayleaf.scores.local_score import Counts, ParametersOnly, Scores, Unit
from bayleaf.wording import quoted


@dataclass(frozen=True)
class BDeu(ParametersOnly):
    """Log marginal likelihood (nats) under a uniform prior of fixed strength.

    Heckerman, Geiger and Chickering (1995), equation 28 with uniform weights. The
    weight of the prior, `equivalent_sample_size`, is shared out equally over the rows
    of a CPD and the states; ValueError if it is not above zero.
    """

    equivalent_sample_size: float = 1.0
    name = "bdeu"
    unit: Unit = "nats"
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
