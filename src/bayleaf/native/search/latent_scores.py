"""Native counts and scores of a latent variable that joins two nodes."""

from __future__ import annotations

import numpy as np

from bayleaf.native.arrays import F8, I8, readable, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, Function
from bayleaf.native.search.latent_rows import (
    RUNS,
    STATES,
    Counts,
    PackedRuns,
    Places,
)

_merge_cells = Function("bl_merge_cells", *[POINTER, INTEGER] * 3)
_changes = Function(
    "bl_changes", *[POINTER, INTEGER] * 3, POINTER, INTEGER, INTEGER, POINTER
)
_predictive_scores = Function(
    "bl_predictive_scores",
    *[*STATES, *RUNS, POINTER, POINTER, *[INTEGER] * 3, FLAG, POINTER],
)
_add_gains = Function(
    "bl_add_gains",
    *[*STATES, POINTER, INTEGER, POINTER, *[INTEGER] * 3, POINTER],
)


def merge_cells(counts: Counts, padded: Places, merged: Counts) -> None:
    """Add counts of cells to those of a latent variable.

    Parameters
    ----------
    counts : ndarray of shape (n_runs, n_left_codes, n_right_codes), dtype float64
        Weight of each joint state.
    padded : ndarray of shape (n_left_codes, n_right_codes), dtype int64
        State of the latent variable in each; cells of one that is unknown are left out.
    merged : ndarray of shape (n_runs, n_states), dtype float64
        Where to add.
    """
    n_runs, n_states = merged.shape
    n_left, n_right = padded.shape
    _merge_cells(
        readable(counts, F8, (n_runs, n_left, n_right)),
        n_runs,
        readable(padded, I8, (n_left, n_right)),
        n_left * n_right,
        writable(merged, F8, (n_runs, n_states)),
        n_states,
    )


def changes(
    left: Counts, right: Counts, joined: Counts, padded: Places, gains: Counts
) -> None:
    """Compute what log scores gain when a latent variable takes two nodes' place.

    Parameters
    ----------
    left, right, joined : ndarray of shape (n_folds, n_codes, n_classes), dtype float64
        Log tables of the two nodes and the latent variable.
    padded : ndarray of shape (n_left_codes, n_right_codes), dtype int64
        Code of the latent variable in each cell.
    gains : ndarray of shape (n_folds, n_left_codes, n_right_codes, n_classes)
        Filled, float64.

    Raises
    ------
    ValueError
        If a code is beyond the latent variable's table.
    """
    n_folds, n_states, n_classes = joined.shape
    n_left, n_right = padded.shape
    _changes(
        readable(left, F8, (n_folds, n_left, n_classes)),
        n_left,
        readable(right, F8, (n_folds, n_right, n_classes)),
        n_right,
        readable(joined, F8, (n_folds, n_states, n_classes)),
        n_states,
        readable(padded, I8, (n_left, n_right)),
        n_folds,
        n_classes,
        writable(gains, F8, (n_folds, n_left, n_right, n_classes)),
    )


def predictive_scores(
    rows: PackedRuns,
    left: int,
    right: int,
    scores: Counts,
    gains: Counts,
    wants_likelihood: bool,
) -> tuple[float, float]:
    """Measure how well the classes of rows are predicted after a change.

    Parameters
    ----------
    rows : PackedRuns
        The rows; their runs tell fold and class.
    left, right : int
        Nodes that tell which gain is a row's.
    scores : ndarray of shape (n_rows, n_classes), dtype float64
        Log scores before the change.
    gains : ndarray of shape (n_folds, n_left_codes, n_right_codes, n_classes)
        What each fold, code of the nodes and class adds, float64.
    wants_likelihood : bool
        Whether the log-likelihood is asked for.

    Returns
    -------
    correct : float
        Weight of the rows whose class is predicted, the first of equally probable ones.
    log_likelihood : float
        Sum of ln P(class | row), nats; zero unless asked for.
    """
    packed, n_classes = rows.packed, gains.shape[-1]
    n_left, n_right = packed.n_codes[left], packed.n_codes[right]
    places, found = packed.places, np.empty(2)
    n_folds = rows.n_folds(n_classes)
    _predictive_scores(
        places[left],
        places[right],
        n_right,
        *rows.head,
        readable(scores, F8, (rows.packed.n_rows, n_classes)),
        readable(gains, F8, (n_folds, n_left, n_right, n_classes)),
        n_folds,
        n_left * n_right,
        n_classes,
        wants_likelihood,
        found.ctypes.data,
    )
    correct, likelihood = found.tolist()
    return correct, likelihood


def add_gains(
    rows: PackedRuns, left: int, right: int, gains: Counts, scores: Counts
) -> None:
    """Add what each row gains by a change to its log scores.

    Parameters
    ----------
    rows, left, right, gains
        See `predictive_scores`.
    scores : ndarray of shape (n_rows, n_classes), dtype float64
        Changed.
    """
    packed, n_classes = rows.packed, gains.shape[-1]
    n_left, n_right = packed.n_codes[left], packed.n_codes[right]
    places, n_folds = packed.places, rows.n_folds(n_classes)
    _add_gains(
        places[left],
        places[right],
        n_right,
        *rows.head[:2],
        readable(gains, F8, (n_folds, n_left, n_right, n_classes)),
        n_folds,
        n_left * n_right,
        n_classes,
        writable(scores, F8, (rows.packed.n_rows, n_classes)),
    )
