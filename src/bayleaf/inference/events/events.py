"""Events as sets of states of single variables, joined by and and or."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray


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
