"""What a report shows of a model without a class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, masked_domain
from bayleaf.data.tables.frames import to_columns
from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
from bayleaf.density.encoding import read_table
from bayleaf.evaluation.density import cross_validate_density, entropy_bound
from bayleaf.evaluation.privacy import Privacy
from bayleaf.evaluation.table_rows import model_columns
from bayleaf.inference.encoded_rows import read_rows
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.row_propagation import log_densities
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.report.columns import (
    column_parts,
    column_values,
    published_parts,
    quality_notes,
    reading_values,
)
from bayleaf.report.intervals import mean_interval
from bayleaf.report.structure import structure_values

Values = dict[str, Any]
Unknown = Mapping[str | int, int]
Notes = Mapping[str | int, str]

# Nats by which log probabilities are put into steps where counts are rounded.
_STEP = 0.25


def summarize_density(
    model: Any,
    frame: Any,
    *,
    privacy: Privacy,
    held_out: bool,
    n_folds: int,
    random_state: int,
) -> Values:
    """Gather what a report shows of a density model or a network.

    With `held_out`, the model has not learned from the rows; otherwise folds are those
    of `cross_validate_density`. TypeError for other models, ValueError for a missing
    column.
    """
    network, X, read, codes, unknown, notes = _read(model, frame)
    domain: Domain = network.domain
    privacy = privacy.of_table([codes.column(i) for i in range(len(domain))])
    exact = column_parts(codes, domain, unknown)
    parts = published_parts(exact, privacy)
    shown = masked_domain(domain, [*map(privacy.unnamed, exact, parts)])
    columns = column_values(parts, shown, notes, privacy)
    if held_out:
        quality = _scored(network, codes, privacy)
    elif isinstance(model, BayesianNetworkEstimator):
        quality = _cross_validated(model, X, n_folds, random_state, privacy)
    else:
        quality = {
            "basis": "none",
            "basis_told": "No held-out scores: a network does not record how it was "
            "learned, so it cannot be cross-validated. Provide a table without "
            "training rows, and declare it as held out.",
        }
    left_out = [str(name) for name in frame.columns if name not in read]
    n_rows = int(parts[0].sum())
    return {
        "kind": "density",
        "model": {
            "name": type(model).__name__,
            "setting": getattr(model, "setting_", None),
            "n_variables": len(domain),
            "n_arcs": len(network.edges),
            "n_parameters": network.n_parameters,
        },
        "data": {
            "n_rows": n_rows,
            "n_columns": len(domain),
            "left_out": left_out,
        },
        "structure": structure_values(network, shown, privacy),
        "columns": columns,
        "reading": reading_values(getattr(model, "encoder_", None), privacy),
        "quality": quality,
        "notes": quality_notes(columns, n_rows, left_out, privacy),
    }


def _read(
    model: Any, frame: Any
) -> tuple[BayesianNetwork, Any, list[str], Codes, Unknown, Notes]:
    """The network; the table's columns in its order, their names, codes, remarks."""
    if isinstance(model, BayesianNetworkEstimator):
        if not hasattr(model, "network_"):
            raise TypeError("the BayesianNetworkEstimator is not fitted; fit it first")
        network, encoder = model.network_, model.encoder_
        X, read = model_columns(frame, model, encoder.column_names)
        encoded, _ = read_table(to_columns(X), encoder, model.hierarchies_)
        return network, X, read, encoded.codes, encoded.unknown, encoder.notes
    if isinstance(model, BayesianNetwork):
        X, read = model_columns(frame, model, model.domain.names)
        codes = read_rows(model.domain, X)
        return model, X, read, codes, {}, {}
    raise TypeError(
        "a report needs a fitted classifier, a BayesianNetworkEstimator or a "
        f"BayesianNetwork, got a {type(model).__name__}"
    )


def _scored(network: BayesianNetwork, codes: Codes, privacy: Privacy) -> Values:
    """Log-likelihood of held-out rows."""
    logs = log_densities(NetworkTrees(network), codes)
    n_rows = codes.n_rows
    figures = {
        "n_rows": n_rows,
        "nats_per_row": _finite(float(logs.sum()) / n_rows),
        "bound_per_row": entropy_bound(codes) / n_rows,
        "n_impossible": int(np.isneginf(logs).sum()),
        "intervals": {"nats_per_row": mean_interval(logs)},
    }
    if privacy.withholds:
        figures = _published_figures(logs, privacy)
    return {
        "basis": "held_out",
        "basis_told": "The model itself, scored on the rows of this table, which "
        "were declared as held out. If they include training rows, these scores are "
        "too optimistic.",
        "sd": None,
        **figures,
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
        "intervals": {"nats_per_row": None if cells[0] else mean_interval(rows)},
    }


def _cross_validated(
    model: Any,
    X: Any,
    n_folds: int,
    random_state: int,
    privacy: Privacy,
) -> Values:
    """Log-likelihood of each fold's rows under a fresh model of all others."""
    name = type(model).__name__
    try:
        found = cross_validate_density(
            {name: model},
            X,
            n_folds=n_folds,
            random_state=random_state,
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
        "intervals": {"nats_per_row": mean_interval(logs)},
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
