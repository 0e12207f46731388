"""An effect as an object that prints itself and says what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.data.state_numbers import mean_numbers
from bayleaf.inference.causal_graph import ASSUMPTION
from bayleaf.inference.posteriors import Posterior
from bayleaf.inference.states import distinct_labels, known_state
from bayleaf.results.html import picture_html, table_html
from bayleaf.results.result import Record
from bayleaf.results.result_lists import ResultList
from bayleaf.wording import brief, quoted, shown_name, stated

Floats = NDArray[np.float64]

# Smaller probabilities in draws are taken for this one, so that ratios are numbers.
_TINY = 1e-300


@dataclass(frozen=True)
class Estimate(Record):
    """A number and, where its uncertainty is known, a credible interval.

    Parameters
    ----------
    value : float
        The number under the network as it is.
    low, high : float or None
        Ends of the central interval of the draws.
    """

    value: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:.4f}"
        return f"{self.value:.4f} in [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True)
class Contrast(Record):
    """What setting a treatment to one state changes against another.

    Parameters
    ----------
    of : str
        What is compared: the event, or the expected value.
    value, reference : hashable
        States of the treatment.
    difference : Estimate
        Of the probabilities, or of the expected values.
    ratio : Estimate or None
        The risk ratio; None if the reference has probability zero, or for expected
        values.
    log_odds : Estimate or None
        Logarithm of the odds ratio; None if a probability is 0 or 1, or for expected
        values.
    """

    of: str
    value: Hashable
    reference: Hashable
    difference: Estimate
    ratio: Estimate | None = None
    log_odds: Estimate | None = None

    @property
    def measures(self) -> list[tuple[str, Estimate]]:
        """Name and estimate of each measure that is defined."""
        listed = [
            ("difference", self.difference),
            ("ratio", self.ratio),
            ("log odds ratio", self.log_odds),
        ]
        return [(name, one) for name, one in listed if one is not None]


@dataclass(frozen=True, eq=False, repr=False)
class CausalEffect:
    """Distributions of an outcome once a treatment is set to each of its states.

    Parameters
    ----------
    treatment, outcome : Variable
        The variables.
    codes : tuple of int
        States of the treatment that are compared, the reference first.
    events : tuple of int or None
        States of the outcome that are compared, None for its expected value.
    probabilities : ndarray of shape (n_codes, n_outcomes)
        P(outcome | do(treatment), given) under the network as it is.
    drawn : ndarray of shape (n_draws, n_codes, n_outcomes) or None
        The same under drawn tables.
    level : float
        Probability that each credible interval holds.
    formula : str
        How the distributions follow from the network.
    given : str
        What is known, in words.
    notes : tuple of str
        What a reader should know, such as why there are no intervals.
    """

    treatment: Variable
    outcome: Variable
    codes: tuple[int, ...]
    events: tuple[int | None, ...]
    probabilities: Floats
    drawn: Floats | None
    level: float
    formula: str
    given: str = ""
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[Hashable, ...]:
        """States of the treatment that are compared, the reference first."""
        return tuple(self.treatment.states[code] for code in self.codes)

    def distribution(self, value: Any) -> Posterior:
        """P(outcome | do(treatment = value), given)."""
        return Posterior(self.outcome, self.probabilities[self._place(value)].copy())

    def probability(self, value: Any, outcome_state: Any) -> Estimate:
        """P(outcome = state | do(treatment = value), given) with its interval."""
        place, event = self._place(value), known_state(self.outcome, outcome_state)
        return self._measured(place, event)

    def expectation(self, value: Any) -> Estimate:
        """Expected outcome under a treatment; ValueError if states are no numbers."""
        return self._measured(self._place(value), None)

    def contrast(
        self, value: Any = None, reference: Any = None, outcome_state: Any = None
    ) -> Contrast:
        """What one state of the treatment changes against another.

        Parameters
        ----------
        value : state, optional
            By default the last of those compared.
        reference : state, optional
            By default the first of those compared.
        outcome_state : state, optional
            The event; by default what the effect was asked for.

        Raises
        ------
        ValueError
            If a state is none of those compared, or there are several events and none
            is named.
        """
        place = len(self.codes) - 1 if value is None else self._place(value)
        other = 0 if reference is None else self._place(reference)
        if outcome_state is not None:
            return self._contrast(
                place, other, known_state(self.outcome, outcome_state)
            )
        if len(self.events) > 1:
            raise ValueError(
                f"outcome {quoted(self.outcome.name)} has {len(self.events)} states; "
                "name one by outcome_state="
            )
        return self._contrast(place, other, self.events[0])

    @property
    def contrasts(self) -> ResultList[Contrast]:
        """All states of the treatment against the reference, for every event."""
        return ResultList(
            self._contrast(place, 0, event)
            for event in self.events
            for place in range(1, len(self.codes))
        )

    @property
    def difference(self) -> Estimate:
        """Average effect of the last state compared with the first."""
        return self.contrast().difference

    @property
    def ratio(self) -> Estimate | None:
        """Risk ratio of the last state compared with the first."""
        return self.contrast().ratio

    @property
    def log_odds(self) -> Estimate | None:
        """Logarithm of the odds ratio of the last state compared with the first."""
        return self.contrast().log_odds

    def to_dict(self) -> dict[str, Any]:
        """The effect as plain values, ready for JSON."""
        treatments = distinct_labels(self.treatment)
        outcomes = distinct_labels(self.outcome)
        return {
            "treatment": self.treatment.name,
            "outcome": self.outcome.name,
            "given": self.given,
            "distributions": {
                treatments[code]: {
                    label: self._measured(place, event).to_dict()
                    for event, label in enumerate(outcomes)
                }
                for place, code in enumerate(self.codes)
            },
            "contrasts": [one.to_dict() for one in self.contrasts],
            "level": self.level if self.drawn is not None else None,
            "formula": self.formula,
            "notes": list(self.notes),
            "assumption": ASSUMPTION,
        }

    def _place(self, value: Any) -> int:
        """Position of a state among those compared."""
        code = known_state(self.treatment, value)
        if code not in self.codes:
            raise ValueError(
                f"treatment {self._set_to(code)} is not among those compared; name it "
                "in values="
            )
        return self.codes.index(code)

    def _set_to(self, code: int) -> str:
        """The treatment at a state, such as ``drug = yes``."""
        return stated(self.treatment.name, self.treatment.label(code))

    @property
    def _among(self) -> str:
        """What is given, as the end of a heading."""
        return f", given {self.given}" if self.given else ""

    def _against(self, place: int) -> str:
        """Which states of the treatment a contrast compares."""
        value, reference = self.codes[place], self.codes[0]
        return f"{self._set_to(value)} against {self._set_to(reference)}"

    def _what(self, event: int | None) -> str:
        """What is compared, in words."""
        if event is None:
            return f"expected {shown_name(self.outcome.name)}"
        return stated(self.outcome.name, self.outcome.label(event))

    def _series(self, place: int, event: int | None) -> tuple[float, Floats | None]:
        """The number compared under a treatment, and its draws."""
        point = self.probabilities[place]
        drawn = None if self.drawn is None else self.drawn[:, place]
        if event is not None:
            return float(point[event]), None if drawn is None else drawn[:, event]
        mean = float(mean_numbers(self.outcome, point))
        return mean, None if drawn is None else mean_numbers(self.outcome, drawn)

    def _measured(self, place: int, event: int | None) -> Estimate:
        """The number compared under a treatment with its interval."""
        return self._estimate(*self._series(place, event))

    def _estimate(self, value: float, drawn: Floats | None) -> Estimate:
        """A number with the central interval of its draws."""
        if drawn is None:
            return Estimate(value)
        shares = [(1 - self.level) / 2, (1 + self.level) / 2]
        low, high = np.quantile(drawn, shares).tolist()
        return Estimate(value, low, high)

    def _contrast(self, place: int, other: int, event: int | None) -> Contrast:
        """Difference, ratio and log odds ratio of two treatments."""
        a, drawn_a = self._series(other, event)
        b, drawn_b = self._series(place, event)

        def estimate(measure: Callable[[Any, Any], Any]) -> Estimate:
            draws = None
            if drawn_a is not None and drawn_b is not None:
                draws = measure(drawn_a, drawn_b)
            return self._estimate(float(measure(a, b)), draws)

        is_event = event is not None
        has_odds = is_event and 0 < a < 1 and 0 < b < 1
        return Contrast(
            self._what(event),
            self.treatment.states[self.codes[place]],
            self.treatment.states[self.codes[other]],
            estimate(lambda reference, value: value - reference),
            estimate(_ratio) if is_event and a > 0 else None,
            estimate(_log_odds) if has_odds else None,
        )

    def __str__(self) -> str:
        set_to = [f"do({self._set_to(code)})" for code in self.codes]
        width = max(map(len, set_to))
        lines = []
        for event in self.events:
            lines.append(self._what(event) + self._among)
            lines += [
                f"  {text:<{width}}  {self._measured(place, event)}"
                for place, text in enumerate(set_to)
            ]
            for place in range(1, len(self.codes)):
                lines.append(f"  {self._against(place)}")
                measures = self._contrast(place, 0, event).measures
                lines += [f"    {name:<14}  {one}" for name, one in measures]
        return "\n".join([*lines, *self._sentences()])

    def _sentences(self) -> list[str]:
        """What the numbers rest on."""
        sentences = [f"By {self.formula}."]
        if self.drawn is not None:
            sentences.append(
                f"{100 * self.level:g} % credible intervals of {len(self.drawn)} draws."
            )
        return [*sentences, *self.notes, ASSUMPTION]

    def __repr__(self) -> str:
        event = self.events[-1]
        last = len(self.codes) - 1
        return brief(
            self,
            f"{self._what(event)} under do({self._set_to(self.codes[last])}) "
            f"{self._measured(last, event)}",
            f"under do({self._set_to(self.codes[0])}) {self._measured(0, event)}",
            "the arrows are an assumption",
        )

    def _repr_html_(self) -> str:
        tables = []
        for event in self.events:
            rows: list[tuple[str, Estimate]] = [
                (f"do({self._set_to(code)})", self._measured(place, event))
                for place, code in enumerate(self.codes)
            ]
            rows += [
                (f"{name}, {self._against(place)}", one)
                for place in range(1, len(self.codes))
                for name, one in self._contrast(place, 0, event).measures
            ]
            title = self._what(event) + self._among
            tables.append(table_html(title, ("", "value"), rows))
        told = ([sentence] for sentence in self._sentences())
        sentences = table_html("what this rests on", ("",), told)
        return picture_html(*tables, sentences)


def _ratio(reference: Any, value: Any) -> Any:
    """Ratios of probabilities."""
    return value / np.maximum(reference, _TINY)


def _log_odds(reference: Any, value: Any) -> Any:
    """Logarithms of odds ratios."""
    odds = [
        np.log(np.maximum(p, _TINY)) - np.log(np.maximum(1.0 - p, _TINY))
        for p in (reference, value)
    ]
    return odds[1] - odds[0]
