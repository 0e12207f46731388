"""Solutions of influence diagrams: expected utility, policies, what moves them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.decisions.limited_memory import ROUNDING
from bayleaf.inference.states import distinct_labels, known_state
from bayleaf.results.document import Document, Facts, Name, Part, Table, Text
from bayleaf.results.result import Result
from bayleaf.typing import ByName, JSONObject
from bayleaf.wording import format_number, name_list, near_names, quoted, shown_name

Floats = NDArray[np.float64]
_MAX_ROWS = 40


@dataclass(frozen=True, eq=False, repr=False)
class Policy(Result):
    """What to choose in one decision, by what is observed before it.

    Parameters
    ----------
    decision : Variable
        The decision and its options.
    observed : tuple of Variable
        What of the observed bears on the decision.
    ignored : tuple of str or int
        Names of what is observed as well, and makes no difference.
    expected : ndarray of shape (observed cards, ..., n_options)
        Expected sum of the utilities that the decision influences, under the best
        policies of the others; NaN where what is observed is impossible.
    probabilities : ndarray of shape (observed cards, ...)
        How probable each observation is if all policies are followed.
    choices : ndarray of shape (observed cards, ...)
        Index of the best option; of equal ones the first.
    """

    decision: Variable
    observed: tuple[Variable, ...]
    ignored: tuple[str | int, ...]
    expected: Floats
    probabilities: Floats
    choices: NDArray[np.intp]

    @cached_property
    def gains(self) -> Floats:
        """What the best option gains over the second best, by what is observed."""
        if self.decision.n_states == 1:
            return np.zeros(self.choices.shape)
        ordered = np.sort(self.expected, axis=-1)
        gains: Floats = ordered[..., -1] - ordered[..., -2]
        return gains

    @property
    def worth(self) -> dict[str | int, float]:
        """Expected utility that would be lost by not seeing each observed variable.

        The other policies stay as they are.
        """
        joint = np.nan_to_num(self.expected) * self.probabilities[..., None]
        best = joint.max(axis=-1).sum()
        return {
            variable.name: float(best - joint.sum(axis=axis).max(axis=-1).sum())
            for axis, variable in enumerate(self.observed)
        }

    def choice(self, observations: ByName[object] | None = None) -> Hashable:
        """The best option.

        Parameters
        ----------
        observations : mapping of name to state, optional
            At least all of `observed`.

        Raises
        ------
        ValueError
            If an observation that matters is missing, or a name or state is unknown.
        """
        code = int(self.choices[self._cell(observations)])
        return self.decision.states[code]

    def explain(self, observations: ByName[object] | None = None) -> str:
        """The best option in words, such as ``treat: +3.2; most by fever``.

        The number is the gain in expected utility over the second-best option, and the
        variable the one whose observation raises that gain most, compared with its mean
        over the variable's states.

        Parameters
        ----------
        observations : mapping of name to state, optional
            At least all of `observed`.

        Returns
        -------
        str
        """
        cell = self._cell(observations)
        if np.isnan(self.gains[cell]):
            return "impossible"
        variable = self._moved_most_by(cell)
        most = "" if variable is None else f"; most by {shown_name(variable.name)}"
        return f"{self._best_text(cell)}: +{format_number(self.gains[cell])}{most}"

    def to_dict(self) -> JSONObject:
        """The policy as plain values, one row per observation that occurs."""
        options = distinct_labels(self.decision)
        rows = []
        for cell in self._cells():
            most = self._moved_most_by(cell)
            rows.append(
                {
                    "observed": {
                        str(variable.name): distinct_labels(variable)[code]
                        for variable, code in zip(self.observed, cell, strict=True)
                    },
                    "choice": options[self.choices[cell]],
                    "gain": float(self.gains[cell]),
                    "most_by": None if most is None else str(most.name),
                    "expected_utility": dict(
                        zip(options, self.expected[cell].tolist(), strict=True)
                    ),
                    "probability": float(self.probabilities[cell]),
                }
            )
        return {
            "decision": str(self.decision.name),
            "ignored": [str(name) for name in self.ignored],
            "worth": {str(name): value for name, value in self.worth.items()},
            "rows": rows,
        }

    def document(self) -> Document:
        """A row per observation that occurs: the choice, and what it gains."""
        parts: list[Part] = []
        cells = self._cells()
        if not self.observed:
            utility = format_number(self.expected.max())
            parts.append((Name(self.explain()), f"; utility {utility}"))
        else:
            heads = [str(variable.name) for variable in self.observed]
            heads += ["choice", "gain", "most by", "utility", "probability"]
            rows = [self._row(cell) for cell in cells[:_MAX_ROWS]]
            parts.append(Table(heads, rows, n_words=len(heads)))
        if len(cells) > _MAX_ROWS:
            parts.append(f"and {len(cells) - _MAX_ROWS:,} less probable observations")
        worth = self.worth
        if len(worth) > 1:
            items = [(str(n), f"+{format_number(v)}") for n, v in worth.items()]
            parts.append(Table(["seeing", "is worth"], items))
        if self.ignored:
            names = name_list(self.ignored)
            parts.append(f"known as well, without bearing on it: {names}")
        return Document(Name(str(self.decision.name)), parts, is_short=True)

    def _cells(self) -> list[tuple[int, ...]]:
        """Codes of observations that occur; of many the most probable first."""
        cells = np.argwhere(self.probabilities > 0)
        if len(cells) > _MAX_ROWS:
            probable = self.probabilities[tuple(cells.T)]
            cells = cells[np.argsort(-probable, kind="stable")]
        return [tuple(cell) for cell in cells.tolist()]

    def _row(self, cell: tuple[int, ...]) -> list[Text]:
        """What is shown of one observation."""
        most = self._moved_most_by(cell)
        states = [
            Name(distinct_labels(variable)[code])
            for variable, code in zip(self.observed, cell, strict=True)
        ]
        return [
            *states,
            Name(self._best_text(cell)),
            f"+{format_number(self.gains[cell])}",
            "" if most is None else Name(str(most.name)),
            format_number(self.expected[cell].max()),
            format_number(self.probabilities[cell]),
        ]

    def _cell(self, observations: ByName[object] | None) -> tuple[int, ...]:
        """Index of what is observed."""
        given = {} if observations is None else dict(observations.items())
        names = [variable.name for variable in self.observed]
        for name in given:
            if name not in (*names, *self.ignored):
                known = [str(known) for known in (*names, *self.ignored)]
                raise ValueError(
                    f"{quoted(name)} is not observed before decision "
                    f"{quoted(self.decision.name)}; {near_names(str(name), known)}"
                )
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(
                f"the policy of {quoted(self.decision.name)} depends on "
                f"{name_list(missing)}; give its state"
            )
        return tuple(known_state(v, given[v.name]) for v in self.observed)

    def _best_text(self, cell: tuple[int, ...]) -> str:
        """The best option, with all that equal it."""
        expected = self.expected[cell]
        near = ROUNDING * np.abs(expected).max()
        labels = distinct_labels(self.decision)
        best = np.flatnonzero(expected >= expected.max() - near).tolist()
        return " or ".join(shown_name(labels[code]) for code in best)

    def _moved_most_by(self, cell: tuple[int, ...]) -> Variable | None:
        """The variable whose observation raises the gain most; None if none does."""
        if not self.observed or self.decision.n_states == 1:
            return None
        best = self.choices[cell]
        others = np.delete(self.expected[cell], best)
        second = int(np.argmax(others))
        second += second >= best
        raised = []
        for axis in range(len(self.observed)):
            line: Any = (*cell[:axis], slice(None), *cell[axis + 1 :])
            gains = np.nan_to_num(
                self.expected[line][:, best] - self.expected[line][:, second]
            )
            weights = self.probabilities[line]
            average = (gains * weights).sum() / weights.sum() if weights.any() else 0.0
            raised.append(self.gains[cell] - average)
        axis = int(np.argmax(raised))
        near = ROUNDING * np.abs(self.expected[cell]).max()
        return self.observed[axis] if raised[axis] > near else None


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Result):
    """Best policies of an influence diagram and what they are worth.

    Parameters
    ----------
    expected_utility : float
        Sum over all utilities.
    utilities : dict of name to float
        Expectation of each utility.
    policies : tuple of Policy
        Of all decisions that are not fixed, earlier ones first.
    given : str
        What is known beforehand, in words.
    """

    expected_utility: float
    utilities: dict[str | int, float]
    policies: tuple[Policy, ...]
    given: str = ""

    def __getitem__(self, decision: str | int) -> Policy:
        for policy in self.policies:
            if policy.decision.name == decision:
                return policy
        names = [str(policy.decision.name) for policy in self.policies]
        raise KeyError(
            f"no policy was sought for {quoted(decision)}; "
            f"{near_names(str(decision), names)}"
        )

    def to_dict(self) -> JSONObject:
        """Everything as plain values, ready for JSON."""
        return {
            "expected_utility": self.expected_utility,
            "utilities": {str(name): value for name, value in self.utilities.items()},
            "given": self.given,
            "policies": [policy.to_dict() for policy in self.policies],
        }

    def document(self) -> Document:
        """Expected utilities, then the policies."""
        facts: list[tuple[str, Text]] = [
            (str(name), format_number(value)) for name, value in self.utilities.items()
        ]
        parts: list[Part] = [Facts(facts)] if len(facts) > 1 else []
        parts += [policy.document() for policy in self.policies]
        title = f"Expected utility {format_number(self.expected_utility)}"
        return Document(f"{title}, given {self.given}" if self.given else title, parts)
