"""What a graph has in common with others: its essential graph, and differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from bayleaf.graph.dag import DAG
from bayleaf.graph.equivalence import compelled_arcs
from bayleaf.results.document import Document, Facts, Figure, Items, Part, Table
from bayleaf.results.drawings import network_html
from bayleaf.results.result import Result, Shown
from bayleaf.wording import brief, brief_names, counted, name_list, shown_name

Name = str | int
_MAX_ARCS = 200


@dataclass(frozen=True, repr=False)
class EssentialGraph(Result, keys={"names": "variables"}):
    """The arcs that data can direct, and those that they cannot (a CPDAG).

    Parameters
    ----------
    names : tuple of str or int
        The variables.
    directed : tuple of (parent, child)
        Arcs that every graph with the same independences has.
    undirected : tuple of pairs
        Links that point either way in some of these graphs.

    References
    ----------
    Andersson, Madigan and Perlman (1997), "A characterization of Markov equivalence
    classes for acyclic digraphs".
    """

    names: tuple[Name, ...]
    directed: tuple[tuple[Name, Name], ...]
    undirected: tuple[tuple[Name, Name], ...]

    @classmethod
    def of_dag(cls, names: Sequence[Name], dag: DAG) -> EssentialGraph:
        """The essential graph of a directed one."""
        compelled = compelled_arcs(dag)
        named = {arc: (names[arc[0]], names[arc[1]]) for arc in dag.arcs}
        directed = tuple(ends for arc, ends in named.items() if arc in compelled)
        others = tuple(ends for arc, ends in named.items() if arc not in compelled)
        return cls(tuple(names), directed, others)

    @property
    def _links(self) -> list[str]:
        """The links as texts, directed ones first."""
        texts = [_link(a, "->", b) for a, b in self.directed]
        return texts + [_link(a, "--", b) for a, b in self.undirected]

    def document(self) -> Document:
        """What is shown: numbers, the drawing, and all links."""
        index = {name: i for i, name in enumerate(self.names)}
        arcs = [(index[a], index[b], None) for a, b in self.directed + self.undirected]
        lines = [(first, second) for first, second, _ in arcs[len(self.directed) :]]
        drawing = network_html(
            self.names, ["feature"] * len(index), arcs, undirected=lines
        )
        parts: list[Part] = [
            Facts(
                [
                    ("variables", str(len(index))),
                    ("directed arcs", str(len(self.directed))),
                    ("links without a direction", str(len(self.undirected))),
                ]
            ),
            Figure(drawing),
            Items(self._links, "links", _MAX_ARCS),
        ]
        return Document("Essential graph", parts)

    def __repr__(self) -> str:
        return brief(
            self,
            counted(len(self.names), "variable"),
            f"{counted(len(self.directed), 'directed arc')} and "
            f"{len(self.undirected)} without a direction ({brief_names(self._links)})",
        )


def _link(first: Name, sign: str, second: Name) -> str:
    """Two variables and what links them."""
    return f"{shown_name(first)} {sign} {shown_name(second)}"


@dataclass(frozen=True)
class DifferingArc(Shown):
    """A pair of variables that two graphs link in different ways.

    Parameters
    ----------
    first, second : str or int
        The variables.
    link, other_link : {"->", "<-", "--", ""}
        How this graph and the other one link them; "" for no link.
    """

    first: Name
    second: Name
    link: str
    other_link: str

    @property
    def kind(self) -> str:
        """Return "extra", "missing" or "direction".

        Extra links are in this graph only, missing ones in the other only.
        """
        if not self.link:
            return "missing"
        return "direction" if self.other_link else "extra"

    def __str__(self) -> str:
        texts = [
            _link(self.first, sign, self.second) if sign else "no link"
            for sign in (self.link, self.other_link)
        ]
        return f"{self.kind}: {texts[0]} here, {texts[1]} there"


@dataclass(frozen=True, repr=False)
class StructureDifference(Result, Sequence[DifferingArc], computed=("distance",)):
    """All pairs of variables that two graphs link in different ways.

    Parameters
    ----------
    arcs : tuple of DifferingArc
        The pairs, in the order of this graph's variables.
    is_essential : bool
        Whether the essential graphs are compared, not the arcs themselves.
    """

    arcs: tuple[DifferingArc, ...]
    is_essential: bool

    @property
    def distance(self) -> int:
        """The structural Hamming distance: number of pairs that differ.

        As many links are to be added, removed or directed otherwise (Tsamardinos, Brown
        and Aliferis 2006, "The max-min hill-climbing Bayesian network structure
        learning algorithm", who compare essential graphs).
        """
        return len(self.arcs)

    def __getitem__(self, index: Any) -> Any:
        return self.arcs[index]

    def __len__(self) -> int:
        return len(self.arcs)

    def __iter__(self) -> Iterator[DifferingArc]:
        return iter(self.arcs)

    def document(self) -> Document:
        """What is shown: the distance and a table of pairs."""
        rows = [
            (
                f"{shown_name(arc.first)}, {shown_name(arc.second)}",
                arc.kind,
                arc.link or "none",
                arc.other_link or "none",
            )
            for arc in self.arcs
        ]
        what = "essential graphs" if self.is_essential else "graphs"
        sentence = f"Structural Hamming distance of the {what}: {self.distance}."
        heads = ("pair", "difference", "here", "there")
        table = [Table(heads, rows, n_words=4, max_rows=_MAX_ARCS)] if rows else []
        return Document("Differing arcs", [sentence, *table])

    def __repr__(self) -> str:
        return brief(
            self, f"distance {self.distance}", brief_names(list(map(str, self.arcs)))
        )


def structure_difference(
    names: Sequence[Name],
    dag: DAG,
    other_names: Sequence[Name],
    other: DAG,
    *,
    essential: bool,
) -> StructureDifference:
    """Pairs that two graphs over the same names link in different ways.

    ValueError if a variable is in only one of them.
    """
    differing = sorted(set(names) ^ set(other_names), key=str)
    if differing:
        raise ValueError(
            f"graphs are compared over the same variables, but only one has "
            f"{name_list(differing)}; draw both with nodes= for all variables"
        )
    signs = _signs(names, dag, essential)
    other_signs = _signs(other_names, other, essential)
    arcs = [
        DifferingArc(a, b, signs.get((a, b), ""), other_signs.get((a, b), ""))
        for a, b in combinations(names, 2)
        if signs.get((a, b)) != other_signs.get((a, b))
    ]
    return StructureDifference(tuple(arcs), essential)


def _signs(names: Sequence[Name], dag: DAG, essential: bool) -> dict[Any, str]:
    """How each pair is linked, in both orders."""
    compelled = compelled_arcs(dag) if essential else frozenset(dag.arcs)
    signs = {}
    for parent, child in dag.arcs:
        is_directed = (parent, child) in compelled
        ends = names[parent], names[child]
        signs[ends] = "->" if is_directed else "--"
        signs[ends[::-1]] = "<-" if is_directed else "--"
    return signs


@dataclass(frozen=True)
class Independence(Shown):
    """Two variables that a graph declares independent once others are given.

    Parameters
    ----------
    first, second : str or int
        The variables.
    given : tuple of str or int
        A smallest set of observed variables that separates them.
    """

    first: Name
    second: Name
    given: tuple[Name, ...] = ()

    def __str__(self) -> str:
        condition = f" | {', '.join(map(shown_name, self.given))}" if self.given else ""
        return f"{shown_name(self.first)} _||_ {shown_name(self.second)}{condition}"
