"""A numeric target checked, and cut into intervals at its quantiles."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.parameters import numbers_of
from bayleaf.classifiers.shared.training import one_dimensional
from bayleaf.data.interval_numbers import IntervalNumbers
from bayleaf.data.tables.frames import column_names

Floats = NDArray[np.float64]


class TargetIntervals(NamedTuple):
    """Intervals of a target, and the training numbers in them."""

    cut_points: tuple[float, ...]
    numbers: IntervalNumbers

    @classmethod
    def of_target(
        cls, target: Floats, weights: Floats, n_intervals: int
    ) -> TargetIntervals:
        """Cut a target into at most `n_intervals` intervals of about the same weight.

        Equal numbers share one, so that there may be fewer. `target` (n_rows,) is
        finite, `weights` (n_rows,) are above zero.
        """
        values, places = np.unique(target, return_inverse=True)
        totals = np.bincount(places, weights).astype(np.float64)
        shares = np.cumsum(totals) / totals.sum()
        wanted = np.arange(1, n_intervals) / n_intervals
        # What rounding takes from a share must not move a cut to the next number.
        cuts = np.unique(np.searchsorted(shares, wanted - 1e-12))
        points = values[cuts[cuts < len(values) - 1]]
        numbers = IntervalNumbers.of_column(values, totals, points.tolist())
        return cls(tuple(points.tolist()), numbers)

    def of(self, target: Floats) -> NDArray[np.intp]:
        """The interval of each number; a cut point belongs to the one below it."""
        return np.searchsorted(self.cut_points, target, side="left")

    @property
    def names(self) -> tuple[str, ...]:
        """What the intervals are called."""
        cuts = [f"{cut:.6g}" for cut in self.cut_points]
        if len(set(cuts)) < len(cuts):
            cuts = [repr(cut) for cut in self.cut_points]
        if not cuts:
            return ("all",)
        inner = [f"above {a} to {b}" for a, b in pairwise(cuts)]
        return (f"up to {cuts[0]}", *inner, f"above {cuts[-1]}")


def checked_target(y: Any, n_rows: int) -> Floats:
    """A target as finite float64 numbers.

    ValueError if it does not fit the table, or contains anything but finite numbers.
    """
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None; give one number a row"
        )
    found = numbers_of("y", one_dimensional(y))
    if len(found) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: the table "
            f"has {n_rows} rows, the target {len(found)}; give one number a row"
        )
    if not np.isfinite(found).all():
        raise ValueError("y holds NaN or infinity; give finite numbers")
    return found


def target_name(X: Any, y: Any) -> str:
    """What the target is called, unlike any feature."""
    name = getattr(y, "name", None)
    name = name if isinstance(name, str) and name else "target"
    taken = set(column_names(X) or ())
    while name in taken:
        name += "_"
    return name
