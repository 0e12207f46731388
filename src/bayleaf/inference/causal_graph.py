"""Graphs with names: separation, sets to adjust for, and formulas of effects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, pairwise
from math import prod
from typing import Any, Literal

from bayleaf.graph.adjustment import Adjustment, FrontDoor
from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import (
    Nodes,
    OpenTrails,
    Separation,
    Trail,
    ancestral_separator,
    d_separated,
    descendants,
    markov_blanket,
    minimal_separators,
    separators_by_size,
    smallest_separator,
)
from bayleaf.inference.graph_results import (
    EssentialGraph,
    Independence,
    StructureDifference,
    structure_difference,
)
from bayleaf.inference.states import check_integer, position_of
from bayleaf.results.result import Shown
from bayleaf.results.result_lists import ResultList
from bayleaf.wording import brief, counted, name_list, quoted, shown_name

Name = str | int
Kind = Literal["backdoor", "complete", "frontdoor"]
KINDS = {"backdoor": "back-door", "complete": "adjustment", "frontdoor": "front-door"}

ASSUMPTION = (
    "The arrows are an assumption, not a finding: this holds if they are causal and no "
    "common cause is left out."
)
# Sets that are compared by the size of their tables.
_COMPARED = 50


class CausalQuestions:
    """Questions to a graph whose nodes have names, its arrows taken for causes.

    A class that builds on it has `dag`, and names its nodes by `_node_names`. What
    `latents` names is in no set to adjust for, as if it were given as `latent`.
    """

    dag: DAG
    # Names of variables that are not observed.
    latents: tuple[Name, ...] | None = None

    @property
    def _node_names(self) -> tuple[Name, ...]:
        """Names of all variables, in the order of the graph's nodes."""
        raise NotImplementedError

    @property
    def edges(self) -> list[tuple[Name, Name]]:
        """All arcs as (parent, child) pairs of names, by child."""
        names = self._node_names
        return [(names[parent], names[child]) for parent, child in self.dag.arcs]

    def position(self, name: Name) -> int:
        """Index of a variable, by its name or else by its index.

        Raises
        ------
        ValueError
            If the variable does not exist, naming near ones.
        """
        names = self._node_names
        # A variable may be called by a number, which then is no index.
        is_index = isinstance(name, int) and name in range(len(names))
        if is_index and name not in names:
            return int(name)
        return position_of(names, name, "the network is asked for")

    def parents(self, name: Name) -> tuple[Name, ...]:
        """Parents of a variable, in the order of its table's axes.

        Raises
        ------
        ValueError
            If the variable does not exist, naming near ones.
        """
        return self._names_of(self.dag.parents[self.position(name)])

    def children(self, name: Name) -> tuple[Name, ...]:
        """Children of a variable, in the variables' order.

        Raises
        ------
        ValueError
            If the variable does not exist, naming near ones.
        """
        return self._names_of(self.dag.children()[self.position(name)])

    def markov_blanket(self, name: Name) -> tuple[Name, ...]:
        """Parents, children and children's other parents, in the variables' order.

        Given them, the variable is independent of all others.
        """
        return self._names_of(sorted(markov_blanket(self.dag, self.position(name))))

    def _names_of(self, nodes: Iterable[int]) -> tuple[Name, ...]:
        """Names of some nodes."""
        names = self._node_names
        return tuple(names[node] for node in nodes)

    def d_separated(
        self,
        first: Name | Iterable[Name],
        second: Name | Iterable[Name],
        given: Name | Iterable[Name] = (),
    ) -> bool:
        """Whether the graph says that two sets are independent given a third.

        Parameters
        ----------
        first, second, given : name, or iterable of names
            Variables; `given` are observed.
        """
        return d_separated(
            self.dag,
            self._positions(first),
            self._positions(second),
            self._positions(given),
        )

    def _positions(self, names: Any) -> Sequence[int]:
        """Indices of one name or several."""
        if isinstance(names, str | int):
            names = [names]
        if not isinstance(names, Iterable):
            raise TypeError(f"variables must be a name or several, got {quoted(names)}")
        return [self.position(name) for name in names]

    def d_separators(
        self,
        first: Name | Iterable[Name],
        second: Name | Iterable[Name],
        *,
        latent: Name | Iterable[Name] = (),
        required: Name | Iterable[Name] = (),
        forbidden: Name | Iterable[Name] = (),
        minimal: bool = True,
        limit: int = 100,
    ) -> list[frozenset[Name]]:
        """Find sets of observed variables that d-separate two others.

        Parameters
        ----------
        first, second : name or iterable of names
            What is to be separated.
        latent : name or iterable of names
            Variables that are not observed, and hence in no set.
        required, forbidden : name or iterable of names
            Variables that every set contains, and that none does.
        minimal : bool, default=True
            Whether sets of which a member can be left out are omitted.
        limit : int, default=100
            Maximal number of sets. One with the fewest members is among them.

        Returns
        -------
        list of frozenset of str or int
            The smallest first; empty if nothing separates them.

        Raises
        ------
        ValueError
            If a variable does not exist, or has two roles.

        Notes
        -----
        Van der Zander, Liskiewicz and Textor (2019), "Separators and adjustment sets in
        causal graphs"; minimal sets are listed with polynomial delay (Takata 2010).

        Examples
        --------
        >>> from bayleaf import BayesianNetwork
        >>> drawn = BayesianNetwork.from_edges("a -> b -> c; a -> d -> c")
        >>> [sorted(one) for one in drawn.d_separators("a", "c")]
        [['b', 'd']]
        """
        check_integer("limit", limit)
        closed = frozenset([*self._hidden(latent), *self._positions(forbidden)])
        roles = {
            "first": frozenset(self._positions(first)),
            "second": frozenset(self._positions(second)),
            "required": frozenset(self._positions(required)),
            "latent or forbidden": closed,
        }
        # Only the ends may be latent.
        pairs = [*combinations(list(roles)[:3], 2), tuple(roles)[2:]]
        for role, other in pairs:
            if shared := roles[role] & roles[other]:
                name = quoted(self._node_names[min(shared)])
                raise ValueError(f"{name} cannot be both {role} and {other}")
        allowed = frozenset(range(len(self.dag))) - closed
        allowed -= roles["first"] | roles["second"]
        task = Separation(
            self.dag, roles["first"], roles["second"], allowed, roles["required"]
        )
        separators = islice(_separators(task, minimal=minimal), int(limit))
        nodes = sorted(separators, key=lambda s: (len(s), sorted(s)))
        return [frozenset(self._names_of(separator)) for separator in nodes]

    def implied_independences(self) -> ResultList[Independence]:
        """List a conditional independence for every pair without an arc.

        Returns
        -------
        ResultList of Independence
            In the order of the variables, each given a smallest set. Pairs that
            observed variables cannot separate are left out, and latent variables too.
            `NetworkStructure.test_independences` tests them against data.
        """
        hidden = set(self._hidden(()))
        observed = frozenset(range(len(self.dag))) - hidden
        linked = {frozenset(arc) for arc in self.dag.arcs}
        names = self._node_names
        claims: ResultList[Independence] = ResultList()
        for pair in combinations(sorted(observed), 2):
            if frozenset(pair) in linked:
                continue
            a, b = (frozenset({node}) for node in pair)
            separator = smallest_separator(Separation(self.dag, a, b, observed - a - b))
            if separator is not None:
                given = self._names_of(sorted(separator))
                claims.append(Independence(names[pair[0]], names[pair[1]], given))
        return claims

    def essential_graph(self) -> EssentialGraph:
        """Find which arcs all graphs with the same independences share (the CPDAG).

        Returns
        -------
        EssentialGraph
            Directed arcs and links without a direction, with a drawing in notebooks.

        Examples
        --------
        >>> from bayleaf import BayesianNetwork
        >>> BayesianNetwork.from_edges("a -> b -> c").essential_graph().undirected
        (('a', 'b'), ('b', 'c'))
        """
        return EssentialGraph.of_dag(self._node_names, self.dag)

    def structure_difference(
        self, other: CausalQuestions, *, essential: bool = True
    ) -> StructureDifference:
        """List the arcs that differ from those of another graph.

        Parameters
        ----------
        other : BayesianNetwork or NetworkStructure
            A graph over the same variables.
        essential : bool, default=True
            Whether directions that data cannot distinguish count as equal.

        Returns
        -------
        StructureDifference
            A sequence of `DifferingArc`; its `distance` is the structural Hamming
            distance.

        Raises
        ------
        ValueError
            If the variables differ.

        Examples
        --------
        >>> from bayleaf import BayesianNetwork
        >>> drawn = BayesianNetwork.from_edges("a -> b -> c")
        >>> other = BayesianNetwork.from_edges("a <- b <- c; c -> a")
        >>> [str(arc) for arc in drawn.structure_difference(other)]
        ['missing: no link here, a -- c there']
        """
        return structure_difference(
            self._node_names,
            self.dag,
            other._node_names,
            other.dag,
            essential=essential,
        )

    def adjustment_sets(
        self,
        treatment: Name | Iterable[Name],
        outcome: Name | Iterable[Name],
        *,
        latent: Name | Iterable[Name] = (),
        required: Name | Iterable[Name] = (),
        forbidden: Name | Iterable[Name] = (),
        kind: Kind = "backdoor",
        minimal: bool = True,
        limit: int = 100,
    ) -> AdjustmentSets:
        """Find sets of variables by which an effect can be told from observation.

        Parameters
        ----------
        treatment, outcome : name or iterable of names
            What is set, and what it is to act on.
        latent : name or iterable of names
            Variables that are not observed, and hence in no set.
        required, forbidden : name or iterable of names
            Variables that every set holds, and that none does.
        kind : {"backdoor", "complete", "frontdoor"}, default="backdoor"
            The back-door criterion; the complete criterion for adjustment, which
            allows descendants of the treatment that do no harm; or sets of mediators.
        minimal : bool, default=True
            Whether sets that hold another are left out.
        limit : int, default=100
            Most sets to list. Of sets to adjust for, a smallest is among them.

        Returns
        -------
        AdjustmentSets
            A sequence of frozensets, the smallest first; if it is empty, its
            `open_path` is one that stays open whatever is observed.

        Raises
        ------
        ValueError
            If a variable does not exist, or is asked for in two roles.
        """
        hidden = self._hidden(latent)
        task = self._adjustment(treatment, outcome, hidden, required, forbidden)
        names = self._node_names
        return find_adjustment_sets(names, task, kind, minimal=minimal, limit=limit)

    def is_adjustment_set(
        self,
        treatment: Name | Iterable[Name],
        outcome: Name | Iterable[Name],
        given: Name | Iterable[Name] = (),
        *,
        latent: Name | Iterable[Name] = (),
        kind: Kind = "backdoor",
    ) -> bool:
        """Whether a set of variables meets a criterion; see `adjustment_sets`."""
        task = self._adjustment(treatment, outcome, self._hidden(latent), (), ())
        nodes = frozenset(self._positions(given))
        if read_kind(kind) == "frontdoor":
            return front_door_of(task).is_solved_by(nodes)
        separation = replace(task, is_complete=kind == "complete").separation
        return separation is not None and separation.is_solved_by(nodes)

    def open_paths(
        self,
        treatment: Name | Iterable[Name],
        outcome: Name | Iterable[Name],
        given: Name | Iterable[Name] = (),
        *,
        causal: bool = False,
        limit: int = 100,
    ) -> ResultList[OpenPath]:
        """List paths along which two variables depend, others being observed.

        Parameters
        ----------
        treatment, outcome : name or iterable of names
            The ends.
        given : name or iterable of names
            What is observed.
        causal : bool, default=False
            Whether paths that are directed from the treatment to the outcome are
            listed as well, not only those that bias its effect.
        limit : int, default=100
            Most paths to list.

        Returns
        -------
        ResultList of OpenPath
            The shortest first.
        """
        task = self._adjustment(treatment, outcome, (), (), ())
        graph = self.dag if causal else task.graph
        observed = frozenset(self._positions(given))
        trails = OpenTrails(graph, task.treatments, task.outcomes, observed)
        found = sorted(islice(trails, limit), key=lambda trail: (len(trail), trail))
        return ResultList(
            named_path(self._node_names, self.dag, trail) for trail in found
        )

    def _hidden(self, latent: Name | Iterable[Name]) -> list[int]:
        """Indices of variables that are not observed."""
        latents = self._positions(self.latents or ())
        return list(dict.fromkeys([*latents, *self._positions(latent)]))

    def _adjustment(
        self,
        treatment: Any,
        outcome: Any,
        latent: Iterable[int],
        required: Any,
        forbidden: Any,
    ) -> Adjustment:
        """The question by indices; ValueError if roles contradict each other."""
        roles = {
            "treatment": frozenset(self._positions(treatment)),
            "outcome": frozenset(self._positions(outcome)),
            "latent": frozenset(latent),
            "required": frozenset(self._positions(required)),
            "forbidden": frozenset(self._positions(forbidden)),
        }
        for role in ("treatment", "outcome"):
            if not roles[role]:
                raise ValueError(f"{role} must name at least one variable")
        compatible = {"latent", "forbidden"}
        for role, nodes in roles.items():
            for other, others in roles.items():
                both = nodes & others
                if role < other and both and {role, other} != compatible:
                    name = quoted(self._node_names[min(both)])
                    raise ValueError(f"{name} cannot be both {role} and {other}")
        return Adjustment(
            self.dag,
            roles["treatment"],
            roles["outcome"],
            roles["latent"] | roles["forbidden"],
            roles["required"],
        )


@dataclass(frozen=True, repr=False)
class OpenPath(Shown):
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
class AdjustmentSets(Shown, Sequence[frozenset[Name]]):
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
    check_integer("limit", limit)
    task = replace(task, is_complete=read_kind(kind) == "complete")
    sets: Iterator[Nodes] = iter(())
    if kind == "frontdoor":
        # Small sets come first where that is cheap.
        door = front_door_of(task)
        sets = door.minimal_sets() if minimal else door.sets()
    elif task.separation is not None:
        sets = _separators(task.separation, minimal=minimal)
    # One more than is shown, to know whether there are more.
    found = list(islice(sets, int(limit) + 1))
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


def _separators(separation: Separation, *, minimal: bool) -> Iterator[Nodes]:
    """Sets that separate, a smallest one first."""
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


@dataclass(frozen=True)
class Formula:
    """A way to an interventional distribution.

    "cut" is the network without arcs into the treatment, "backdoor" averages over
    covariates, "frontdoor" over mediators and treatments, "none" has no effect.
    """

    kind: Literal["cut", "backdoor", "frontdoor", "none"]
    covariates: tuple[int, ...] = ()  # of the averages, in increasing order

    def text(self, names: Sequence[Name], given: Sequence[Name] = ()) -> str:
        """The formula in words."""
        if self.kind == "cut":
            return "the network without the arcs into the treatment"
        if self.kind == "none":
            return "no directed path from the treatment to the outcome"
        others = [names[node] for node in self.covariates if names[node] not in given]
        what = name_list(others, limit=20) or "nothing"
        if self.kind == "backdoor":
            return f"back-door adjustment for {what}"
        return f"front-door adjustment by {what}"


def given_formula(
    names: Sequence[Name], task: Adjustment, covariates: Nodes
) -> Formula:
    """Adjustment for a set that a user chose, what is given included.

    `task.required` is what is given. ValueError, with the open path, if the set does
    not identify the effect.
    """
    hidden = covariates & task.excluded
    if hidden:
        listed = name_list([names[node] for node in sorted(hidden)])
        raise ValueError(f"{listed} cannot be adjusted for while marked as latent")
    harmful = covariates & task.harmful
    if harmful:
        listed = name_list([names[node] for node in sorted(harmful)])
        raise ValueError(
            f"adjusting for {listed} is no way to the effect, as it is the treatment, "
            "the outcome, or below the treatment; leave it out"
        )
    trail = OpenTrails(task.graph, task.treatments, task.outcomes, covariates)
    shortest = trail.shortest()
    if shortest is not None:
        listed = name_list([names[node] for node in sorted(covariates)]) or "nothing"
        path = named_path(names, task.dag, shortest)
        raise ValueError(f"adjusting for {listed} leaves the path {path} open")
    return Formula("backdoor", tuple(sorted(covariates)))


def identified(
    names: Sequence[Name], task: Adjustment, cards: Sequence[int]
) -> Formula:
    """The formula for an effect where some variables are latent.

    The task excludes latent variables and requires given ones. Among several sets, that
    of the smallest table. ValueError, with the open path, if neither criterion
    identifies the effect.
    """
    below = task.required & descendants(task.dag, task.treatments)
    if below:
        raise ValueError(
            f"{quoted(names[min(below)])} is given, but the treatment acts on it; with "
            "latent variables an effect can only be given what the treatment does not "
            "act on"
        )
    if not task.causal:
        return Formula("none")
    # The indices stand for names, so that sets come back as they are needed.
    everyone = range(len(task.dag))
    back = find_adjustment_sets(everyone, task, "backdoor", limit=_COMPARED)
    if back:
        chosen = min(back, key=lambda nodes: prod(cards[int(v)] for v in nodes))
        return Formula("backdoor", tuple(sorted(map(int, chosen))))
    front = list(islice(front_door_of(task).minimal_sets(), _COMPARED))
    if front and not task.required:
        mediators = min(front, key=lambda nodes: prod(cards[v] for v in nodes))
        return Formula("frontdoor", tuple(sorted(mediators)))
    treatment, outcome = (names[min(s)] for s in (task.treatments, task.outcomes))
    path = blocking_path(names, task) or blocking_path(
        names, replace(task, required=frozenset())
    )
    reason = f": open path {path}" if path else " given what is given"
    raise ValueError(
        f"the effect of {quoted(treatment)} on {quoted(outcome)} is not identified by "
        f"adjustment for observed variables, nor by mediators{reason}"
    )
