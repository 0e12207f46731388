"""Fine intervals, which tell how large a number is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import NARROW_STATES
from bayleaf.data.cuts.cut_points import (
    distinct_values,
    equal_frequency_cut_points,
    midpoints,
)

# As many as one byte a cell tells apart, with a state for missing cells.
_MOST_INTERVALS = NARROW_STATES - 1


class FineCuts:
    """A discretiser that cuts between all values, or into as many parts as fit a byte.

    For models that take a number by its rank: the finer the intervals, the nearer.
    """

    def cut_points(
        self,
        values: NDArray[np.float64],
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64],
    ) -> tuple[float, ...]:
        """Cut points of one column; NaN marks missing cells, the classes say nothing.

        Between all distinct values if there are at most 254, otherwise at quantiles.
        """
        distinct, _ = distinct_values(values, weights)
        if len(distinct) <= _MOST_INTERVALS:
            return midpoints(distinct[:-1], distinct[1:])
        return equal_frequency_cut_points(values, weights, _MOST_INTERVALS)
