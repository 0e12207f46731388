"""The Bayesian information criterion."""

from __future__ import annotations

import math

import numpy as np

from bayleaf.scores.local_score import (
    Counts,
    ParametersOnly,
    Scores,
    Unit,
    log_likelihood,
)


class BIC(ParametersOnly):
    """Log-likelihood less ``0.5 * ln(N)`` per free parameter (nats).

    Schwarz (1978), halved and with the sign turned, as structure learning has it.
    """

    name = "bic"
    unit: Unit = "nats"

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters (nats), see `LocalScore.rows_score`."""
        n_parameters = (counts.shape[-1] - 1) * n_rows
        cost = 0.5 * n_parameters * math.log(max(total_weight, 1.0))
        return np.asarray(log_likelihood(counts) - cost)
