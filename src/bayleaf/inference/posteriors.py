"""Posterior distributions of variables, as mappings that print themselves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable
from bayleaf.data.state_numbers import mean_number, number_quantiles
from bayleaf.inference.states import distinct_labels, known_states
from bayleaf.results.document import Document, Figure
from bayleaf.results.drawings import network_html
from bayleaf.results.html import Bar, bars_html, html_of, picture_html
from bayleaf.results.result import Shown
from bayleaf.wording import (
    brief,
    counted,
    format_number,
    near_names,
    plain,
    quoted,
    shown_name,
    stated,
    visible,
)

Floats = NDArray[np.float64]

_BAR = 30
# Posteriors that a representation shows.
_SHOWN = 3
# Variables whose tables a notebook shows.
_TABLES = 20
# Variables that a graph with bars has room for.
_DRAWN = 100


@dataclass(frozen=True, eq=False)
class Posterior:
    """Distribution of one variable given evidence.

    Parameters
    ----------
    variable : Variable
        The variable.
    probabilities : ndarray of shape (card,), dtype float64
        Probability of each state, read-only.

    Examples
    --------
    >>> from bayleaf.data.domain import Domain, Variable
    >>> rain = Posterior(Variable("rain", ("no", "yes")), np.array([0.75, 0.25]))
    >>> rain["yes"]
    0.25
    >>> rain.most_probable
    'no'
    """

    variable: Variable
    probabilities: Floats

    def __post_init__(self) -> None:
        self.probabilities.setflags(write=False)

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The states, in order."""
        return self.variable.states

    @property
    def most_probable(self) -> Hashable:
        """The state of largest probability, the first of those that tie."""
        return self.states[int(np.argmax(self.probabilities))]

    @property
    def entropy(self) -> float:
        """Entropy in nats."""
        positive = self.probabilities[self.probabilities > 0]
        return float(max(0.0, -(positive * np.log(positive)).sum()))

    def mean(self) -> float:
        """Expected value of a variable whose states are numbers, or intervals of them.

        Inside an interval it is the mean of the training numbers there.

        Raises
        ------
        ValueError
            If states are no numbers, or the numbers inside intervals are not known.
        """
        return mean_number(self.variable, self.probabilities)

    def quantiles(self, shares: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Numbers below which some shares of the distribution lie; see `mean`."""
        return number_quantiles(self.variable, self.probabilities, shares)

    def __getitem__(self, state: Any) -> float:
        """Probability of a state, or of all states under a node of the hierarchy."""
        return float(self.probabilities[list(known_states(self.variable, state))].sum())

    def __len__(self) -> int:
        return len(self.probabilities)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.probabilities, dtype=dtype)

    def to_dict(self) -> dict[str, float]:
        """Probability of each state by its label, all labels different."""
        labels = distinct_labels(self.variable)
        return dict(zip(labels, self.probabilities.tolist(), strict=True))

    def __repr__(self) -> str:
        return brief(self, _likeliest(self), counted(len(self), "state"))

    def _repr_html_(self) -> str:
        return picture_html(self._table_html())

    def _table_html(self) -> str:
        """A bar a state."""
        rows = zip(self.to_dict().items(), self._written(4), strict=True)
        bars = [Bar(label, p, text) for (label, p), text in rows]
        return bars_html(self.variable.name, bars, whole=1.0)

    def _written(self, digits: int) -> list[str]:
        """The probabilities as text."""
        return [f"{p:.{digits}f}" for p in self.probabilities]

    def __str__(self) -> str:
        labels = [visible(label) for label in self.to_dict()]
        width = max(map(len, labels))
        lines = [shown_name(self.variable.name)]
        rows = zip(labels, self.probabilities, self._written(6), strict=True)
        for label, probability, text in rows:
            bar = "#" * round(_BAR * probability)
            lines.append(f"  {label:<{width}}  {text}  {bar}".rstrip())
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Answers(Mapping[str | int, Posterior]):
    """Posteriors by name, each made when it is first looked at."""

    domain: Domain
    wanted: Sequence[int]
    marginal: Callable[[int], Floats]  # probabilities of a variable by its index
    made: dict[str | int, Posterior] = field(default_factory=dict)

    def __getitem__(self, name: str | int) -> Posterior:
        if name not in self.made:
            position = self.domain.index(name)
            if position not in self.wanted:
                raise KeyError(name)
            variable = self.domain[position]
            self.made[name] = Posterior(variable, self.marginal(position))
        return self.made[name]

    def __iter__(self) -> Iterator[str | int]:
        return (self.domain[position].name for position in self.wanted)

    def __len__(self) -> int:
        return len(self.wanted)


@dataclass(frozen=True)
class QueriedGraph(Shown):
    """The graph on which posteriors are drawn: all variables, arcs, what is known."""

    names: tuple[str | int, ...]
    arcs: tuple[tuple[int, int], ...]
    known: frozenset[int]  # variables whose state is given

    def __repr__(self) -> str:
        n_variables = counted(len(self.names), "variable")
        return brief(self, n_variables, counted(len(self.arcs), "arc"))


class Posteriors(Mapping[str | int, Posterior]):
    """Posterior distributions by the names of their variables.

    Parameters
    ----------
    posteriors : mapping from name to Posterior
        The distributions, in the order in which they are shown.
    log_evidence : float
        Natural logarithm of P(evidence).

    Attributes
    ----------
    is_exact : bool
        Whether these are no estimates.
    log_evidence_error : float
        Standard error of `log_evidence`.
    """

    is_exact = True
    log_evidence_error = 0.0
    # Set by what answers the query.
    graph: QueriedGraph | None = None

    def __init__(
        self, posteriors: Mapping[str | int, Posterior], log_evidence: float
    ) -> None:
        self._posteriors = posteriors
        self.log_evidence = log_evidence

    @property
    def worth(self) -> str:
        """The size of the sample in words, or that none was drawn."""
        return "computed without sampling"

    def __reduce__(self) -> tuple[Any, ...]:
        # The numbers alone, not the network that they come from.
        arguments = dict(self._posteriors), self.log_evidence
        return Posteriors, arguments, {"graph": self.graph}

    def __getitem__(self, name: str | int) -> Posterior:
        try:
            return self._posteriors[name]
        except KeyError:
            near = near_names(str(name), map(str, self._posteriors))
            raise KeyError(
                f"no posterior of {quoted(name)} was asked for; {near}"
            ) from None

    @property
    def standard_errors(self) -> dict[str | int, Floats]:
        """Standard error of each state's probability, by name: 0 if exact."""
        return {name: np.zeros(len(posterior)) for name, posterior in self.items()}

    def mean(self, name: str | int) -> float:
        """Expected value of a variable; see `Posterior.mean`."""
        return self[name].mean()

    def quantiles(self, name: str | int, shares: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of a variable; see `Posterior.quantiles`."""
        return self[name].quantiles(shares)

    def __iter__(self) -> Iterator[str | int]:
        return iter(self._posteriors)

    def __len__(self) -> int:
        return len(self._posteriors)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Plain nested dicts: probability by name and by label of the state."""
        # Names written alike, such as 1 and "1", would hide each other.
        texts = {str(name) for name in self}
        text = str if len(texts) == len(self) else repr
        return {text(name): posterior.to_dict() for name, posterior in self.items()}

    def _repr_html_(self) -> str:
        shown = [
            posterior._table_html() for posterior in islice(self.values(), _TABLES)
        ]
        more = len(self) - len(shown)
        tables = [*shown, f"<p>and {more} more variables</p>" * (more > 0)]
        drawing = self._drawing()
        if not drawing:
            return picture_html(*tables)
        folded = Document("Probabilities", [Figure("".join(tables))])
        return html_of(Document("", [Figure(drawing), folded]))

    def _drawing(self) -> str:
        """The graph with a bar for each state; empty where it is not known or large."""
        graph = self.graph
        if graph is None or len(graph.names) > _DRAWN:
            return ""
        bars = {
            index: [*zip(p.to_dict(), p.probabilities.tolist(), strict=True)]
            for index, name in enumerate(graph.names)
            if name in self._posteriors
            for p in [self[name]]
        }
        kinds = [
            "known" if i in graph.known else "feature" for i in range(len(graph.names))
        ]
        arcs = [(parent, child, None) for parent, child in graph.arcs]
        note = "thick frames: what is given" if graph.known else ""
        return network_html(graph.names, kinds, arcs, note, bars)

    def __str__(self) -> str:
        parts = [str(posterior) for posterior in self.values()]
        if self.log_evidence != 0.0:
            parts.append(f"ln P(evidence) = {format_number(self.log_evidence)}")
        return "\n".join(parts)

    def __repr__(self) -> str:
        # Posteriors are made when they are looked at, so no more than are shown.
        first = [_likeliest(self[name]) for name in islice(self, _SHOWN)]
        hidden = len(self) - len(first)
        more = f" and {hidden} more" if hidden else ""
        return brief(self, ", ".join(first) + more)


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

    standard_errors: Floats
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
        return (
            EstimatedPosteriors,
            (
                dict(self._estimated),
                self.log_evidence,
                self.log_evidence_error,
                self.n_samples,
                self.n_effective,
                self.pareto_k,
            ),
            {"graph": self.graph},
        )

    @property
    def standard_errors(self) -> dict[str | int, Floats]:
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
            f"{self.n_effective:.0f} equal ones"
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


def _likeliest(posterior: Posterior) -> str:
    """The most probable state of a variable."""
    best = int(np.argmax(posterior.probabilities))
    fact = stated(posterior.variable.name, posterior.variable.label(best))
    return f"{plain(fact, 80)} ({posterior.probabilities[best]:.3f})"
