"""Events as sets of states, read from words, and conditions that they add to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable
from bayleaf.inference.events.expressions import (
    Comparison,
    Conjunction,
    Disjunction,
    Expression,
    Membership,
    Negation,
    Within,
    Word,
    misread,
    parsed,
)
from bayleaf.inference.evidence import (
    Evidence,
    EvidenceItem,
    ImpossibleEvidenceError,
    Range,
    as_mapping,
    range_codes,
    read_evidence,
    state_or,
    warn_of_cut_intervals,
)
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.states import StateReader, find_variable, indicator
from bayleaf.wording import plain, quoted, stated

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class OneOf:
    """A variable has one of some states."""

    variable: int
    codes: frozenset[int]


@dataclass(frozen=True)
class AllOf:
    """All of some events happen; always true without any."""

    parts: tuple[Event, ...] = ()


@dataclass(frozen=True)
class AnyOf:
    """At least one of some events happens; never true without any."""

    parts: tuple[Event, ...] = ()


Event = OneOf | AllOf | AnyOf
ALWAYS, NEVER = AllOf(), AnyOf()


def opposite(event: Event, cards: Sequence[int]) -> Event:
    """The event that happens whenever another one does not."""
    if isinstance(event, OneOf):
        every = frozenset(range(cards[event.variable]))
        return OneOf(event.variable, every - event.codes)
    parts = tuple(opposite(part, cards) for part in event.parts)
    return AnyOf(parts) if isinstance(event, AllOf) else AllOf(parts)


def simplified(event: Event, cards: Sequence[int]) -> Event:
    """The same event with sets of one variable merged and what is idle left out.

    No conjunction has a conjunction as a part, no disjunction a disjunction; neither
    has two sets of one variable, or fewer than two parts unless it is constant.
    """
    if isinstance(event, OneOf):
        if not event.codes:
            return NEVER
        return ALWAYS if len(event.codes) == cards[event.variable] else event
    kind, idle, final = (
        (AllOf, ALWAYS, NEVER) if isinstance(event, AllOf) else (AnyOf, NEVER, ALWAYS)
    )
    sets: dict[int, frozenset[int]] = {}
    # Parts in the order of their first mention; a variable stands for its set.
    parts: dict[Event | int, None] = {}
    for part in _flat((simplified(part, cards) for part in event.parts), kind):
        if isinstance(part, OneOf):
            known = sets.get(part.variable, part.codes)
            merged = known & part.codes if kind is AllOf else known | part.codes
            sets[part.variable] = merged
            parts.setdefault(part.variable)
        else:
            parts.setdefault(part)
    whole = [
        simplified(OneOf(p, sets[p]), cards) if isinstance(p, int) else p for p in parts
    ]
    if final in whole:
        return final
    left = [part for part in whole if part != idle]
    return left[0] if len(left) == 1 else kind(tuple(left))


def mentioned(event: Event) -> set[int]:
    """Variables that an event is about."""
    if isinstance(event, OneOf):
        return {event.variable}
    return set().union(*map(mentioned, event.parts))


def truth_table(event: Event, cards: Sequence[int]) -> NDArray[np.bool_]:
    """Whether an event happens, for every joint state; axes may have length 1."""
    if isinstance(event, OneOf):
        shape = [1] * len(cards)
        shape[event.variable] = cards[event.variable]
        happens = np.zeros(cards[event.variable], dtype=np.bool_)
        happens[list(event.codes)] = True
        return happens.reshape(shape)
    join: Callable[..., NDArray[np.bool_]]
    join = np.logical_and if isinstance(event, AllOf) else np.logical_or
    tables = [truth_table(part, cards) for part in event.parts]
    start = np.full([1] * len(cards), isinstance(event, AllOf))
    return reduce(join, tables, start)


def _flat(parts: Iterable[Event], kind: type[AllOf] | type[AnyOf]) -> list[Event]:
    """Parts, those of the same kind taken apart."""
    found: list[Event] = []
    for part in parts:
        is_constant = part in (ALWAYS, NEVER)
        own = not is_constant and isinstance(part, kind)
        found += part.parts if own and isinstance(part, AllOf | AnyOf) else (part,)
    return found


def read_event(domain: Domain, event: Any) -> Event:
    """The event that an expression or a mapping means, simplified.

    Likelihoods are not allowed. ValueError if the text is not an expression, or a
    variable or state does not exist; TypeError if it is neither text nor a mapping.
    """
    if isinstance(event, str):
        return simplified(Binder(domain, event).event(parsed(event)), domain.cards)
    event = as_mapping(event)
    if not isinstance(event, Mapping):
        raise TypeError(
            "an event must be a text such as 'disease = present and age > 50', or a "
            f"mapping from names to states, got {type(event).__name__}"
        )
    parts = []
    for item in read_evidence(domain, event).items:
        weights = item.likelihood
        if not np.isin(weights, (0.0, 1.0)).all():
            raise ValueError(
                f"an event must be a set of states, but variable "
                f"{quoted(item.about.name)} is given likelihoods; give these as "
                "evidence instead"
            )
        parts.append(OneOf(item.variable, frozenset(np.flatnonzero(weights).tolist())))
    return simplified(AllOf(tuple(parts)), domain.cards)


def named_states(domain: Domain, given: Any) -> Any:
    """States by name, from an expression or a row of a frame; all else as it is.

    ValueError if an expression does not give one state to each of its variables.
    """
    if not isinstance(given, str) or given in domain.names:
        return as_mapping(given)
    event = read_event(domain, given)
    parts = event.parts if isinstance(event, AllOf) else (event,)
    states = {
        domain[part.variable].name: domain[part.variable].states[min(part.codes)]
        for part in parts
        if isinstance(part, OneOf) and len(part.codes) == 1
    }
    if not states or len(states) < len(parts):
        raise ValueError(
            f"{quoted(given)} must give one state to each variable that it names, such "
            "as 'sex = male and smoker = yes'"
        )
    return states


class Binder:
    """Finds the variables and states that the words of one text mean.

    A bound inside an interval counts the whole interval, with a warning, as in
    evidence.
    """

    def __init__(self, domain: Domain, text: str) -> None:
        self._domain = domain
        self._text = text
        self._names = {str(name) for name in domain.names}

    def event(self, expression: Expression) -> Event:
        """The event that an expression means."""
        if isinstance(expression, Conjunction):
            return AllOf(tuple(map(self.event, expression.parts)))
        if isinstance(expression, Disjunction):
            return AnyOf(tuple(map(self.event, expression.parts)))
        if isinstance(expression, Negation):
            return opposite(self.event(expression.part), self._domain.cards)
        if isinstance(expression, Comparison):
            return self._comparison(expression)
        if isinstance(expression, Within):
            return self._within(expression)
        return self._membership(expression)

    def _membership(self, said: Membership) -> Event:
        """One of several states, or none of them."""
        position = self._variable(said.name)
        codes = [self._states(position, value) for value in said.values]
        return self._set(position, frozenset().union(*codes), said.is_negated)

    def _within(self, said: Within) -> Event:
        """States between two bounds."""
        position = self._variable(said.name)
        low, high = (self._bound(position, word) for word in (said.low, said.high))
        codes = self._in_range(position, Range(low, high), said.low)
        return self._set(position, codes, said.is_negated)

    def _comparison(self, said: Comparison) -> Event:
        """What a sign, or two, say of the variable beside it or between them."""
        if len(said.signs) == 2:
            return self._between_signs(said)
        name, value, sign = *said.operands, said.signs[0]
        if not self._is_variable(name) and self._is_variable(value):
            name, value, sign = value, name, _TURNED.get(sign, sign)
        position = self._variable(name)
        if sign in _TURNED:
            bound, is_open = self._bound(position, value), "=" not in sign
            bounds = Range(bound, None, open_low=is_open)
            if sign.startswith("<"):
                bounds = Range(None, bound, open_high=is_open)
            codes = self._in_range(position, bounds, value)
            return self._set(position, codes)
        return self._set(position, self._equal(position, value), sign == "!=")

    def _between_signs(self, said: Comparison) -> Event:
        """States between bounds such as those of ``30 < age <= 50``."""
        low, name, high = said.operands
        if {sign[0] for sign in said.signs} not in ({"<"}, {">"}):
            raise misread(
                self._text,
                low.place,
                "two signs must both be < or <=, or both > or >=; join other "
                "conditions by 'and'",
            )
        position = self._variable(name)
        signs = said.signs
        if signs[0].startswith(">"):
            low, high, signs = high, low, signs[::-1]
        bounds = Range(
            self._bound(position, low),
            self._bound(position, high),
            open_low="=" not in signs[0],
            open_high="=" not in signs[1],
        )
        return self._set(position, self._in_range(position, bounds, name))

    def _set(
        self, position: int, codes: frozenset[int], is_negated: bool = False
    ) -> Event:
        """A variable has one of some states, or none of them."""
        event = OneOf(position, codes)
        return opposite(event, self._domain.cards) if is_negated else event

    def _is_variable(self, word: Word) -> bool:
        """Whether a word names a variable."""
        return word.text in self._names

    def _variable(self, word: Word) -> int:
        """The variable that a word names."""
        try:
            return find_variable(self._domain, word.text)
        except ValueError as error:
            raise misread(self._text, word.place, str(error)) from None

    def _equal(self, position: int, word: Word) -> frozenset[int]:
        """States that follow an equals sign; two dots may stand between bounds."""
        reader = StateReader(self._domain[position])
        low, dots, high = word.text.partition("..")
        is_state = reader.codes(word.text) is not None
        if is_state or word.is_quoted or not (low and dots and high):
            return self._states(position, word)
        ends = Word(low, word.place), Word(high, word.place + len(low) + 2)
        bounds = Range(*(self._bound(position, end) for end in ends))
        return self._in_range(position, bounds, word)

    def _states(self, position: int, word: Word) -> frozenset[int]:
        """States that a word means: one, or those under a node of the hierarchy."""
        reader = StateReader(self._domain[position])
        codes = reader.codes(word.text)
        number = _number(word.text)
        if codes is None and number is not None:
            codes = reader.codes(number)
        if codes is not None:
            return frozenset(codes)
        error = reader.unknown(word.text)
        problem = str(error)
        if word.text == "missing":
            name = quoted(reader.variable.name)
            problem = f"missing cells are no state of variable {name}; leave it out"
        raise misread(self._text, word.place, problem) from None

    def _bound(self, position: int, word: Word) -> Any:
        """A category or a number."""
        variable = self._domain[position]
        number = _number(word.text)
        if variable.categories is not None or number is None:
            return word.text
        return number

    def _in_range(self, position: int, bounds: Range, word: Word) -> frozenset[int]:
        """States within bounds, with a warning where these cut an interval."""
        variable = self._domain[position]
        try:
            codes = range_codes(variable, bounds)
        except ValueError as error:
            raise misread(self._text, word.place, str(error)) from None
        warn_of_cut_intervals(variable, bounds, codes)
        return frozenset(codes)


def _number(text: str) -> float | None:
    """The number that a text spells; None for all else."""
    try:
        number = float(text)
    except ValueError:
        return None
    return None if np.isnan(number) else number


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of single variables, and of several together."""

    evidence: Evidence  # on single variables
    events: tuple[Event, ...] = ()  # on several variables; all happen
    texts: tuple[str, ...] = ()  # as the user wrote it

    def also(self, event: Event, text: str = "") -> Known:
        """The same and an event; events of single variables become evidence.

        ImpossibleEvidenceError if no state of a variable is left.
        """
        if event == ALWAYS:
            return self
        domain = self.evidence.domain
        if event == NEVER:
            raise ImpossibleEvidenceError(
                f"{plain(text) or 'the condition'} can never hold", ()
            )
        parts = event.parts if isinstance(event, AllOf) else (event,)
        items = {item.variable: item for item in self.evidence.items}
        for part in parts:
            if isinstance(part, OneOf):
                old = items.get(part.variable)
                items[part.variable] = _narrowed(domain, old, part)
        return replace(
            self,
            evidence=Evidence(domain, tuple(items[v] for v in sorted(items))),
            events=self.events + tuple(p for p in parts if not isinstance(p, OneOf)),
            texts=(*self.texts, text) if text else self.texts,
        )

    @property
    def variables(self) -> set[int]:
        """Variables of which something is known."""
        found = {item.variable for item in self.evidence.items}
        return found.union(*map(mentioned, self.events))

    def impossible(self, trees: NetworkTrees) -> ImpossibleEvidenceError:
        """The error that names what cannot be together."""
        if not self.events:
            return trees.impossible(self.evidence)
        try:
            if trees.log_probability(self.evidence) == -math.inf:
                return trees.impossible(self.evidence)
        except ValueError:
            # The evidence alone may need too large a table.
            pass
        texts = " and ".join(map(plain, self.texts))
        sentence = f"{texts} cannot hold under this network"
        names = tuple(self.evidence.domain[v].name for v in sorted(self.variables))
        return ImpossibleEvidenceError(sentence, names)


def read_known(domain: Domain, given: Any) -> Known:
    """Read a condition: nothing, a mapping, an expression, or a list that all holds.

    ValueError if a text is not an expression, or a variable or state does not exist;
    ImpossibleEvidenceError if no state of a variable is left; TypeError for other
    types.
    """
    if isinstance(given, str):
        return Known(Evidence(domain, ())).also(read_event(domain, given), given)
    if not isinstance(given, list | tuple):
        evidence = read_evidence(domain, given)
        return Known(evidence, texts=tuple(item.text for item in evidence.items))
    known = Known(Evidence(domain, ()))
    for part in given:
        known = _joined(known, read_known(domain, part))
    return known


def read_single(domain: Domain, given: Any) -> Evidence:
    """Read a condition on each variable by itself.

    Errors as `read_known`; ValueError if ``or`` joins parts about several variables.
    """
    given = as_mapping(given)
    if given is None or isinstance(given, Mapping):
        return read_evidence(domain, given)
    if not isinstance(given, str | list | tuple):
        raise TypeError(
            "evidence must be a mapping from names of variables to what is known of "
            "them, or a text such as 'age > 50 and sex = male', got "
            f"{type(given).__name__}"
        )
    known = read_known(domain, given)
    if known.events:
        names = [str(domain[v].name) for v in sorted(mentioned(known.events[0]))]
        raise ValueError(
            f"'or' joins conditions on {' and '.join(map(plain, names[:5]))}, but this "
            "question takes what is known of each variable by itself; ask joint(...) "
            "or probability(...), which take any condition"
        )
    return known.evidence


def _joined(known: Known, more: Known) -> Known:
    """What is known from two sources; likelihoods of one variable multiply."""
    items = {item.variable: item for item in known.evidence.items}
    for item in more.evidence.items:
        old = items.get(item.variable)
        items[item.variable] = item if old is None else _product(old, item)
    evidence = Evidence(known.evidence.domain, tuple(items[v] for v in sorted(items)))
    return Known(evidence, known.events + more.events, known.texts + more.texts)


def _narrowed(domain: Domain, old: EvidenceItem | None, event: OneOf) -> EvidenceItem:
    """What is known of a variable once it has one of some states."""
    variable = domain[event.variable]
    item = EvidenceItem(event.variable, variable, min(event.codes))
    if len(event.codes) > 1:
        weights = indicator(variable.n_states, list(event.codes))
        words = _states_text(variable, sorted(event.codes))
        item = EvidenceItem(event.variable, variable, weights, words)
    return item if old is None else _product(old, item)


def _product(one: EvidenceItem, other: EvidenceItem) -> EvidenceItem:
    """Two items of one variable as one."""
    weights = one.likelihood * other.likelihood
    texts = list(dict.fromkeys((one.text, other.text)))
    words = " and ".join(texts)
    if not weights.any():
        raise ImpossibleEvidenceError(
            f"{words} cannot be together: no state is left", (one.about.name,)
        )
    known = state_or(weights)
    is_state = isinstance(known, int)
    return EvidenceItem(one.variable, one.about, known, None if is_state else words)


def _states_text(variable: Variable, codes: Iterable[int]) -> str:
    """A set of states as a reader sees it."""
    labels = [variable.label(code) for code in codes]
    if len(labels) > 8:
        return f"{variable.name} in {len(labels)} of {variable.n_states} states"
    return stated(variable.name, " or ".join(labels))
