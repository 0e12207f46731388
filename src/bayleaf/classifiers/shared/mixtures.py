"""What hierarchical mixtures share: checks of parameters, and reports of passes."""

from __future__ import annotations

import numbers
import sys
from typing import Any

from bayleaf.classifiers.shared.parameters import (
    AUTO,
    check_choice,
    check_count,
    check_flag,
    check_threshold,
)
from bayleaf.latent.mixture_experts import check_expert
from bayleaf.wording import quoted

LEARNING = ONLINE, BATCH = ("online", "batch")
DENOMINATORS = ("rows_with_value", "all_rows")
# Beyond this an expert that is wrong would be worth nothing at all.
_MOST_SIGMA = 500.0


def check_mixture(estimator: Any) -> None:
    """Raise if a parameter of a mixture is out of range.

    ValueError or TypeError names the parameter, its value and what is allowed.
    """
    if not is_to_grow(estimator.architecture):
        checked_architecture(estimator.architecture)
    check_choice("learning", estimator.learning, LEARNING)
    if estimator.expert is not None:
        check_expert(estimator.expert)
        if estimator.learning != BATCH:
            raise ValueError(
                f"learning={quoted(estimator.learning)} changes counters row by row, "
                "which an expert of another kind has none of; take "
                f"learning={quoted(BATCH)}"
            )
    check_count("n_mixtures", estimator.n_mixtures, 1)
    check_count("n_passes", estimator.n_passes, 1)
    for name in ("sigma", "gamma", "noise"):
        check_threshold(name, getattr(estimator, name), none_too=False)
    if estimator.sigma > _MOST_SIGMA:
        raise ValueError(
            f"sigma must be at most {_MOST_SIGMA:g}, got {quoted(estimator.sigma)}"
        )
    if estimator.gamma == 0:
        raise ValueError("gamma must be above 0, so that no probability is zero")
    check_choice("missing_denominator", estimator.missing_denominator, DENOMINATORS)
    check_flag("deduplicate_rows", estimator.deduplicate_rows)


def is_to_grow(architecture: Any) -> bool:
    """Whether an architecture is to be found."""
    return isinstance(architecture, str) and architecture == AUTO


def checked_architecture(architecture: Any) -> tuple[int, ...]:
    """An architecture as a tuple of integers.

    TypeError if it is not a sequence of these; ValueError if a gate has no child.
    """
    refusal = (
        "architecture must be a tuple of integers >= 1, the number of children of the "
        f"gates of each level such as (2, 2), or 'auto', got {quoted(architecture)}"
    )
    if not isinstance(architecture, tuple | list):
        raise TypeError(refusal)
    for width in architecture:
        if not isinstance(width, numbers.Integral) or isinstance(width, bool):
            raise TypeError(refusal)
        if width < 1:
            raise ValueError(refusal)
    return tuple(int(width) for width in architecture)


class Reports:
    """What the passes or steps of one start report, kept and passed on.

    Each becomes a finished task below the fit, whose metadata are the start, from 0 on,
    the number, and the figure by its name. From ``verbose=2`` on it is printed as well.
    """

    def __init__(self, estimator: Any, start: int, figure: str) -> None:
        self.values: list[float] = []
        self._estimator, self._start, self._figure = estimator, start, figure

    def __call__(self, number: int, value: float) -> None:
        """Take the figure of one pass or step, numbered from 1 on."""
        self.values.append(value)
        facts = {"start": self._start, "number": number, self._figure: value}
        # Starts may run side by side, so their tasks have names of their own.
        self._estimator._on_iteration((self._start, number), facts)
        if self._estimator.verbose > 1:
            print(
                f"start {self._start + 1}, pass {number}: "
                f"{self._figure.replace('_', ' ')} {value:.6g}",
                file=sys.stderr,
            )
