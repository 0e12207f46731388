"""How far a mixture has got: on standard error and to scikit-learn's callbacks."""

from __future__ import annotations

import sys
from typing import Any


class Reports:
    """What the passes or steps of one start report, kept and passed on.

    Each becomes a finished task below the fit, whose metadata are the start, the
    number, and the figure by its name. From ``verbose=2`` on it is printed as well.

    Parameters
    ----------
    estimator : HierarchicalMixtureNBClassifier
        The classifier that learns, within its fit.
    start : int
        Which of its starts, from 0 on.
    figure : str
        Name of the figure reported.
    """

    def __init__(self, estimator: Any, start: int, figure: str) -> None:
        self.values: list[float] = []
        self._estimator, self._start, self._figure = estimator, start, figure

    def __call__(self, number: int, value: float) -> None:
        """Take the figure of one pass or step, numbered from 1 on."""
        self.values.append(value)
        facts = {"start": self._start, "number": number, self._figure: value}
        # Starts may run side by side, so their tasks have names of their own.
        self._estimator._tell_of_pass((self._start, number), facts)
        if self._estimator.verbose > 1:
            print(
                f"start {self._start + 1}, pass {number}: "
                f"{self._figure.replace('_', ' ')} {value:.6g}",
                file=sys.stderr,
            )
