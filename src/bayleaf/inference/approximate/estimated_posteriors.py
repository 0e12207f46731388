"""Estimated posteriors with their standard errors, and the options of sampling."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayleaf.inference.posteriors import Posterior, Posteriors
from bayleaf.wording import (
    brief,
    counted,
    format_number,
    name_list,
    quoted,
    shown_name,
    visible,
)

Method = Literal["exact", "auto", "approximate"]


class ApproximationWarning(UserWarning):
    """An estimate is less sure than was asked for, or its errors cannot be trusted."""


@dataclass(frozen=True)
class Sampling:
    """Sampling options as of `Inference.query`; ValueError if one is out of range."""

    method: Method
    tolerance: float  # standard error at which samples end
    max_samples: int  # at which they end in any case
    random_state: Any

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            methods = name_list([quoted(method) for method in get_args(Method)])
            raise ValueError(
                f"method must be one of {methods}, got {quoted(self.method)}"
            )
        is_number = isinstance(self.tolerance, numbers.Real)
        if not is_number or not 0 < self.tolerance < math.inf:
            raise ValueError(
                f"tolerance must be a number above 0, got {quoted(self.tolerance)}; it "
                "is the largest standard error of a probability"
            )
        whole = isinstance(self.max_samples, numbers.Integral)
        if not whole or isinstance(self.max_samples, bool) or self.max_samples < 1:
            raise ValueError(
                "max_samples must be an integer of at least 1, got "
                f"{quoted(self.max_samples)}"
            )


@dataclass(frozen=True, eq=False)
class EstimatedPosterior(Posterior):
    """Estimated distribution of one variable given evidence.

    Parameters
    ----------
    variable : Variable
        The variable.
    probabilities : ndarray of shape (card,), dtype float64
        Estimated probability of each state, read-only.
    standard_errors : ndarray of shape (card,), dtype float64
        Standard error of each of them, read-only; never below what one sample weighs,
        because a state that was not drawn need not be impossible.
    effective_sample_size : float
        Number of draws from the exact posterior whose frequencies would be as close.
    """

    standard_errors: NDArray[np.float64]
    effective_sample_size: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self.standard_errors.setflags(write=False)

    def _written(self, digits: int) -> list[str]:
        pairs = zip(self.probabilities, self.standard_errors, strict=True)
        return [f"{p:.4f} ± {error:.4f}" for p, error in pairs]

    def __repr__(self) -> str:
        best = int(np.argmax(self.probabilities))
        error = self.standard_errors[best]
        label = visible(self.variable.label(best))
        name = shown_name(self.variable.name)
        return brief(
            self,
            f"{name} = {label} ({self.probabilities[best]:.3f} ± {error:.3f})",
            counted(len(self), "state"),
        )


class EstimatedPosteriors(Posteriors):
    """Estimated posterior distributions by the names of their variables.

    Parameters
    ----------
    posteriors : mapping from name to EstimatedPosterior
        The distributions, in the order in which they are shown.
    log_evidence : float
        Estimate of ln P(evidence).
    log_evidence_error : float
        Its standard error.
    n_samples : int
        Number of samples.
    n_effective : float
        Number of samples of equal weight that would be worth as much (Kong 1992).
    pareto_k : float
        Shape of the tail of the samples' weights; above 0.7 standard errors are too
        small.
    """

    is_exact = False

    def __init__(
        self,
        posteriors: Mapping[str | int, EstimatedPosterior],
        log_evidence: float,
        log_evidence_error: float,
        n_samples: int,
        n_effective: float,
        pareto_k: float,
    ) -> None:
        super().__init__(posteriors, log_evidence)
        self._estimated = posteriors
        self.log_evidence_error = log_evidence_error
        self.n_samples = n_samples
        self.n_effective = n_effective
        self.pareto_k = pareto_k

    def __reduce__(self) -> tuple[Any, ...]:
        return EstimatedPosteriors, (
            dict(self._estimated),
            self.log_evidence,
            self.log_evidence_error,
            self.n_samples,
            self.n_effective,
            self.pareto_k,
        )

    @property
    def standard_errors(self) -> dict[str | int, NDArray[np.float64]]:
        """Standard error of each state's probability, by name of the variable."""
        return {name: p.standard_errors for name, p in self._estimated.items()}

    @property
    def effective_sample_size(self) -> dict[str | int, float]:
        """Exact draws that each posterior is worth, by name of the variable."""
        return {name: p.effective_sample_size for name, p in self._estimated.items()}

    @property
    def worth(self) -> str:
        """The size of the sample in words."""
        return (
            f"estimated from {self.n_samples} weighted samples, worth "
            f"{self.n_effective:.4g} equal ones"
        )

    def _repr_html_(self) -> str:
        return super()._repr_html_() + f"<p>{self.worth}</p>"

    def __str__(self) -> str:
        parts = [str(posterior) for posterior in self.values()]
        if self.log_evidence != 0.0:
            error = f"{self.log_evidence_error:.2g}"
            known = format_number(self.log_evidence)
            parts.append(f"ln P(evidence) = {known} ± {error}")
        return "\n".join([*parts, self.worth])

    def __repr__(self) -> str:
        return brief(self, counted(len(self), "posterior"), self.worth)
