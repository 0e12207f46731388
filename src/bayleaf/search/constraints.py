"""Arcs that a learned structure must have or must not have, and tiers of variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain
from bayleaf.graph.dag import DAG, CycleError
from bayleaf.wording import name_list, quoted

Edge = tuple[int, int]


@dataclass(frozen=True)
class Constraints:
    """Limits of a structure search: arcs, numbers of parents, time and tiers.

    No arc leads from a later tier to an earlier one; variables in no tier are free.
    ValueError if `max_parents` is negative or `time_limit` not above zero.
    """

    required_edges: frozenset[Edge] = frozenset()  # (parent, child)
    forbidden_edges: frozenset[Edge] = frozenset()  # (parent, child); tiers add more
    max_parents: int | None = None  # per variable; any number if None
    time_limit: float | None = None  # seconds, checked before each move
    tiers: tuple[tuple[int, ...], ...] = ()  # the earliest first

    def __post_init__(self) -> None:
        for name in ("required_edges", "forbidden_edges"):
            edges = frozenset((int(a), int(b)) for a, b in getattr(self, name))
            object.__setattr__(self, name, edges)
        tier = self._tier_of()
        backwards = {(a, b) for a in tier for b in tier if tier[a] > tier[b]}
        object.__setattr__(self, "forbidden_edges", self.forbidden_edges | backwards)
        if self.max_parents is not None and self.max_parents < 0:
            raise ValueError(f"max_parents must be >= 0, got {self.max_parents}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"time_limit must be > 0 seconds, got {self.time_limit}")

    @property
    def has_edges(self) -> bool:
        """Whether any arc is required or forbidden."""
        return bool(self.required_edges or self.forbidden_edges)

    @property
    def most_required(self) -> int:
        """Most parents that a variable has to have."""
        children = Counter(child for _, child in self.required_edges)
        return max(children.values(), default=0)

    def required_parents(self, n_variables: int) -> list[tuple[int, ...]]:
        """Parents that each variable has to have, increasing."""
        found: list[list[int]] = [[] for _ in range(n_variables)]
        for parent, child in sorted(self.required_edges):
            found[child].append(parent)
        return [tuple(parents) for parents in found]

    def open_arcs(self, n_variables: int) -> NDArray[np.bool_]:
        """Whether an arc is not forbidden, by [child, parent]; no variable is its own.

        Shape (n_variables, n_variables).
        """
        found = ~np.eye(n_variables, dtype=np.bool_)
        parents, children = self._forbidden_pairs
        found[children, parents] = False
        return found

    def sorted_parents(self, child: int, parents: NDArray[np.intp]) -> NDArray[np.intp]:
        """Parents less those that are forbidden, required ones first."""
        if not self.has_edges:
            return parents
        needed, others = [], []
        for parent in parents.tolist():
            if (parent, child) in self.required_edges:
                needed.append(parent)
            elif (parent, child) not in self.forbidden_edges:
                others.append(parent)
        return np.array([*needed, *others], dtype=np.intp)

    def among(self, variables: Sequence[int]) -> Constraints:
        """The same for some of the variables, numbered by their places."""
        place = {variable: own for own, variable in enumerate(variables)}

        def inside(edges: frozenset[Edge]) -> frozenset[Edge]:
            return frozenset(
                (place[a], place[b]) for a, b in edges if a in place and b in place
            )

        return replace(
            self,
            required_edges=inside(self.required_edges),
            forbidden_edges=inside(self.forbidden_edges),
            tiers=tuple(
                tuple(place[own] for own in tier if own in place) for tier in self.tiers
            ),
        )

    def ordered(self, order: NDArray[np.intp]) -> NDArray[np.intp]:
        """Bring an order of all variables in line with required arcs and tiers.

        Each place takes the first variable of `order` whose required parents come
        before it, those of the earliest tier left first.
        """
        if not self.has_edges:
            return order
        needed = [set(own) for own in self.required_parents(len(order))]
        tier, waiting = self._tier_of(), order.tolist()
        found: list[int] = []
        placed: set[int] = set()
        while waiting:
            first = min((tier[v] for v in waiting if v in tier), default=0)
            ready = [v for v in waiting if needed[v] <= placed]
            in_time = [v for v in ready if tier.get(v, first) == first]
            chosen = (in_time or ready)[0]
            waiting.remove(chosen)
            found.append(chosen)
            placed.add(chosen)
        return np.array(found, dtype=np.intp)

    def check(self, domain: Domain) -> None:
        """Raise unless some structure satisfies all this, see `check_names`."""
        self.check_names(domain.names)

    def check_names(self, names: Sequence[str | int]) -> None:
        """Raise unless some structure over variables of these names satisfies all this.

        ValueError names the conflict: an arc from a variable to itself, of an unknown
        variable, both required and forbidden or towards an earlier tier; a variable in
        two tiers; required arcs that close a cycle or exceed `max_parents`.
        """
        n_variables = len(names)
        for parent, child in sorted(self.required_edges | self.forbidden_edges):
            if not (0 <= parent < n_variables and 0 <= child < n_variables):
                raise ValueError(
                    f"edge {(parent, child)} names no variable; use indices from 0 to "
                    f"{n_variables - 1}"
                )
            if parent == child:
                raise ValueError(
                    f"an edge leads from variable {quoted(names[parent])} to itself; "
                    "name two variables"
                )
        self._check_tiers(names)
        for parent, child in sorted(self.required_edges & self.forbidden_edges):
            raise ValueError(
                f"the edge from {quoted(names[parent])} to {quoted(names[child])} is "
                "both required and forbidden; take it out of one of them"
            )
        self._check_required(names)

    @cached_property
    def _forbidden_pairs(self) -> NDArray[np.intp]:
        """Parents and children of forbidden edges, shape (2, n_edges)."""
        pairs = np.array(sorted(self.forbidden_edges), dtype=np.intp)
        return pairs.reshape(-1, 2).T

    def _tier_of(self) -> dict[int, int]:
        """Number of the tier of each variable that is in one."""
        return {own: number for number, tier in enumerate(self.tiers) for own in tier}

    def _check_tiers(self, names: Sequence[str | int]) -> None:
        """Raise if a variable is in two tiers, or a required edge leads backwards."""
        listed = [own for tier in self.tiers for own in tier]
        for variable in listed:
            if listed.count(variable) > 1:
                raise ValueError(
                    f"tiers lists {quoted(names[variable])} twice; leave it in one tier"
                )
        tier = self._tier_of()
        for parent, child in sorted(self.required_edges):
            if tier.get(parent, 0) > tier.get(child, len(names)):
                raise ValueError(
                    f"the required edge from {quoted(names[parent])} to "
                    f"{quoted(names[child])} leads to an earlier tier; take it out of "
                    "required_edges, or change tiers"
                )

    def _check_required(self, names: Sequence[str | int]) -> None:
        """Raise if required edges close a cycle or are too many for a variable."""
        try:
            dag = DAG.from_arcs(len(names), sorted(self.required_edges))
        except CycleError as error:
            on_cycle = [str(names[node]) for node in error.nodes]
            raise ValueError(
                f"the required edges close a cycle among {name_list(on_cycle)}; take "
                "one of them out"
            ) from None
        for child, parents in enumerate(dag.parents):
            if self.max_parents is not None and len(parents) > self.max_parents:
                raise ValueError(
                    f"the required edges give variable {quoted(names[child])} "
                    f"{len(parents)} parents, more than max_parents={self.max_parents}"
                )
