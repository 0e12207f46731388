"""A check that tables in model files hold distributions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.given_tables import SUM_TOLERANCE
from bayleaf.io.fields import ModelFileError


def check_distributions(table: NDArray[np.float64], what: str) -> None:
    """Raise unless a table holds distributions along its last axis."""
    if (table < 0).any():
        raise ModelFileError(f"{what} holds a negative probability")
    if table.size and (np.abs(table.sum(axis=-1) - 1.0) > SUM_TOLERANCE).any():
        raise ModelFileError(f"{what} holds probabilities that do not sum to 1")
