"""Influence diagrams: chance, decision and utility variables in one graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayleaf.cpds.distribution import CPD, TableCPD
from bayleaf.cpds.given_tables import checked_table
from bayleaf.data.domain import Domain, Variable
from bayleaf.decisions.limited_memory import ROUNDING, LimitedMemoryDiagram
from bayleaf.decisions.solution import Policy, Solution
from bayleaf.dispatch import dispatch_diagram
from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import ancestors, descendants
from bayleaf.inference.evidence import ImpossibleEvidenceError, read_evidence
from bayleaf.inference.states import find_variable, indicator, position_of
from bayleaf.models.network_structure import Name, dag_of, variable_of
from bayleaf.models.texts.html_summary import arc_text
from bayleaf.models.texts.picture import CLASS, FEATURE, LATENT
from bayleaf.results.document import Document, Facts, Figure, listed_names
from bayleaf.results.drawings import network_html
from bayleaf.results.html import html_of
from bayleaf.results.result import Shown
from bayleaf.results.result_lists import RankedNumbers
from bayleaf.typing import ByName, EventLike, NamedRow
from bayleaf.wording import brief, counted, name_list, quoted

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Utility(Shown):
    """What outcomes are worth; several utilities of a diagram are added up.

    Parameters
    ----------
    name : str or int
        Its name in the diagram.
    values : ndarray of shape (parent cards, ...)
        Worth of each configuration of its parents, in any unit.
    """

    name: Name
    values: Floats


@dataclass(frozen=True, eq=False, repr=False)
class InfluenceDiagram:
    """Chance variables with tables, decisions, and utilities that depend on both.

    Parents of a decision are what is observed before it is made.

    Parameters
    ----------
    domain : Domain
        Chance variables and decisions.
    dag : DAG
        Parents of each variable of the domain, then of each utility.
    cpds : tuple of TableCPD, TreeCPD, DeterministicCPD or None
        One per variable; None makes it a decision.
    utilities : tuple of Utility
        At least one.

    Raises
    ------
    ValueError
        If tables, graph and domain do not fit each other.

    Examples
    --------
    >>> diagram = InfluenceDiagram.from_tables(
    ...     states={
    ...         "weather": ["dry", "rain"],
    ...         "forecast": ["sunny", "cloudy", "rainy"],
    ...         "umbrella": ["take", "leave"],
    ...     },
    ...     parents={
    ...         "forecast": ["weather"],
    ...         "umbrella": ["forecast"],
    ...         "comfort": ["weather", "umbrella"],
    ...     },
    ...     tables={
    ...         "weather": [0.7, 0.3],
    ...         "forecast": [[0.7, 0.2, 0.1], [0.15, 0.25, 0.6]],
    ...     },
    ...     decisions=["umbrella"],
    ...     utilities={"comfort": [[20, 100], [70, 0]]},
    ... )
    >>> solution = diagram.solve()
    >>> round(solution.expected_utility, 6)
    77.0
    >>> print(solution["umbrella"].explain({"forecast": "rainy"}))
    take: +28; most by forecast
    """

    domain: Domain
    dag: DAG
    cpds: tuple[CPD | None, ...]
    utilities: tuple[Utility, ...]

    def __post_init__(self) -> None:
        names = [*self.domain.names, *(utility.name for utility in self.utilities)]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{quoted(twice)} names two nodes; give each its own name")
        if len(self.dag) != len(names) or len(self.cpds) != len(self.domain):
            raise ValueError(
                f"the graph has {counted(len(self.dag), 'node')}, but there are "
                f"{counted(len(names), 'variable')} and utilities"
            )
        first = len(self.domain)
        _check_no_children(self.dag, names, first)
        for node, cpd in enumerate(self.cpds):
            if cpd is not None and cpd.family != self.dag.families[node]:
                raise ValueError(
                    f"the table of variable {quoted(names[node])} has other parents "
                    "than the graph"
                )
        if not self.utilities:
            raise ValueError(
                "the diagram has no utility; add one, or use a BayesianNetwork"
            )
        for node, utility in enumerate(self.utilities, start=first):
            shape = tuple(self.domain.cards[p] for p in self.dag.parents[node])
            if utility.values.shape != shape or not np.isfinite(utility.values).all():
                raise ValueError(
                    f"utility {quoted(utility.name)} needs finite numbers of shape "
                    f"{shape}, its parents' states, got {utility.values.shape}"
                )

    @classmethod
    def from_tables(
        cls,
        states: ByName[Sequence[Hashable] | Variable],
        tables: ByName[ArrayLike],
        decisions: Sequence[Name],
        utilities: ByName[ArrayLike],
        parents: ByName[Sequence[Name]] | None = None,
    ) -> InfluenceDiagram:
        """Build a diagram from states, parents, tables and utilities by name.

        Parameters
        ----------
        states : mapping of name to sequence, or to Variable
            States of chance variables and options of decisions.
        tables : mapping of name to array-like
            P(child | parents) of each chance variable, as of
            `BayesianNetwork.from_tables`.
        decisions : sequence of names
            The variables that are chosen; these have no table.
        utilities : mapping of name to array-like
            Worth of each configuration of its parents, an axis per parent; flat lists
            are taken in the same order.
        parents : mapping of name to sequence of names, optional
            Parents of chance variables and utilities; what is observed before each
            decision.

        Raises
        ------
        ValueError
            If a name is unknown, a table is missing or of another size, or the arcs
            close a cycle.
        """
        given = {} if parents is None else dict(parents.items())
        domain = Domain(tuple(variable_of(name, s) for name, s in states.items()))
        names = [*domain.names, *utilities]
        if len(set(names)) < len(names):
            both = next(name for name in domain.names if name in utilities)
            raise ValueError(f"{quoted(both)} is a variable and a utility; rename one")
        for mapping, known, what in (
            (decisions, domain.names, "decisions contain"),
            (tables, domain.names, "a table is given for"),
            (given, names, "parents are given for"),
        ):
            for name in mapping:
                position_of(known, name, what)
        dag = dag_of(names, given)
        _check_no_children(dag, names, len(domain))
        cpds: list[CPD | None] = []
        for name, family in zip(domain.names, dag.families):
            if (name in tables) == (name in decisions):
                raise ValueError(
                    f"variable {quoted(name)} has a table and is a decision; leave one"
                    if name in tables
                    else f"variable {quoted(name)} has no table; give one, or list it "
                    "in decisions"
                )
            shape = tuple(domain.cards[member] for member in family)
            cpds.append(
                TableCPD(family, checked_table(tables[name], shape, name))
                if name in tables
                else None
            )
        listed = []
        for node, (name, values) in enumerate(utilities.items(), start=len(domain)):
            shape = tuple(domain.cards[parent] for parent in dag.parents[node])
            worth = np.asarray(values, dtype=np.float64)
            is_flat = worth.ndim == 1 and worth.size == np.prod(shape)
            listed.append(Utility(name, worth.reshape(shape) if is_flat else worth))
        return cls(domain, dag, tuple(cpds), tuple(listed))

    @property
    def decisions(self) -> tuple[Name, ...]:
        """Names of the decisions, earlier ones first."""
        return tuple(self.domain.names[node] for node in self._decisions)

    @property
    def _decisions(self) -> list[int]:
        """Decisions in the order of the graph."""
        return [
            node
            for node in self.dag.order
            if node < len(self.domain) and self.cpds[node] is None
        ]

    def solve(
        self,
        given: ByName[object] | NamedRow | None = None,
        *,
        limited_memory: bool = False,
        max_table_cells: int = 20_000_000,
    ) -> Solution:
        """Find the policies of highest expected utility, exactly.

        Parameters
        ----------
        given : mapping, optional
            What is known before all decisions, as evidence of a network; the option of
            a decision fixes that decision.
        limited_memory : bool, default=False
            Whether a decision is made on its parents alone. By default nothing is
            forgotten: what was observed and decided before is known as well.
        max_table_cells : int, default=20_000_000
            Largest table that may be built; eight bytes per cell.

        Returns
        -------
        Solution
            Expected utility and the policy of each decision.

        Raises
        ------
        ValueError
            If decisions have no order although nothing is forgotten, or a decision
            influences what is given.
        ImpossibleEvidenceError
            If what is given has probability zero.
        TooWideError
            If a table would be too large.

        Notes
        -----
        Lauritzen and Nilsson 2001, "Representing and solving decision problems with
        limited information", Management Science 47: observations that cannot matter are
        left out, then decisions are solved one by one, each by variable elimination. If
        limited memory leaves no order in which that is exact, all policies of some
        decisions are tried.
        """
        diagram, fixed = self._problem(given, limited_memory, max_table_cells)
        solved = diagram.solved()
        values = diagram.expected_utilities(solved)
        policies = [
            Policy(
                self.domain[each.decision],
                tuple(self.domain[v] for v in each.observed),
                tuple(
                    self.domain.names[v]
                    for v in diagram.observed[each.decision]
                    if v not in each.observed
                ),
                each.expected,
                each.probabilities,
                each.choices,
            )
            for each in solved
        ]
        worth = {u.name: value for u, value in zip(self.utilities, values)}
        return Solution(sum(values), worth, tuple(policies), fixed)

    def value_of_observing(
        self,
        names: Name | Sequence[Name] | None = None,
        before: Name | None = None,
        given: ByName[object] | NamedRow | None = None,
        *,
        limited_memory: bool = False,
        max_table_cells: int = 20_000_000,
    ) -> float:
        """Expected utility gained by observing variables before a decision.

        Parameters
        ----------
        names : name or sequence of names, optional
            Chance variables that the decision does not influence; by default all of
            them, which gives the value of perfect information.
        before : name, optional
            The decision; by default the first one.
        given, limited_memory, max_table_cells
            As in `solve`.

        Returns
        -------
        float
            In the unit of the utilities, what the observation costs left out.

        Raises
        ------
        ValueError
            If the decision influences a variable.
        """
        node = self._decision(before)
        if names is None:
            observed = self._observable(node, limited_memory)
        else:
            listed = [names] if isinstance(names, str | int) else names
            observed = [find_variable(self.domain, name) for name in listed]
        influenced = descendants(self.dag, [node]).intersection(observed)
        if influenced:
            raise ValueError(
                f"decision {quoted(self.domain.names[node])} influences "
                f"{quoted(self.domain.names[min(influenced)])}, which therefore cannot "
                "be observed before it; name a later decision in before="
            )
        parents = list(self.dag.parents)
        known = parents[node]
        parents[node] = (*known, *(v for v in observed if v not in known))
        informed = replace(self, dag=DAG(tuple(parents)))
        problems = (
            diagram._problem(given, limited_memory, max_table_cells)[0]
            for diagram in (informed, self)
        )
        seeing, blind = (sum(p.expected_utilities(p.solved())) for p in problems)
        gain = seeing - blind
        return gain if gain > ROUNDING * max(abs(seeing), abs(blind)) else 0.0

    def value_of_information(
        self,
        before: Name | None = None,
        given: ByName[object] | NamedRow | None = None,
        *,
        limited_memory: bool = False,
        max_table_cells: int = 20_000_000,
    ) -> RankedNumbers:
        """Value of observing each variable that is not observed before a decision.

        Parameters
        ----------
        before, given, limited_memory, max_table_cells
            As in `value_of_observing`.

        Returns
        -------
        dict of name to float
            The largest first.
        """
        node = self._decision(before)
        values = {
            self.domain.names[v]: self.value_of_observing(
                self.domain.names[v],
                self.domain.names[node],
                given,
                limited_memory=limited_memory,
                max_table_cells=max_table_cells,
            )
            for v in self._observable(node, limited_memory)
        }
        ranked = dict(sorted(values.items(), key=lambda entry: -entry[1]))
        title = f"Utility gained by observing before {self.domain.names[node]}"
        return RankedNumbers(ranked, title, float)

    def save(self, path: str | Path) -> None:
        """Write the diagram to a file of GeNIe, HUGIN or pyAgrum.

        Parameters
        ----------
        path : str or Path
            ``.xdsl``, ``.net`` or ``.bifxml``; see `write_influence_diagram`.
        """
        dispatch_diagram("save", self, path)

    def document(self) -> Document:
        """What is shown of the diagram, before it is text or HTML."""
        decisions = [str(name) for name in self.decisions]
        chance = [str(n) for n, cpd in zip(self.domain.names, self.cpds) if cpd]
        utilities = [str(utility.name) for utility in self.utilities]
        observed = [
            arc_text(self.domain.names[parent], self.domain.names[node])
            for node in self._decisions
            for parent in self.dag.parents[node]
        ]
        facts = [
            ("chance variables", listed_names(chance)),
            ("decisions", listed_names(decisions)),
            ("utilities", listed_names(utilities)),
            ("observed", listed_names(observed)),
        ]
        kinds = [LATENT] * len(self.dag)
        for node, cpd in enumerate(self.cpds):
            kinds[node] = CLASS if cpd is None else FEATURE
        names = [*self.domain.names, *(utility.name for utility in self.utilities)]
        arcs = [(parent, child, None) for parent, child in self.dag.arcs]
        drawing = network_html(
            names, kinds, arcs, "filled: decisions; dashed: utilities"
        )
        return Document(
            "Influence diagram",
            [Facts([(name, text) for name, text in facts if text]), Figure(drawing)],
        )

    def __str__(self) -> str:
        from bayleaf.results.text import text_of

        return text_of(self.document())

    def _repr_html_(self) -> str:
        return html_of(self.document())

    def __repr__(self) -> str:
        n_decisions = len(self._decisions)
        return brief(
            self,
            counted(len(self.domain) - n_decisions, "chance variable"),
            counted(n_decisions, "decision"),
            "1 utility"
            if len(self.utilities) == 1
            else f"{len(self.utilities)} utilities",
        )

    def _decision(self, name: Name | None) -> int:
        """Index of a decision, by default of the first; ValueError if it is none."""
        if not self._decisions:
            raise ValueError("the diagram has no decisions")
        if name is None:
            return self._decisions[0]
        node = find_variable(self.domain, name)
        if node not in self._decisions:
            raise ValueError(
                f"{quoted(name)} is not a decision; decisions are "
                f"{name_list(self.decisions)}"
            )
        return node

    def _observable(self, decision: int, limited_memory: bool) -> list[int]:
        """Chance variables that a decision neither sees nor influences."""
        seen = self._observed(limited_memory)[decision]
        closed = {*descendants(self.dag, [decision]), *seen}
        return [v for v, cpd in enumerate(self.cpds) if cpd and v not in closed]

    def _observed(self, limited_memory: bool) -> dict[int, tuple[int, ...]]:
        """What each decision sees."""
        if limited_memory:
            return {node: self.dag.parents[node] for node in self._decisions}
        return self._remembered()

    def _remembered(self) -> dict[int, tuple[int, ...]]:
        """What each decision observes if nothing is forgotten.

        ValueError if a decision neither precedes nor follows another.
        """
        known: tuple[int, ...] = ()
        observed: dict[int, tuple[int, ...]] = {}
        for earlier, node in zip([None, *self._decisions], self._decisions):
            if earlier is not None:
                if earlier not in ancestors(self.dag, [node]):
                    names = (quoted(self.domain.names[d]) for d in (earlier, node))
                    raise ValueError(
                        "the diagram does not show which of the decisions "
                        f"{' and '.join(names)} comes first; add an arc from the first "
                        "to the second, or solve with limited memory"
                    )
                known = (*known, earlier)
            known = tuple(dict.fromkeys((*known, *self.dag.parents[node])))
            observed[node] = known
        return observed

    def _problem(
        self, given: EventLike | None, limited_memory: bool, limit: int
    ) -> tuple[LimitedMemoryDiagram, str]:
        """The diagram under what is given, and that in words."""
        evidence = read_evidence(self.domain, given)
        observed = self._observed(limited_memory)
        parents: dict[int, tuple[int, ...]] = {}
        tables: dict[int, Floats] = {}
        for node, cpd in enumerate(self.cpds):
            if cpd is not None:
                parents[node], tables[node] = cpd.parents, cpd.probabilities
        weights, fixed = evidence.likelihoods, {}
        for item in evidence.items:
            if item.variable in observed:
                if item.state is None:
                    raise ValueError(
                        f"decision {quoted(item.about.name)} can be fixed at one "
                        f"option only, not at {item.text}"
                    )
                observed.pop(item.variable)
                fixed[item.variable] = weights.pop(item.variable)
                parents[item.variable] = ()
                tables[item.variable] = indicator(item.about.n_states, item.state)
        free = DAG(
            tuple(
                () if node in fixed else above
                for node, above in enumerate(self.dag.parents[: len(self.domain)])
            )
        )
        for node in observed:
            influenced = descendants(free, [node]).intersection(weights)
            if influenced:
                raise ValueError(
                    f"{quoted(self.domain.names[min(influenced)])} cannot be given, as "
                    f"decision {quoted(self.domain.names[node])} influences it; give "
                    "the option of the decision too"
                )
        diagram = LimitedMemoryDiagram(
            self.domain.names,
            self.domain.cards,
            parents,
            tables,
            {
                node: tuple(v for v in seen if v not in evidence.hard)
                for node, seen in observed.items()
            },
            [
                (self.dag.parents[node], utility.values)
                for node, utility in enumerate(self.utilities, start=len(self.domain))
            ],
            weights | fixed,
            limit,
        )
        text = ", ".join(item.text for item in evidence.items)
        if not diagram.probability_of_evidence() > 0:
            names = tuple(item.about.name for item in evidence.items)
            raise ImpossibleEvidenceError(
                f"{text} has probability 0 in this diagram", names
            )
        return diagram, text


def _check_no_children(dag: DAG, names: Sequence[Name], first: int) -> None:
    """Raise ValueError if a utility, of which node `first` is one, has a child."""
    for parent, child in dag.arcs:
        if parent >= first:
            raise ValueError(
                f"utility {quoted(names[parent])} is a parent of "
                f"{quoted(names[child])}; utilities have no children"
            )
