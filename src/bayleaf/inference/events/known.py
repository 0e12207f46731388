"""What is known when a question is asked: evidence, and events that go beyond it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayleaf.data.domain import Domain, Variable
from bayleaf.inference.events.events import (
    ALWAYS,
    NEVER,
    AllOf,
    Event,
    OneOf,
    mentioned,
    read_event,
)
from bayleaf.inference.evidence import (
    Evidence,
    EvidenceItem,
    ImpossibleEvidenceError,
    read_evidence,
)
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.wording import plain, stated


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
        weights = np.zeros(variable.n_states)
        weights[list(event.codes)] = 1.0
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
    left = np.flatnonzero(weights)
    if len(left) == 1 and weights[left[0]] == 1.0:
        return EvidenceItem(one.variable, one.about, int(left[0]))
    return EvidenceItem(one.variable, one.about, weights, words)


def _states_text(variable: Variable, codes: Iterable[int]) -> str:
    """A set of states as a reader sees it."""
    labels = [variable.label(code) for code in codes]
    if len(labels) > 8:
        return f"{variable.name} in {len(labels)} of {variable.n_states} states"
    return stated(variable.name, " or ".join(labels))
