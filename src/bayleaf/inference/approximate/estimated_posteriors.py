"""Estimated posterior distributions, which say how sure they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.inference.posteriors import Posterior, Posteriors
from bayleaf.results.html import Bar, bars_html
from bayleaf.wording import brief, counted, format_number, shown_name, visible

_BAR = 30


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

    def _table_html(self) -> str:
        rows = zip(self.to_dict().items(), self.standard_errors, strict=True)
        bars = [Bar(label, p, f"{p:.4f} ± {error:.4f}") for (label, p), error in rows]
        return bars_html(self.variable.name, bars, whole=1.0)

    def __str__(self) -> str:
        labels = [visible(label) for label in self.to_dict()]
        width = max(map(len, labels))
        lines = [shown_name(self.variable.name)]
        for label, p, error in zip(
            labels, self.probabilities, self.standard_errors, strict=True
        ):
            bar = "#" * round(_BAR * p)
            lines.append(f"  {label:<{width}}  {p:.4f} ± {error:.4f}  {bar}".rstrip())
        return "\n".join(lines)

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
