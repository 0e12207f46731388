"""The marginal likelihood with one imagined row for every cell."""

from __future__ import annotations

from bayleaf.scores.bdeu import dirichlet_log_marginal
from bayleaf.scores.local_score import Counts, ParametersOnly, Scores, Unit


class K2(ParametersOnly):
    """Log marginal likelihood (nats) with all Dirichlet weights one.

    Cooper and Herskovits (1992), equation 12, without the prior over structures.
    """

    name = "k2"
    unit: Unit = "nats"

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters (nats), see `LocalScore.rows_score`."""
        return dirichlet_log_marginal(counts, 1.0)
