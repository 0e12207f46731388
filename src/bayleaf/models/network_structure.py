"""The graph of a network before it has tables: drawn by hand, or learned."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from bayleaf.data.domain import Domain, Variable
from bayleaf.dispatch import dispatch_structure
from bayleaf.graph.dag import DAG, CycleError
from bayleaf.inference.causal_graph import CausalQuestions
from bayleaf.inference.states import position_of
from bayleaf.models.texts.html_summary import arc_text, facts_html, picture_of
from bayleaf.models.texts.picture import PicturedGraph, graph_picture
from bayleaf.wording import (
    brief,
    brief_names,
    counted,
    name_list,
    plain,
    quoted,
    shown_name,
)

Name = str | int

_ARROW = re.compile(r"(->|<-|→|←)")
_FORMS = (
    "(parent, child) pairs of names, a text such as 'a -> b; b -> c', a mapping from "
    "children to their parents, or a directed graph"
)


def read_edges(
    edges: Any, nodes: Iterable[Name] | None = None
) -> tuple[list[Name], dict[Name, list[Name]]]:
    """Take a graph apart into names, `nodes` first, and the parents of each.

    Edges are pairs, text, a mapping, a graph of networkx, a DAG or a network; names and
    parents come in their order. ValueError if a DAG has another number of nodes than
    there are names; TypeError if the edges have none of these forms, or a name is
    neither text nor an integer.
    """
    if isinstance(nodes, str) or not isinstance(nodes, Iterable | None):
        raise TypeError(f"nodes must be a list of names, got {quoted(nodes)}")
    given = list(nodes or ())
    if isinstance(edges, DAG):
        return _of_dag(edges, given)
    names: dict[Name, None] = dict.fromkeys(map(_checked, given))
    names.update(dict.fromkeys(map(_checked, _own_nodes(edges))))
    parents: dict[Name, list[Name]] = {}
    for parent, child in _pairs(edges):
        names.setdefault(_checked(parent))
        names.setdefault(_checked(child))
        parents.setdefault(child, []).append(parent)
    return list(names), parents


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
    return getattr(own, "names", ())


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


def _pairs(edges: Any) -> Iterator[tuple[Name, Name]]:
    """All arcs as pairs of parent and child."""
    if isinstance(edges, str):
        yield from _of_text(edges)
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
    listed = getattr(edges, "edges", edges)
    if callable(listed) and not isinstance(listed, Iterable):
        listed = listed()
    if not isinstance(listed, Iterable):
        raise TypeError(f"edges must be {_FORMS}, got {quoted(edges)}")
    for edge in listed:
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            raise TypeError(f"edges must be {_FORMS}, but one is {quoted(edge)}")
        yield edge[0], edge[1]


def _of_text(text: str) -> Iterator[tuple[str, str]]:
    """The arcs of chains such as ``a -> b <- c; d -> b``."""
    for chain in re.split(r"[;\n]", text):
        if not chain.strip():
            continue
        names = [part.strip() for part in _ARROW.split(chain)]
        if not all(names) or len(names) == 1:
            raise ValueError(
                f"{quoted(plain(chain.strip(), 60))} names no arc; write arcs as "
                "'a -> b' or 'a -> b <- c', with ; between chains"
            )
        for (first, second), arrow in zip(pairwise(names[::2]), names[1::2]):
            yield (first, second) if arrow in ("->", "→") else (second, first)


def _checked(name: Any) -> Name:
    """A name, once it is text or an integer."""
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise TypeError(
            f"a variable's name must be text or an integer, got {quoted(name)}"
        )
    return name


@dataclass(frozen=True, repr=False)
class NetworkStructure(CausalQuestions):
    """A directed acyclic graph over named variables; `fit` gives it tables.

    Parameters
    ----------
    names : tuple of str or int
        The variables.
    dag : DAG
        Parents of each, by index.
    variables : tuple of Variable or None, default=()
        The states of each variable where they are given; `fit` finds out the others.
        Empty if none are.

    Raises
    ------
    ValueError
        If there are no variables, two share a name, or their numbers differ.

    Examples
    --------
    >>> structure = NetworkStructure.from_edges([("rain", "wet"), ("hose", "wet")])
    >>> structure.markov_blanket("rain")
    ('wet', 'hose')
    >>> structure.d_separated("rain", "hose", given="wet")
    False
    """

    names: tuple[Name, ...]
    dag: DAG
    variables: tuple[Variable | None, ...] = field(default=())

    def __post_init__(self) -> None:
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
        edges: Any,
        nodes: Iterable[Name] | None = None,
        states: Mapping[Name, Any] | Domain | None = None,
    ) -> NetworkStructure:
        """Draw a graph by its arcs; see `BayesianNetwork.from_edges`."""
        names, parents = read_edges(edges, nodes)
        structure = cls(tuple(names), dag_of(names, parents))
        own = getattr(edges, "domain", None)
        if own is not None:
            structure = structure.with_states(own)
        elif isinstance(edges, NetworkStructure):
            known = zip(edges.names, edges.variables, strict=True)
            structure = structure.with_states({n: v for n, v in known if v})
        return structure if states is None else structure.with_states(states)

    def with_states(self, states: Mapping[Name, Any] | Domain) -> NetworkStructure:
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
        return NetworkStructure(self.names, self.dag, tuple(variables))

    def fit(
        self,
        table: Any,
        *,
        states: Mapping[Name, Any] | None = None,
        discretizer: Any = "equal_frequency",
        categorical_features: Collection[Name] | None = None,
        smoothing: Any = "laplace",
        missing: str = "marginalize",
        unknown: str = "error",
        sample_weight: Any = None,
        prior: Any = None,
        strength: float | Mapping[Name, float] | None = None,
        latent: Name | Collection[Name] | Mapping[Name, Any] = (),
        n_restarts: int = 1,
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Learn states and tables from rows.

        Parameters
        ----------
        table : data frame, mapping of name to column, array, list of rows, or Codes
            Columns are found by name; others are ignored, with a note. Columns of
            arrays and lists of rows are the variables in order.
        states : mapping of name to states or Variable, or Domain, optional
            States and cut points that are given; all others are found out.
        discretizer : str or discretiser, default="equal_frequency"
            Finds the cut points of numeric columns.
        categorical_features : collection of names, optional
            Columns of numbers that are nominal; all others are then numeric. By
            default integers of at most ten distinct values are nominal.
        smoothing : str or Smoothing, default="laplace"
            From counts to probabilities. Expectation maximisation takes "laplace",
            `Lidstone`, "dirichlet", `Dirichlet` and "maximum_likelihood".
        missing : {"marginalize", "em", "state", "error"}, default="marginalize"
            Each family is counted in the rows that hold all of it; missing cells are
            summed out by expectation maximisation; they are a state of their own; or
            they are refused.
        unknown : {"error", "missing"}, default="error"
            Whether a value that is none of a variable's given states is refused, or
            taken as missing.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row.
        prior : BayesianNetwork, optional
            An expert's network over the same parents. Its states are kept, and its
            tables count as rows seen before; its variables are not smoothed.
        strength : float, or mapping of name to float, optional
            How many rows each distribution of `prior` is worth: cells get
            ``strength * P`` rows. By default its experience counts.
        latent : mapping of name to states or to their number, or names, optional
            Variables without a column, with ``missing="em"`` only. Names alone serve
            where the states are given. Their tables start from random ones.
        n_restarts : int, default=1
            Starts of expectation maximisation, of which the best end is kept.
        tol, max_iter : float and int, default=1e-4 and 200
            When expectation maximisation ends, see `learn_parameters`.
        random_state : int, RandomState, Generator or None, default=None
            Source of random starts.
        n_jobs : int, optional
            Threads; the result does not depend on it.

        Returns
        -------
        BayesianNetwork
            Its tables carry their experience, and `notes` say what a reader should
            know of the fit.

        Raises
        ------
        ValueError, TypeError
            If a parameter, a column or a value cannot be used, or a variable has no
            column; the sentence names it.

        Examples
        --------
        >>> from bayleaf import BayesianNetwork
        >>> table = {"rain": ["yes", "no", "no"], "wet": ["yes", "yes", "no"]}
        >>> network = BayesianNetwork.from_edges([("rain", "wet")]).fit(table)
        >>> print(network.describe("wet"))
        P(wet | rain)
          rain |     no     yes
          no   |   0.50    0.50
          yes  | 0.3333  0.6667
        """
        return dispatch_structure(
            "fit",
            self,
            table,
            states=states,
            discretizer=discretizer,
            categorical_features=categorical_features,
            smoothing=smoothing,
            missing=missing,
            unknown=unknown,
            sample_weight=sample_weight,
            prior=prior,
            strength=strength,
            latent=latent,
            n_restarts=n_restarts,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def to_networkx(self) -> Any:
        """Make a networkx.DiGraph of names and arcs.

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        return dispatch_structure("to_networkx", self)

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
        return graph_picture(self.names, self.dag)

    def plot(self, **options: Any) -> Any:
        """Draw the graph with matplotlib; see `bayleaf.plot.network`.

        Parameters
        ----------
        **options
            Of `bayleaf.plot.network`, such as ``ax``.

        Returns
        -------
        Axes
        """
        return dispatch_structure("plot", self, **options)

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
            lines.append(f"  {shown_name(name)}" + (f" <- {given}" if given else ""))
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
