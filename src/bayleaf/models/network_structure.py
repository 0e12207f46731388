"""Graphs over named variables, drawn by hand or learned, without tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable
from bayleaf.data.tables.frames import column_names, row_labels
from bayleaf.dispatch import dispatch_structure
from bayleaf.graph.dag import DAG, CycleError
from bayleaf.inference.causal_graph import CausalQuestions
from bayleaf.inference.graph_results import EssentialGraph
from bayleaf.inference.states import position_of
from bayleaf.models.graph_objects import foreign_graph
from bayleaf.models.texts.graph_text import DrawnGraph, read_graph_text
from bayleaf.models.texts.html_summary import arc_text, facts_html, picture_of
from bayleaf.models.texts.picture import PicturedGraph, PlotOptions, graph_picture
from bayleaf.typing import (
    ByName,
    FrameLike,
    GraphLike,
    NumbersLike,
    SupportsArray,
    TableLike,
)
from bayleaf.wording import brief, brief_names, counted, name_list, quoted, shown_name

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from bayleaf.data.encoder_learning import Discretizer
    from bayleaf.models.structure_results import IndependenceTests, StructureScore
    from bayleaf.scores.local_scores import LocalScore

Name = str | int

_FORMS = (
    "(parent, child) pairs of names, a text such as 'a -> b; b -> c', a mapping from "
    "children to their parents, an array or data frame of edges, an adjacency matrix, "
    "or a directed graph"
)
# Columns of edges in data frames, as networkx, bnlearn and others call them.
_ENDS = (("from", "to"), ("source", "target"), ("parent", "child"))


# Arcs as pairs, text, a mapping, an array, a frame, or a graph of some library.
EdgesLike = (
    str
    | Iterable[Sequence[Name]]
    | ByName[Name | Sequence[Name]]
    | SupportsArray
    | FrameLike
    | GraphLike
    | DAG
    | EssentialGraph
    | CausalQuestions
)


class DrawnEdges(NamedTuple):
    """A graph taken apart: names, parents by child, and what is not observed."""

    names: list[Name]
    parents: dict[Name, list[Name]]
    latents: list[Name]


def read_edges(
    edges: Any, nodes: Iterable[Name] | None = None, latents: Name | Iterable[Name] = ()
) -> DrawnEdges:
    """Take a graph apart into names, `nodes` first, and the parents of each.

    Edges are pairs, text, a mapping, an array, a data frame, a graph of networkx, a DAG
    or a network; names and parents come in their order. ValueError if a DAG or matrix
    has another number of nodes than there are names, or a text is not a graph;
    TypeError if the edges have none of these forms, or a name is neither text nor an
    integer.
    """
    if isinstance(nodes, str) or not isinstance(nodes, Iterable | None):
        raise TypeError(f"nodes must be a list of names, got {quoted(nodes)}")
    given = list(nodes or ())
    hidden = [latents] if isinstance(latents, str | int) else list(latents)
    hidden += getattr(edges, "latents", None) or ()
    if isinstance(edges, DAG):
        return DrawnEdges(*_of_dag(edges, given), hidden)
    drawn: Any = read_graph_text(edges) if isinstance(edges, str) else edges
    drawn = foreign_graph(drawn) or drawn
    if isinstance(drawn, DrawnGraph):
        hidden += drawn.latents
    elif hasattr(edges, "toarray"):
        drawn = edges.toarray()
    names: dict[Name, None] = dict.fromkeys(map(_checked, given))
    names.update(dict.fromkeys(map(_checked, _own_nodes(drawn))))
    parents: dict[Name, list[Name]] = {}
    arcs: dict[tuple[Name, Name], None] = {}
    for pair in _pairs(drawn, given):
        parent, child = arc = _checked(pair[0]), _checked(pair[1])
        arcs.setdefault(arc)
        names.setdefault(parent)
        names.setdefault(child)
        parents.setdefault(child, []).append(parent)
    both_ways = next(
        (arc for arc in arcs if arc[0] != arc[1] and arc[::-1] in arcs), ()
    )
    if both_ways:
        raise ValueError(
            f"the arcs close a cycle among {name_list(both_ways)}, with one each way; "
            "an arc without a direction, as in a CPDAG, needs one"
        )
    for name in hidden:
        position_of(list(names), name, "latents names")
    # Others hold latent variables as sets.
    unseen = set(hidden)
    return DrawnEdges(list(names), parents, [n for n in names if n in unseen])


def _of_dag(dag: DAG, names: list[Name]) -> tuple[list[Name], dict[Name, list[Name]]]:
    """Names and parents of a graph over indices."""
    if len(names) != len(dag):
        raise ValueError(
            f"a DAG of {counted(len(dag), 'node')} needs as many names, but nodes= "
            f"has {len(names)}"
        )
    parents = zip(names, dag.parents, strict=True)
    return names, {name: [names[p] for p in own] for name, own in parents}


def _own_nodes(edges: Any) -> Sequence[Name]:
    """The nodes of a graph that knows its own; none for other forms."""
    if isinstance(edges, Mapping):
        return list(edges)
    if _is_graph(edges):
        return list(edges.nodes)
    own = getattr(edges, "domain", edges)
    return list(getattr(own, "names", ()))


def _is_graph(edges: Any) -> bool:
    """Whether arcs come as a graph of networkx, or of what is built on it."""
    if not (hasattr(edges, "nodes") and hasattr(edges, "is_directed")):
        return False
    if not edges.is_directed():
        raise TypeError(
            "the graph has no directions; give a directed one, such as a "
            "networkx.DiGraph"
        )
    return True


def _pairs(edges: Any, nodes: Sequence[Name]) -> Iterator[tuple[Name, Name]]:
    """All arcs as pairs of parent and child."""
    if isinstance(edges, DrawnGraph):
        yield from edges.arcs
        return
    if isinstance(edges, Mapping):
        for child, parents in edges.items():
            listed = [parents] if isinstance(parents, str | int) else parents
            if not isinstance(listed, Iterable):
                raise TypeError(
                    f"the parents of {quoted(child)} must be a list, got "
                    f"{quoted(listed)}"
                )
            yield from ((parent, child) for parent in listed)
        return
    if isinstance(edges, np.ndarray):
        yield from _of_array(edges, nodes)
        return
    if not hasattr(edges, "edges") and column_names(edges) is not None:
        yield from _of_frame(edges)
        return
    listed = getattr(edges, "edges", edges)
    if callable(listed) and not isinstance(listed, Iterable):
        listed = listed()
    if not isinstance(listed, Iterable):
        raise TypeError(f"edges must be {_FORMS}, got {quoted(edges)}")
    for edge in listed:
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            raise TypeError(f"edges must be {_FORMS}, but one is {quoted(edge)}")
        yield edge[0], edge[1]


def _of_array(edges: NDArray[Any], nodes: Sequence[Name]) -> list[Any]:
    """The arcs of an array of edges, or of an adjacency matrix over `nodes`."""
    shape = edges.shape
    if edges.ndim == 2 and shape[0] == shape[1] and edges.dtype.kind in "biuf":
        names = list(nodes) or list(range(len(edges)))
        if len(names) != len(edges):
            raise ValueError(
                f"an adjacency matrix of {counted(len(edges), 'row')} needs as many "
                f"names, but nodes= has {len(names)}"
            )
        if not np.isfinite(edges).all():
            raise ValueError(
                "an adjacency matrix must have finite numbers, 0 where no arc leads "
                "from the row's to the column's variable"
            )
        # By child, then by parent, as structures list their arcs.
        return [(names[i], names[j]) for j, i in np.argwhere(edges.T).tolist()]
    if edges.ndim == 2 and shape[1] == 2:
        return list(edges.tolist())
    raise TypeError(
        "an array of edges must have two columns, the parent and the child, or be a "
        f"square adjacency matrix of numbers, got {edges.dtype} of shape {shape}"
    )


def _of_frame(edges: Any) -> list[Any]:
    """The arcs of a data frame of edges, or of an adjacency matrix with names."""
    frame = nw.from_native(edges, eager_only=True)
    names, index = list(column_names(edges) or ()), row_labels(edges)
    if index is not None and sorted(map(str, index)) == sorted(map(str, names)):
        return _of_array(edges.loc[names].to_numpy(), names)
    lower = [str(name).lower() for name in names]
    for ends in _ENDS:
        if set(ends) <= set(lower):
            names = [names[lower.index(end)] for end in ends]
    if len(names) == 2:
        columns = [frame[name].to_list() for name in names]
        return list(zip(*columns, strict=True))
    if len(frame) == len(names):
        return _of_array(frame.to_numpy(), names)
    raise TypeError(
        "a data frame of edges needs the columns 'from' and 'to' (or 'source' and "
        "'target', 'parent' and 'child'), or is an adjacency matrix with a row and a "
        f"column per variable; got {counted(len(frame), 'row')} of "
        f"{name_list(names)}"
    )


def _checked(name: Any) -> Name:
    """A name, once it is text or an integer."""
    if isinstance(name, np.generic):
        name = name.item()
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise TypeError(
            f"a variable's name must be text or an integer, got {quoted(name)}"
        )
    return name


@dataclass(frozen=True, repr=False)
class NamedGraph(CausalQuestions):
    """All of a `NetworkStructure` but its `fit`, which makes networks."""

    names: tuple[Name, ...]
    dag: DAG
    variables: tuple[Variable | None, ...] = field(default=())
    latents: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        for name in self.latents:
            position_of(self.names, name, "latents names")
        if not self.names:
            raise ValueError(
                "a structure needs at least one variable; give edges, or nodes="
            )
        if len(set(self.names)) != len(self.names):
            twice = sorted({str(n) for n in self.names if self.names.count(n) > 1})
            raise ValueError(f"two variables are called {name_list(twice)}")
        if not self.variables:
            object.__setattr__(self, "variables", (None,) * len(self.names))
        if not len(self.names) == len(self.dag) == len(self.variables):
            raise ValueError(
                f"{len(self.names)} names, {len(self.dag)} nodes and "
                f"{len(self.variables)} variables do not fit; give one of each"
            )

    @classmethod
    def from_edges(
        cls,
        edges: EdgesLike,
        nodes: Iterable[Name] | None = None,
        states: ByName[object] | Domain | None = None,
        latents: Name | Iterable[Name] = (),
    ) -> Self:
        """Draw a graph by its arcs; see `BayesianNetwork.from_edges`."""
        names, parents, hidden = read_edges(edges, nodes, latents)
        dag = dag_of(names, parents)
        structure = cls(tuple(names), dag, latents=tuple(hidden))
        own = getattr(edges, "domain", None)
        if own is not None:
            structure = structure.with_states(own)
        elif isinstance(edges, NamedGraph):
            known = zip(edges.names, edges.variables, strict=True)
            structure = structure.with_states({n: v for n, v in known if v})
        return structure if states is None else structure.with_states(states)

    def with_states(self, states: ByName[object] | Domain) -> Self:
        """Return the same graph with the states of some variables given.

        Parameters
        ----------
        states : mapping of name to states or Variable, or Domain
            As for `BayesianNetwork.from_tables`; those given before stay.

        Raises
        ------
        ValueError
            If there is no such variable, or the states are none.
        TypeError
            If it is no mapping.
        """
        if isinstance(states, Domain):
            states = {variable.name: variable for variable in states}
        if not isinstance(states, Mapping):
            raise TypeError(
                "states must be a mapping from names of variables, got "
                f"{type(states).__name__}"
            )
        variables = list(self.variables)
        indices = {name: i for i, name in enumerate(self.names)}
        for name, own in states.items():
            position = indices.get(name, -1)
            if position < 0:
                position = position_of(self.names, name, "states are given for")
            variables[position] = variable_of(name, own)
        return replace(self, variables=tuple(variables))

    def score(
        self,
        table: TableLike,
        local_score: str | LocalScore = "mdl",
        *,
        penalty_weight: float = 1.0,
        equivalent_sample_size: float = 1.0,
        states: ByName[object] | None = None,
        discretizer: str | Discretizer = "equal_frequency",
        categorical_features: Collection[Name] | None = None,
        sample_weight: NumbersLike | None = None,
        n_jobs: int | None = None,
    ) -> StructureScore:
        """Score the graph on a table, as the search of `BayesianNetworkEstimator` does.

        Parameters
        ----------
        table : data frame, mapping of name to column, array, list of rows, or Codes
            The rows; columns are read as by `fit`.
        local_score : {"mdl", "bic", "bdeu", "aic", "k2"} or LocalScore, default="mdl"
            The score of a family; the graph's is their sum.
        penalty_weight, equivalent_sample_size : float, default=1.0
            Of "mdl" and "bdeu", see `bayleaf.scores.resolve_score`.
        states, discretizer, categorical_features, sample_weight, n_jobs
            As for `fit`.

        Returns
        -------
        StructureScore
            Its `total`, larger being better, and the score of each family.

        Raises
        ------
        ValueError, TypeError
            If there is no such score, a variable is latent, or a column or a value
            cannot be used.

        Examples
        --------
        >>> from bayleaf import BayesianNetwork
        >>> table = {"rain": ["yes", "no"] * 20, "wet": ["yes", "no"] * 20}
        >>> linked = BayesianNetwork.from_edges("rain -> wet").score(table, "bic")
        >>> alone = BayesianNetwork.from_edges([], ["rain", "wet"]).score(table, "bic")
        >>> linked.total > alone.total
        True
        """
        scores: StructureScore = dispatch_structure(
            "score",
            self,
            table,
            local_score=local_score,
            penalty_weight=penalty_weight,
            equivalent_sample_size=equivalent_sample_size,
            states=states,
            discretizer=discretizer,
            categorical_features=categorical_features,
            sample_weight=sample_weight,
            n_jobs=n_jobs,
        )
        return scores

    def test_independences(
        self,
        table: TableLike,
        *,
        level: float = 0.05,
        correction: str = "bh",
        states: ByName[object] | None = None,
        discretizer: str | Discretizer = "equal_frequency",
        categorical_features: Collection[Name] | None = None,
        sample_weight: NumbersLike | None = None,
        n_jobs: int | None = None,
    ) -> IndependenceTests:
        """Test the independences that the graph implies against a table.

        Parameters
        ----------
        table : data frame, mapping of name to column, array, list of rows, or Codes
            The rows; those that miss a variable of a claim are left out of its test.
        level : float, default=0.05
            Share of false ones that is allowed among the claims found contradicted.
        correction : {"bh", "by"}, default="bh"
            How p-values are adjusted: Benjamini and Hochberg, for independent tests, or
            Benjamini and Yekutieli, for any.
        states, discretizer, categorical_features, sample_weight, n_jobs
            As for `fit`.

        Returns
        -------
        IndependenceTests
            A test for each of `implied_independences`; `rejected` lists those that the
            table contradicts.

        Raises
        ------
        ValueError, TypeError
            If a parameter, a column or a value cannot be used.

        Notes
        -----
        Likelihood-ratio tests with the chi-square distribution; p-values are rough
        where configurations of the given variables have few rows.
        """
        tests: IndependenceTests = dispatch_structure(
            "test_independences",
            self,
            table,
            level=level,
            correction=correction,
            states=states,
            discretizer=discretizer,
            categorical_features=categorical_features,
            sample_weight=sample_weight,
            n_jobs=n_jobs,
        )
        return tests

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a graph from a file in DAGitty's language.

        Parameters
        ----------
        path : path
            A text such as ``dag { a -> b <- u; u [latent] }``; see
            `BayesianNetwork.from_edges`.

        Raises
        ------
        NetworkFileError
            If the file is not a directed acyclic graph: one sentence with its line.
        OSError
            If the file cannot be opened.
        """
        structure: Self = dispatch_structure("read", path)
        return structure

    def save(self, path: str | Path) -> None:
        """Write the graph to a file in DAGitty's language, which leaves states out.

        Parameters
        ----------
        path : path
            Its suffix is ``.dagitty``.

        Raises
        ------
        ValueError
            If the suffix differs, or two names are the same text.
        OSError
            If the file cannot be written.
        """
        dispatch_structure("save", self, path)

    def to_dot(self, *, states: bool = False) -> str:
        """Write the graph in Graphviz' DOT language.

        Parameters
        ----------
        states : bool, default=False
            Whether variables are drawn as boxes that list their states, if known.
        """
        return str(dispatch_structure("to_dot", self, states=states))

    def to_mermaid(self) -> str:
        """Write the graph as a flowchart of Mermaid, for Markdown pages."""
        return str(dispatch_structure("to_mermaid", self))

    def to_networkx(self) -> nx.DiGraph[Name]:
        """Make a networkx.DiGraph of names and arcs.

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        graph: nx.DiGraph[Any] = dispatch_structure("to_networkx", self)
        return graph

    @property
    def _node_names(self) -> tuple[Name, ...]:
        return self.names

    @property
    def arcs(self) -> Iterator[tuple[int, int]]:
        """All arcs as (parent, child) pairs of indices, as `DAG` has them."""
        return self.dag.arcs

    @property
    def picture(self) -> PicturedGraph:
        """Variables and arcs to draw."""
        return graph_picture(self.names, self.dag, self.latents)

    def plot(self, **options: Unpack[PlotOptions]) -> Axes:
        """Draw the graph with matplotlib; see `bayleaf.plot.network`.

        Parameters
        ----------
        **options
            Of `bayleaf.plot.network`, such as ``ax``.

        Returns
        -------
        Axes
        """
        axes: Axes = dispatch_structure("plot", self, **options)
        return axes

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        arcs = [f"{parent} -> {child}" for parent, child in self.edges]
        shown = f" ({brief_names(arcs)})" if arcs else ""
        return brief(
            self,
            f"{counted(len(self), 'variable')} ({brief_names(self.names)})",
            counted(len(arcs), "arc") + shown,
            "no tables yet; fit(table) learns them",
        )

    def __str__(self) -> str:
        lines = []
        for name, above in zip(self.names, self.dag.parents, strict=True):
            given = ", ".join(shown_name(self.names[parent]) for parent in above)
            hidden = " (latent)" * (name in self.latents)
            arcs = f" <- {given}" if given else ""
            lines.append(f"  {shown_name(name)}{arcs}{hidden}")
        n_arcs = counted(len(self.edges), "arc")
        head = f"Network structure of {counted(len(self), 'variable')} and {n_arcs}"
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        facts: list[tuple[str, Any]] = [("variables", len(self))]
        facts.append(("arcs", len(self.edges)))
        facts.append(("tables", "none yet"))
        known = [
            f"{quoted(variable.name)}: {name_list(variable.states, limit=6)}"
            for variable in self.variables
            if variable is not None
        ]
        lists = [("given states", known), ("arcs", [arc_text(*e) for e in self.edges])]
        return facts_html("Network structure", facts, lists, picture_of(self))


def variable_of(name: Any, states: Any) -> Variable:
    """A variable with states that can be told apart, found again and written down.

    A ready `Variable` stands for itself, once it is called by that name.
    """
    if not isinstance(states, Variable):
        return Variable.nominal(name, states)
    if states.name != name:
        raise ValueError(
            f"the states of {quoted(name)} are given as a variable that is called "
            f"{quoted(states.name)}; give both one name"
        )
    return states


def dag_of(names: Sequence[Name], parents: Mapping[Name, Sequence[Name]]) -> DAG:
    """The graph of parents by name, with errors that name variables."""
    members = []
    indices = {name: i for i, name in enumerate(names)}
    for name in names:
        role = f"{quoted(name)} has the parent"
        listed = parents.get(name, ())
        if isinstance(listed, str | int):
            listed = [listed]
        if not isinstance(listed, Iterable):
            raise TypeError(
                f"the parents of {quoted(name)} must be a list, got {quoted(listed)}"
            )
        chosen = [
            indices[p]
            if isinstance(p, str | int) and p in indices
            else position_of(names, p, role)
            for p in listed
        ]
        if len(set(chosen)) < len(chosen):
            parent = names[next(p for p in chosen if chosen.count(p) > 1)]
            raise ValueError(f"{quoted(name)} lists the parent {quoted(parent)} twice")
        members.append(tuple(chosen))
    try:
        return DAG(tuple(members))
    except CycleError as error:
        on_cycle = [names[node] for node in error.nodes]
        raise ValueError(
            f"the arcs close a cycle among {name_list(on_cycle)}"
        ) from None
