"""The Akaike information criterion."""

from __future__ import annotations

import numpy as np

from bayleaf.scores.local_score import (
    Counts,
    ParametersOnly,
    Scores,
    Unit,
    log_likelihood,
)


class AIC(ParametersOnly):
    """Log-likelihood less one per free parameter (nats).

    Akaike (1974), halved and with the sign turned, as structure learning has it.
    """

    name = "aic"
    unit: Unit = "nats"

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters (nats), see `LocalScore.rows_score`."""
        cost = (counts.shape[-1] - 1) * n_rows
        return np.asarray(log_likelihood(counts) - cost)
