"""The joint posterior of several variables, as a table with names."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable
from bayleaf.inference.events.events import Event, read_event, truth_table
from bayleaf.inference.evidence import (
    ImpossibleEvidenceError,
    as_mapping,
    read_evidence,
)
from bayleaf.inference.posteriors import Posterior
from bayleaf.inference.states import distinct_labels, find_variables, known_states
from bayleaf.results.html import Bar, bars_html, picture_html
from bayleaf.wording import counted, name_list, shown_name, visible

Name = str | int
# Lines of a representation, and of a text.
_BRIEF, _LONG = 12, 200


@dataclass(frozen=True, eq=False)
class JointPosterior:
    """Distribution of several variables together, given what is known.

    Parameters
    ----------
    variables : tuple of Variable
        The variables, in the order of the axes.
    probabilities : ndarray of shape (cards of the variables), dtype float64
        Probability of each joint state, read-only.
    log_evidence : float, default=0.0
        Natural logarithm of P(what is known).

    Examples
    --------
    >>> from bayleaf.data.domain import Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> wet = Variable("wet", ("no", "yes"))
    >>> joint = JointPosterior((rain, wet), np.array([[0.5, 0.25], [0.0, 0.25]]))
    >>> joint["yes", "yes"]
    0.25
    >>> joint.given(wet="yes").marginal("rain")["yes"]
    0.5
    >>> joint
    rain  wet  probability
    no    no      0.500000
    no    yes     0.250000
    yes   no      0.000000
    yes   yes     0.250000
    """

    variables: tuple[Variable, ...]
    probabilities: NDArray[np.float64]
    log_evidence: float = 0.0

    def __post_init__(self) -> None:
        self.probabilities.setflags(write=False)

    @property
    def names(self) -> tuple[Name, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return self.probabilities.shape

    @property
    def most_probable(self) -> dict[Name, Hashable]:
        """The joint state of largest probability, the first of those that tie."""
        best = np.unravel_index(int(np.argmax(self.probabilities)), self.shape)
        pairs = zip(self.variables, best, strict=True)
        return {variable.name: variable.states[int(code)] for variable, code in pairs}

    def __getitem__(self, states: Any) -> float:
        """Probability of a joint state, its states in the order of the variables.

        A node of a hierarchy means all states under it. ValueError if the number of
        states is wrong, or one does not exist.
        """
        several = states if isinstance(states, tuple) else (states,)
        if len(several) != len(self.variables):
            raise ValueError(
                f"give one state for each of {name_list(self.names)}, got "
                f"{counted(len(several), 'state')}"
            )
        codes = map(known_states, self.variables, several)
        return float(self.probabilities[np.ix_(*codes)].sum())

    def __len__(self) -> int:
        return self.probabilities.size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.probabilities, dtype=dtype)

    def marginal(self, names: Name | Sequence[Name]) -> Any:
        """Sum other variables out.

        Parameters
        ----------
        names : name or sequence of names
            Variables to keep.

        Returns
        -------
        Posterior or JointPosterior
            The first for one name, the second for a sequence.

        Raises
        ------
        ValueError
            If the table is not about a variable.
        """
        kept = find_variables(self._domain, names)
        others = tuple(axis for axis in range(len(self.shape)) if axis not in kept)
        order = [sorted(kept).index(axis) for axis in kept]
        table = self.probabilities.sum(axis=others).transpose(order)
        if isinstance(names, str | int):
            return Posterior(self.variables[kept[0]], table)
        variables = tuple(self.variables[axis] for axis in kept)
        return JointPosterior(variables, table, self.log_evidence)

    def given(
        self, known: Mapping[Any, Any] | None = None, /, **states: Any
    ) -> JointPosterior:
        """Condition on more.

        Parameters
        ----------
        known : mapping, optional
            What is known, as in evidence.
        **states
            The same by keyword, for names that can be written so.

        Returns
        -------
        JointPosterior
            Over the variables of which more than one state is left.

        Raises
        ------
        ImpossibleEvidenceError
            If what is known has probability zero.
        """
        given = {} if known is None else as_mapping(known)
        evidence = read_evidence(self._domain, {**given, **states})
        table = self.probabilities
        for item in evidence.items:
            shape = [1] * table.ndim
            shape[item.variable] = -1
            table = table * item.likelihood.reshape(shape)
        total = float(table.sum())
        if not total > 0:
            texts = " and ".join(item.text for item in evidence.items)
            names = tuple(item.about.name for item in evidence.items)
            raise ImpossibleEvidenceError(f"{texts} has probability 0", names)
        index: list[Any] = [slice(None)] * table.ndim
        for variable, state in evidence.hard.items():
            index[variable] = state
        left = [v for v in range(table.ndim) if v not in evidence.hard]
        return JointPosterior(
            tuple(self.variables[v] for v in left),
            np.asarray(table[tuple(index)] / total),
            self.log_evidence + float(np.log(total)),
        )

    def probability(self, event: str | Mapping[Any, Any]) -> float:
        """Probability of an event, written as `BayesianNetwork.probability` takes it.

        Raises
        ------
        ValueError
            If the event is no expression, or about other variables.
        """
        found: Event = read_event(self._domain, event)
        happens = np.broadcast_to(truth_table(found, self.shape), self.shape)
        return float(min(1.0, self.probabilities[happens].sum()))

    def to_dict(self) -> dict[tuple[str, ...], float]:
        """Probability of each joint state, by the labels of its states."""
        return dict(self._cells())

    def to_arrow(self) -> pa.Table:
        """A row a joint state: a column a variable, and ``probability``."""
        cells = list(self._cells())
        columns = [
            pa.array([labels[axis] for labels, _ in cells], pa.string())
            for axis in range(len(self.variables))
        ]
        columns.append(pa.array([p for _, p in cells], pa.float64()))
        return pa.table(columns, names=[*map(str, self.names), "probability"])

    def to_pandas(self) -> Any:
        """The same rows as a data frame of pandas."""
        return self.to_arrow().to_pandas()

    @property
    def _domain(self) -> Domain:
        """The variables as a domain of their own."""
        return Domain(self.variables)

    def _cells(self) -> Iterator[tuple[tuple[str, ...], float]]:
        """Labels and probability of each joint state, the last variable fastest."""
        labels = [distinct_labels(variable) for variable in self.variables]
        for index in np.ndindex(self.shape):
            named = tuple(own[code] for own, code in zip(labels, index, strict=True))
            yield named, float(self.probabilities[index])

    def _text(self, most: int) -> str:
        """An aligned table of at most so many lines."""
        shown = list(islice(self._cells(), most))
        lines = [[*map(shown_name, self.names), "probability"]]
        lines += [[*map(visible, labels), f"{p:.6f}"] for labels, p in shown]
        columns = list(zip(*lines, strict=True))
        widths = [max(map(len, column)) for column in columns]
        texts = []
        for *states, number in lines:
            cells = [f"{s:<{w}}  " for s, w in zip(states, widths, strict=False)]
            texts.append("".join(cells) + number.rjust(widths[-1]))
        more = len(self) - len(shown)
        if more:
            texts.append(f"and {counted(more, 'joint state')} more")
        return "\n".join(texts)

    def __str__(self) -> str:
        return self._text(_LONG)

    def __repr__(self) -> str:
        return self._text(_BRIEF)

    def _repr_html_(self) -> str:
        bars = [
            Bar(", ".join(labels), p, f"{p:.4f}")
            for labels, p in islice(self._cells(), _LONG)
        ]
        title = ", ".join(map(str, self.names))
        return picture_html(bars_html(title, bars, whole=1.0))
