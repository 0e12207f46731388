"""Sets to adjust for, and open paths, in the names of variables."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, Literal

from bayleaf.graph.adjustment import Adjustment, FrontDoor
from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import (
    Nodes,
    OpenTrails,
    Trail,
    ancestral_separator,
    minimal_separators,
    separators_by_size,
    smallest_separator,
)
from bayleaf.wording import brief, counted, name_list, quoted, shown_name

Name = str | int
Kind = Literal["backdoor", "complete", "frontdoor"]
KINDS = {"backdoor": "back-door", "complete": "adjustment", "frontdoor": "front-door"}

ASSUMPTION = (
    "The arrows are an assumption, not a finding: this holds if they are causal and no "
    "common cause is left out."
)


@dataclass(frozen=True, repr=False)
class OpenPath:
    """A path between two variables along which they depend on one another.

    Parameters
    ----------
    names : tuple of str or int
        The variables, in order.
    arrows : tuple of str
        ``"->"`` or ``"<-"`` between each variable and the next.
    """

    names: tuple[Name, ...]
    arrows: tuple[str, ...]

    def __str__(self) -> str:
        first, *others = map(shown_name, self.names)
        steps = zip(self.arrows, others, strict=True)
        return " ".join([first, *(f"{arrow} {name}" for arrow, name in steps)])

    def __repr__(self) -> str:
        return brief(self, str(self))


@dataclass(frozen=True, repr=False)
class AdjustmentSets(Sequence[frozenset[Name]]):
    """Sets of variables that identify an effect, the smallest first.

    Parameters
    ----------
    sets : tuple of frozenset of str or int
        The sets.
    treatments, outcomes : tuple of str or int
        What the effect is of and on.
    kind : {"backdoor", "complete", "frontdoor"}
        The criterion that they meet.
    are_all : bool
        Whether these are all sets, not only as many as the limit allows.
    open_path : OpenPath or None
        Where there is no set: a path that stays open whatever is observed.
    """

    sets: tuple[frozenset[Name], ...]
    treatments: tuple[Name, ...]
    outcomes: tuple[Name, ...]
    kind: Kind
    are_all: bool
    open_path: OpenPath | None = None

    def __getitem__(self, place: Any) -> Any:
        return self.sets[place]

    def __len__(self) -> int:
        return len(self.sets)

    def __iter__(self) -> Iterator[frozenset[Name]]:
        return iter(self.sets)

    def to_dict(self) -> dict[str, Any]:
        """The sets as plain values, ready for JSON."""
        return {
            "treatments": list(self.treatments),
            "outcomes": list(self.outcomes),
            "kind": self.kind,
            "sets": [sorted(one, key=str) for one in self.sets],
            "are_all": self.are_all,
            "open_path": None if self.open_path is None else str(self.open_path),
            "assumption": ASSUMPTION,
        }

    @property
    def _about(self) -> str:
        """The effect, such as ``drug -> recovery``."""
        return f"{name_list(self.treatments)} -> {name_list(self.outcomes)}"

    def __str__(self) -> str:
        what = f"{KINDS[self.kind]} set"
        if not self.sets:
            path = "" if self.open_path is None else f": open path {self.open_path}"
            lines = [f"no {what} for {self._about}{path}"]
        else:
            more = "" if self.are_all else " or more"
            lines = [f"{counted(len(self.sets), what)}{more} for {self._about}"]
            lines += [f"  {_braces(one)}" for one in self.sets]
        return "\n".join([*lines, ASSUMPTION])

    def __repr__(self) -> str:
        shown = ", ".join(map(_braces, self.sets[:3])) or "none"
        return brief(
            self,
            f"{KINDS[self.kind]} for {self._about}",
            f"{len(self.sets)} ({shown})",
            "the arrows are an assumption",
        )


def _braces(names: Iterable[Name]) -> str:
    """A set of names, such as ``{age, sex}``."""
    return f"{{{name_list(sorted(names, key=str), limit=20)}}}"


def find_adjustment_sets(
    names: Sequence[Name],
    task: Adjustment,
    kind: Kind,
    *,
    minimal: bool = True,
    limit: int = 100,
) -> AdjustmentSets:
    """The sets of one kind, at most `limit`; if `minimal`, none contains another.

    ValueError if the kind is unknown, or the limit not an integer of at least 1.
    """
    if not isinstance(limit, numbers.Integral) or limit < 1:
        raise ValueError(f"limit must be an integer of at least 1, got {quoted(limit)}")
    task = replace(task, is_complete=read_kind(kind) == "complete")
    listed = _front_door_sets if kind == "frontdoor" else _back_door_sets
    # One more than is shown, to know whether there are more.
    found = list(islice(listed(task, minimal=minimal), int(limit) + 1))
    shown = sorted(found[:limit], key=lambda nodes: (len(nodes), sorted(nodes)))
    return AdjustmentSets(
        tuple(frozenset(names[node] for node in nodes) for nodes in shown),
        tuple(names[node] for node in sorted(task.treatments)),
        tuple(names[node] for node in sorted(task.outcomes)),
        kind,
        len(found) <= limit,
        None if shown else blocking_path(names, task),
    )


def read_kind(kind: str) -> Kind:
    """The criterion; ValueError if it is unknown."""
    for known in ("backdoor", "complete", "frontdoor"):
        if kind == known:
            return known
    raise ValueError(
        f"kind must be 'backdoor', 'complete' or 'frontdoor', got {quoted(kind)}"
    )


def front_door_of(task: Adjustment) -> FrontDoor:
    """The same question about mediators."""
    return FrontDoor(
        task.dag, task.treatments, task.outcomes, task.excluded, task.required
    )


def _front_door_sets(task: Adjustment, *, minimal: bool) -> Iterator[Nodes]:
    """Sets of mediators, small ones first where that is cheap."""
    front_door = front_door_of(task)
    return front_door.minimal_sets() if minimal else front_door.sets()


def _back_door_sets(task: Adjustment, *, minimal: bool) -> Iterator[Nodes]:
    """Sets to adjust for, a smallest one first."""
    separation = task.separation
    if separation is None:
        return
    if not minimal:
        yield from separators_by_size(separation)
        return
    smallest = smallest_separator(separation)
    if smallest is not None:
        yield smallest
    yield from (s for s in minimal_separators(separation) if s != smallest)


def blocking_path(names: Sequence[Name], task: Adjustment) -> OpenPath | None:
    """A path that stays open whatever is adjusted for; None if there is none."""
    ends = task.treatments | task.outcomes
    allowed = frozenset(range(len(task.dag))) - task.harmful - task.excluded
    separation = replace(task, required=frozenset()).separation
    if separation is not None and ancestral_separator(separation) is not None:
        return None
    given = (separation.ancestral if separation else frozenset()) & allowed - ends
    trail = OpenTrails(task.graph, task.treatments, task.outcomes, given).shortest()
    return None if trail is None else named_path(names, task.dag, trail)


def named_path(names: Sequence[Name], dag: DAG, trail: Trail) -> OpenPath:
    """A trail by the names of its nodes."""
    arrows = ["->" if a in dag.parents[b] else "<-" for a, b in pairwise(trail)]
    return OpenPath(tuple(names[node] for node in trail), tuple(arrows))
