"""What a report shows of a model without a class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import PartialValues, available_codes, sets_in
from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
from bayleaf.evaluation.density_scores import (
    cross_validate_density,
    entropy_bound,
    independent_logs,
)
from bayleaf.evaluation.privacy import Privacy
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.row_propagation import log_densities
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.report.case import HELD_OUT_BASIS, Case
from bayleaf.report.intervals import mean_interval
from bayleaf.report.overview import density_sentences, dependence_values
from bayleaf.wording import in_bits

Values = dict[str, Any]
Unknown = Mapping[str | int, int]
Notes = Mapping[str | int, str]

# Nats by which log probabilities are put into steps where counts are rounded.
_STEP = 0.25


class DensityReport(Case):
    """A density model or a network, a table, and what the report shows of them."""

    kind = "density"

    def read_target(self) -> None:
        """Refuse options for models with a target, which is not there to be read."""
        given = (self.requested_target, self.options.loss, self.options.positive)
        if any(option is not None for option in given):
            raise ValueError(
                "target, loss and positive belong to classifiers; this model has no "
                "class"
            )

    def model_values(self) -> Values:
        """Name and size of the model."""
        return {
            "name": type(self.model).__name__,
            "setting": getattr(self.model, "setting_", None),
            "n_variables": len(self.source.domain),
            "n_arcs": len(self.source.edges),
            "n_parameters": self.source.n_parameters,
        }

    def scored_values(self) -> Values:
        """Log-likelihood of held-out rows."""
        if self.options.held_out:
            quality = _scored(self.source, *self._known_rows(), self.privacy)
        elif hasattr(self.model, "get_params"):
            options = self.options
            quality = _cross_validated(
                self.model, self.X, options.n_folds, options.random_state, self.privacy
            )
        else:
            quality = {
                "basis": "none",
                "basis_told": "No held-out scores: a network does not record how it "
                "was learned, so it cannot be cross-validated. Provide a table without "
                "training rows, and declare it as held out.",
            }
        return {
            "quality": quality,
            "overview": {
                "sentences": density_sentences(quality),
                # Probabilities follow from counts that are withheld.
                "shapes": []
                if self.privacy.withholds
                else dependence_values(self.source),
            },
        }

    def _known_rows(self) -> tuple[Codes, PartialValues, NDArray[np.float64]]:
        """Codes and sets of states, and what values not seen in training add to logs.

        A network does not record how many rows it was learned from; it sums them out.
        """
        if isinstance(self.model, BayesianNetworkEstimator):
            encoded, log_mass = self.model._known_cells(self.X)
            return available_codes(encoded.rows), sets_in(encoded.rows), log_mass
        return self.codes, PartialValues.none(), np.zeros(self.codes.n_rows)


def _scored(
    network: BayesianNetwork,
    codes: Codes,
    partial: PartialValues,
    log_mass: NDArray[np.float64],
    privacy: Privacy,
) -> Values:
    """Log-likelihood of held-out rows."""
    logs = log_mass + log_densities(
        NetworkTrees(network), codes, partial_values=partial
    )
    n_rows = codes.n_rows
    figures = {
        "n_rows": n_rows,
        "nats_per_row": _finite(float(logs.sum()) / n_rows),
        "bound_per_row": entropy_bound(codes) / n_rows,
        "n_impossible": int(np.isneginf(logs).sum()),
        **_gain(logs, log_mass + independent_logs(network, codes)),
    }
    if privacy.withholds:
        figures = _published_figures(logs, privacy)
    return {"basis": "held_out", "basis_told": HELD_OUT_BASIS, "sd": None, **figures}


def _gain(logs: NDArray[np.float64], independent: NDArray[np.float64]) -> Values:
    """Bits that a row gains over independent columns, and intervals; None if infinite.

    Both are log probabilities of rows in nats.
    """
    with np.errstate(invalid="ignore"):
        bits = in_bits(logs - independent)
    return {
        "bits_gained": _finite(float(bits.mean())),
        "intervals": {
            "nats_per_row": mean_interval(logs),
            "bits_gained": mean_interval(bits),
        },
    }


def _published_figures(logs: NDArray[np.float64], privacy: Privacy) -> Values:
    """Figures from rounded numbers of rows by their log probability in steps."""
    possible = np.isfinite(logs)
    steps, counts = np.unique(np.floor(logs[possible] / _STEP), return_counts=True)
    cells = privacy.published([(~possible).sum(), *counts], "log probability")
    n_rows = int(cells.sum())
    rows = np.repeat((steps + 0.5) * _STEP, cells[1:])
    middle = float(rows.sum()) / n_rows
    return {
        "n_rows": n_rows,
        "nats_per_row": middle if not cells[0] else None,
        "bound_per_row": None,
        "n_impossible": int(cells[0]),
        "bits_gained": None,
        "intervals": {"nats_per_row": None if cells[0] else mean_interval(rows)},
    }


def _cross_validated(
    model: Any, X: Any, n_folds: int, random_state: int, privacy: Privacy
) -> Values:
    """Log-likelihood of each fold's rows under a fresh model of all others."""
    name = type(model).__name__
    try:
        found = cross_validate_density(
            {name: model}, X, n_folds=n_folds, random_state=random_state
        )[0]
    except ValueError as error:
        why = "too few rows for the folds" if privacy.withholds else error
        return {"basis": "none", "basis_told": f"No held-out scores: {why}."}
    n_rows = sum(fold.n_rows for fold in found.folds)
    logs = np.concatenate([fold.log_probabilities for fold in found.folds])
    figures = {
        "n_rows": n_rows,
        "nats_per_row": _finite(found.nats_per_row),
        "sd": _finite(found.sd_per_row),
        "bound_per_row": found.bound / n_rows,
        "n_impossible": found.n_impossible,
        **_gain(
            logs, np.concatenate([f.independent_log_probabilities for f in found.folds])
        ),
    }
    if privacy.withholds:
        figures = {"sd": None, **_published_figures(logs, privacy)}
    return {
        "basis": "cross_validation",
        "basis_told": f"{n_folds}-fold cross-validation on the rows of this table "
        f"(seed {random_state}): {n_folds} fresh models of the same settings, each "
        "scored on rows that it had not seen. The model on this page learned from all "
        "rows and is not scored on them.",
        **figures,
    }


def _finite(value: float) -> float | None:
    """A number, or None for what JSON cannot hold."""
    return value if math.isfinite(value) else None
