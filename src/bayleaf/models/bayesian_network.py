"""A Bayesian network: domain, directed acyclic graph, and distributions."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayleaf.cpds.distribution import CPD, TableCPD
from bayleaf.cpds.given_tables import (
    check_distributions,
    checked_table,
    spread_experience,
)
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.random_state import RandomState
from bayleaf.data.table_encoder import EncodedTable
from bayleaf.dispatch import dispatch, dispatch_structure
from bayleaf.inference.encoded_rows import read_rows
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.interventions.causal_effect import CausalEffect
from bayleaf.inference.interventions.effect_measurement import (
    EffectQuestion,
    Uncertainty,
    intervened,
    read_effect,
    read_settings,
)
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.queries import Inference
from bayleaf.inference.states import position_of
from bayleaf.models.conditional_table import ConditionalTable
from bayleaf.models.network_structure import (
    EdgesLike,
    Name,
    NamedGraph,
    dag_of,
    variable_of,
)
from bayleaf.models.page_model import DENSITY, PageModel
from bayleaf.models.texts.html_summary import arc_text, facts_document, picture_of
from bayleaf.models.texts.network_text import distribution_text, network_text
from bayleaf.models.texts.picture import PicturedGraph, PlotOptions, graph_picture
from bayleaf.typing import (
    ByName,
    EventLike,
    EvidenceLike,
    GraphLike,
    NumbersLike,
    PgmpyModel,
    PyAgrumModel,
    TableLike,
)
from bayleaf.wording import brief, brief_names, counted, name_list, plain, quoted

if TYPE_CHECKING:
    import networkx as nx
    import pyagrum
    from matplotlib.axes import Axes
    from pgmpy.models import DiscreteBayesianNetwork

    from bayleaf.cpds.smoothing import Smoothing
    from bayleaf.data.encoder_learning import Discretizer
    from bayleaf.data.fitted_hierarchies import HierarchiesLike


@dataclass(frozen=True, eq=False)
class BayesianNetwork(Factorisation, Inference):
    """A joint distribution over discrete variables that factorises along a graph.

    It answers the questions of `Inference` by a junction tree, which is compiled when
    the first one is asked and then kept.

    Parameters
    ----------
    domain : Domain
        The variables.
    dag : DAG
        Parents of each variable.
    cpds : tuple of TableCPD, TreeCPD or DeterministicCPD
        One a variable, in the variables' order; the family of each is that of `dag`.
    latents : tuple of str or int, optional
        Variables that are not observed. Sets to adjust for and separators contain none,
        and `causal_effect` is computed from the others.

    Raises
    ------
    ValueError
        If tables, graph and domain do not fit each other, naming the variable, or a
        latent variable does not exist.

    Examples
    --------
    >>> network = BayesianNetwork.from_tables(
    ...     states={"rain": ["no", "yes"], "wet": ["no", "yes"]},
    ...     parents={"wet": ["rain"]},
    ...     tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    ... )
    >>> print(network.describe("wet"))
    P(wet | rain)
      rain |   no   yes
      no   | 0.90  0.10
      yes  | 0.05  0.95
    """

    latents: tuple[Name, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.latents or ():
            position_of(self.domain.names, name, "latents names")

    @classmethod
    def from_tables(
        cls,
        states: ByName[Sequence[Hashable] | Variable],
        tables: ByName[ArrayLike],
        parents: ByName[Sequence[Name]] | None = None,
    ) -> BayesianNetwork:
        """Build a network from states, parents and probability tables by name.

        Parameters
        ----------
        states : mapping of name to sequence, or to Variable
            The states of each variable, or itself, such as
            ``Variable.numeric("age", cuts=[30, 50])``; its order is that of the
            variables.
        tables : mapping of name to array-like
            P(child | parents), one axis a parent in the order of `parents`, then one
            for the child's states; flat lists are taken in the same order, the
            child's states fastest.
        parents : mapping of name to sequence of names, optional
            Variables that are not mentioned have none.

        Raises
        ------
        ValueError
            If a name is unknown, a table is missing, has another size, or holds
            something that is no distribution, or the arcs close a cycle.
        TypeError
            If an argument is no mapping, or a name is neither text nor an integer.
        """
        given: Any = {} if parents is None else parents
        for what, mapping in (
            ("states", states),
            ("tables", tables),
            ("parents", given),
        ):
            if not isinstance(mapping, Mapping):
                raise TypeError(
                    f"{what} must be a mapping from names of variables, got "
                    f"{type(mapping).__name__}"
                )
        domain = Domain(tuple(variable_of(name, s) for name, s in states.items()))
        for mapping, what in ((tables, "a table"), (given, "parents")):
            for name in mapping:
                position_of(domain.names, name, f"{what} given for")
        dag = dag_of(domain.names, given)
        cpds = []
        for name, family in zip(domain.names, dag.families, strict=True):
            if name not in tables:
                raise ValueError(f"variable {quoted(name)} has no table; give P of it")
            shape = tuple(domain.cards[member] for member in family)
            cpds.append(TableCPD(family, checked_table(tables[name], shape, name)))
        return cls(domain, dag, tuple(cpds))

    @classmethod
    def from_edges(
        cls,
        edges: EdgesLike,
        nodes: Iterable[Name] | None = None,
        states: ByName[object] | Domain | None = None,
        latents: Name | Iterable[Name] = (),
    ) -> NetworkStructure:
        """Draw a graph by its arcs; its `fit` makes a network of it.

        Parameters
        ----------
        edges : iterable of (parent, child), text, mapping, array, frame or graph
            Pairs of names; a text such as ``"a -> b <- c; c -> d"``; the parents of
            each child by name; an array of two columns, or a data frame with the
            columns from and to (or source and target, parent and child); an adjacency
            matrix as an array, whose variables `nodes` names, or as a data frame, an
            arc leading from the row's to the column's variable where a number is not 0;
            a directed graph of networkx, igraph or causal-learn; a `DAG`, whose nodes
            are then named by `nodes`; or a network, whose states are kept.
        nodes : iterable of names, optional
            Variables that come first, in this order, whether or not an arc touches
            them.
        states : mapping of name to states or Variable, or Domain, optional
            Given states and cut points; others are found out when it is fitted.
        latents : name or iterable of names, optional
            Variables that are not observed.

        Raises
        ------
        ValueError
            If a text is not a graph, the arcs close a cycle, an arc is given twice or
            has no direction, as in a CPDAG, or states are given for a variable that
            does not exist.
        TypeError
            If edges have another form, or a name is neither text nor an integer.

        Notes
        -----
        Texts are chains with ``;`` or line ends between them, or the same inside
        ``dag { }`` or ``digraph { }``: a subset of DOT and of DAGitty's language.
        ``a -> {b c}`` has an arc to each of a group, names with blanks or signs are
        in double quotes, comments and attributes are skipped, but for labels: where
        every node of a DOT text has one of its own, these are the names.
        ``a <-> b`` is an unobserved common cause, and becomes a latent variable
        ``U_a_b``; ``u [latent]`` marks one that has a name.

        Examples
        --------
        >>> BayesianNetwork.from_edges([("rain", "wet"), ("hose", "wet")]).edges
        [('rain', 'wet'), ('hose', 'wet')]
        >>> drawn = BayesianNetwork.from_edges("smoke -> lung; smoke <-> lung")
        >>> print(drawn.adjustment_sets("smoke", "lung").open_path)
        smoke <- U_smoke_lung -> lung
        """
        return NetworkStructure.from_edges(edges, nodes, states, latents)

    def check_content(self) -> None:
        """Raise ValueError unless all tables hold distributions."""
        for variable, cpd in zip(self.domain, self.cpds, strict=True):
            what = f"the table of variable {quoted(variable.name)}"
            check_distributions(cpd.distributions, what)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the fit that made the network, if one did.

        Such as columns that were ignored; files do not keep it.
        """
        return tuple(self.__dict__.get("_notes", ()))

    def with_notes(self, notes: Iterable[str]) -> BayesianNetwork:
        """Return the same network with other notes."""
        network = replace(self)
        network.__dict__["_notes"] = tuple(notes)
        return network

    @property
    def names(self) -> tuple[Name, ...]:
        """Names of all variables, in order."""
        return self.domain.names

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables with their states, in order."""
        return self.domain.variables

    def states(self, name: Name) -> tuple[Hashable, ...]:
        """States of a variable, in the order of its table.

        Raises
        ------
        ValueError
            If the variable does not exist, naming near ones.
        """
        return self.domain[self.position(name)].states

    def cpt(self, name: Name) -> ConditionalTable:
        """The probability table of a variable, labelled with names and states.

        Parameters
        ----------
        name : str or int
            The variable.

        Returns
        -------
        ConditionalTable
            Prints as text, displays as HTML, and becomes a data frame.

        Raises
        ------
        ValueError
            If the variable does not exist, naming near ones.

        Examples
        --------
        >>> from bayleaf.datasets import load_network
        >>> float(load_network("asia").cpt("tub").to_pandas().loc["no", "yes"])
        0.01
        """
        return ConditionalTable(self.domain, self.cpd(name))

    def cpd(self, name: Name) -> CPD:
        """The distribution of one variable given its parents.

        Raises
        ------
        ValueError
            If there is no such variable.
        """
        return self.cpds[self.position(name)]

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of all tables."""
        return sum(cpd.n_parameters for cpd in self.cpds)

    def with_table(
        self, child: Name, probabilities: NDArray[np.float64]
    ) -> BayesianNetwork:
        """Return the same network with another table for one variable.

        Parameters
        ----------
        child : str or int
            The variable's name or, where no variable is called so, its index.
        probabilities : ndarray of shape (parent cards ..., child card)
            P(child | parents), an axis a parent in their order; or flat, in that order.

        Raises
        ------
        ValueError
            If there is no such variable, or the table is no distribution of the right
            shape.
        """
        node = self.position(child)
        cpds = list(self.cpds)
        old = cpds[node]
        table = checked_table(probabilities, old.cards, self.domain[node].name)
        cpds[node] = TableCPD(old.family, table)
        return replace(self, cpds=tuple(cpds))

    def with_experience(self, experience: float | ByName[ArrayLike]) -> BayesianNetwork:
        """Return the same network with other experience counts.

        Parameters
        ----------
        experience : float, or mapping of name to array-like
            How many rows each distribution is worth: one number for all tables, or
            for each named variable a number or an array with an axis a parent.
            Tables that are not named lose their experience, so that learning leaves
            them as they are.

        Raises
        ------
        ValueError
            If a name is unknown, its distribution is no table, or counts do not fit.
        """
        by_name: Mapping[Any, Any]
        if isinstance(experience, Mapping):
            by_name = experience
        else:
            tables = [isinstance(cpd, TableCPD) for cpd in self.cpds]
            named = zip(self.domain.names, tables, strict=True)
            by_name = {name: experience for name, is_table in named if is_table}
        cpds: list[CPD] = [
            replace(cpd, experience=None) if isinstance(cpd, TableCPD) else cpd
            for cpd in self.cpds
        ]
        for name, counts in by_name.items():
            node = self.position(name)
            cpd = cpds[node]
            if not isinstance(cpd, TableCPD):
                raise ValueError(
                    f"variable {quoted(name)} has a {type(cpd).__name__}; only tables "
                    "have experience counts"
                )
            spread = spread_experience(counts, cpd.cards[:-1], name)
            cpds[node] = replace(cpd, experience=spread)
        return replace(self, cpds=tuple(cpds))

    def describe(self, name: Name) -> str:
        """One distribution in words: a table, a tree of conditions, or a value map."""
        return distribution_text(self.domain, self.cpd(name))

    @cached_property
    def _trees(self) -> NetworkTrees:  # type: ignore[override]  # `compile` writes it
        """What is compiled for questions."""
        return NetworkTrees(self)

    def compile(self, max_table_cells: int = 20_000_000) -> BayesianNetwork:
        """Compile the network again with another limit, for all questions.

        Parameters
        ----------
        max_table_cells : int, default=20_000_000
            Largest table that inference may build; eight bytes a cell.

        Returns
        -------
        BayesianNetwork
            This network itself.
        """
        # Where cached_property keeps its value.
        self.__dict__["_trees"] = NetworkTrees(self, max_table_cells=max_table_cells)
        return self

    def do(self, interventions: EventLike) -> Self:
        """Return the network in which variables are set from outside.

        Parameters
        ----------
        interventions : mapping from name to value, or str
            An expression such as ``"smoke = no"``; or by name a state, a number for a
            variable with cut points, or probabilities, as a mapping from states (those
            not mentioned get none) or an array.

        Returns
        -------
        BayesianNetwork
            Without arcs into the variables that are set, to be asked, drawn from and
            saved as any other. That it is right for interventions assumes that the
            arrows are causal and no common cause is left out.

        Raises
        ------
        ValueError
            If a variable or state does not exist, or probabilities are none.

        Notes
        -----
        The truncated factorisation (Pearl 2009, "Causality", section 3.2.3); for given
        distributions section 4.2.

        Examples
        --------
        >>> from bayleaf import BayesianNetwork
        >>> network = BayesianNetwork.from_tables(
        ...     states={"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     parents={"wet": ["rain"]},
        ...     tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
        ... )
        >>> round(network.query({"wet": "yes"})["rain"]["yes"], 3)
        0.704
        >>> round(network.do({"wet": "yes"}).query()["rain"]["yes"], 3)
        0.2
        """
        settings = read_settings(self.domain, interventions)
        dag, cpds = intervened(self, settings)
        return replace(self, dag=dag, cpds=cpds)

    def causal_effect(
        self,
        treatment: Name,
        outcome: Name,
        *,
        values: Sequence[Hashable] | None = None,
        outcome_state: Hashable = None,
        given: EvidenceLike | None = None,
        latent: Name | Iterable[Name] = (),
        adjust_for: Name | Iterable[Name] | None = None,
        credible: float | None = 0.95,
        n_draws: int = 1000,
        random_state: RandomState = None,
    ) -> CausalEffect:
        """Measure what setting a treatment does to an outcome.

        Parameters
        ----------
        treatment, outcome : name
            The variables.
        values : sequence of states, optional
            States of the treatment to compare, the reference first; all by default.
        outcome_state : state, optional
            The event whose probability is compared; by default the second of two
            states, the expected value of numbers, and else every state.
        given : mapping or text, optional
            What is known of others, as for `query`: the effect among such cases.
        latent : name or iterable of names
            Variables that are not observed. The effect is then computed from the
            others alone, by adjustment or by mediators, and refused with the open
            path if neither identifies it.
        adjust_for : name or iterable of names, optional
            Compute the effect by adjusting for these, whose validity is checked.
        credible : float or None, default=0.95
            Probability that each credible interval holds; None for no intervals.
        n_draws : int, default=1000
            Number of draws for them.
        random_state : int, RandomState, Generator or None, default=None
            Source of the draws.

        Returns
        -------
        CausalEffect
            Distributions of the outcome under each state of the treatment, and their
            differences, ratios and log odds ratios.

        Raises
        ------
        ImpossibleEvidenceError
            If what is given has probability zero.
        ValueError
            If the effect is not identified, a variable or state does not exist, or a
            treatment never occurs among covariates that are adjusted for.

        Notes
        -----
        Tables are drawn from Dirichlet distributions with their probabilities as
        means and their experience counts as strengths (`with_experience`; networks
        fitted to data carry them). Tables without are taken as known.
        """
        uncertainty = Uncertainty(credible, n_draws, random_state)
        effect = read_effect(self, treatment, outcome, values, outcome_state)
        question = EffectQuestion(
            self._trees,
            effect,
            given,
            self._hidden(latent),
            None if adjust_for is None else self._positions(adjust_for),
            uncertainty,
        )
        return question.measured()

    def save(self, path: str | Path) -> None:
        """Write the network to a file, in the format that the suffix names.

        Parameters
        ----------
        path : path
            ``.json`` for the library's own format, which keeps everything; ``.bif``,
            ``.net``, ``.xdsl`` and others as `bayleaf.write_network` lists them.

        Raises
        ------
        ValueError
            If no format has that suffix, or the format cannot hold the network.
        OSError
            If the file cannot be written; an older file is then left as it was.
        """
        dispatch("save", self, path)

    @classmethod
    def from_pgmpy(cls, model: PgmpyModel) -> Self:
        """Make a network from a ``pgmpy.models.DiscreteBayesianNetwork``.

        Raises
        ------
        ImportError
            If pgmpy is not installed.
        TypeError
            If it is no such model.
        ValueError
            If a node has no table, or tables do not fit each other; the node is named.
        """
        return cast("Self", dispatch("from_pgmpy", model))

    @classmethod
    def from_pyagrum(cls, model: PyAgrumModel) -> Self:
        """Make a network from a ``pyagrum.BayesNet``.

        Raises
        ------
        ImportError
            If pyAgrum is not installed.
        TypeError
            If it is no such network.
        ValueError
            If a table holds no distributions; the variable is named.
        """
        return cast("Self", dispatch("from_pyagrum", model))

    @classmethod
    def from_networkx(cls, graph: GraphLike) -> Self:
        """Make a network from a ``networkx.DiGraph``.

        Its nodes have the attributes that `to_networkx` gives.

        Raises
        ------
        ImportError
            If networkx is not installed.
        TypeError, ValueError
            If it is no such graph, or a node lacks what is needed; the node is named.
        """
        return cast("Self", dispatch("from_networkx", graph))

    def to_pgmpy(self) -> DiscreteBayesianNetwork:
        """Make a ``pgmpy.models.DiscreteBayesianNetwork`` of the same names and states.

        Raises
        ------
        ImportError
            If pgmpy is not installed.
        ValueError
            If a full table would be too large; the variable is named.
        """
        model: DiscreteBayesianNetwork = dispatch("to_pgmpy", self)
        return model

    def to_pyagrum(self) -> pyagrum.BayesNet:
        """Make a ``pyagrum.BayesNet``, with names and states as text.

        Raises
        ------
        ImportError
            If pyAgrum is not installed.
        ValueError
            If a full table would be too large, or two names are the same text.
        """
        model: pyagrum.BayesNet = dispatch("to_pyagrum", self)
        return model

    def to_dot(self, *, states: bool = False) -> str:
        """Write the graph in Graphviz' DOT language.

        Parameters
        ----------
        states : bool, default=False
            Whether each variable is drawn as a box that lists its states.
        """
        return str(dispatch("to_dot", self, states=states))

    def to_mermaid(self) -> str:
        """Write the graph as a flowchart of Mermaid, for Markdown pages."""
        return str(dispatch("to_mermaid", self))

    def to_networkx(self, *, tables: bool = True) -> nx.DiGraph[Name]:
        """Make a ``networkx.DiGraph`` whose nodes hold states, parents and tables.

        Parameters
        ----------
        tables : bool, default=True
            Whether nodes have these attributes; formats such as GML, GraphML and JSON
            take names and arcs alone.

        Raises
        ------
        ImportError
            If networkx is not installed.
        ValueError
            If a full table would be too large; the variable is named.
        """
        graph: nx.DiGraph[Any] = dispatch("to_networkx", self, tables=tables)
        return graph

    def fit(
        self,
        table: TableLike,
        *,
        learn: Name | Collection[Name] | None = None,
        keep: Name | Collection[Name] = (),
        smoothing: str | Smoothing = "laplace",
        missing: str = "marginalize",
        unknown: str = "error",
        sample_weight: NumbersLike | None = None,
        prior: Self | None = None,
        strength: float | ByName[float] | None = None,
        latent: Name | Collection[Name] | ByName[object] = (),
        n_restarts: int | None = None,
        tol: float = 1e-7,
        max_iter: int = 500,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Learn the tables again from rows; graph, states and cut points stay.

        Parameters
        ----------
        table : data frame, mapping of name to column, array, list of rows, or Codes
            The rows.
        learn : name or collection of names, optional
            The variables whose tables are learned; all by default.
        keep : name or collection of names, optional
            The variables whose tables stay, where `learn` is not given.
        smoothing, missing, unknown, sample_weight, prior, strength, latent
            As for `NetworkStructure.fit`.
        n_restarts, tol, max_iter, random_state, n_jobs
            As for `NetworkStructure.fit`. Expectation maximisation starts from the
            network's own tables.

        Returns
        -------
        BayesianNetwork
            Its learned tables carry their experience, and `notes` say what a reader
            should know of the fit.

        Raises
        ------
        ValueError, TypeError
            If a parameter, a column or a value cannot be used; the sentence names it.

        Notes
        -----
        Trees and grouped tables keep their form, and their distributions are learned;
        value maps stay as they are.
        """
        network: Self = dispatch(
            "fit",
            self,
            table,
            learn=learn,
            keep=keep,
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
        return network

    @property
    def picture(self) -> PicturedGraph:
        """Variables and arcs to draw."""
        return graph_picture(self.domain.names, self.dag, self.latents or ())

    def plot(self, **options: Unpack[PlotOptions]) -> Axes:
        """Draw the graph with matplotlib; see `bayleaf.plot.network`.

        Parameters
        ----------
        **options
            Of `bayleaf.plot.network`, such as ``variables`` and ``ax``.

        Returns
        -------
        Axes
        """
        axes: Axes = dispatch("plot", self, **options)
        return axes

    def _page_model(self) -> PageModel:
        return PageModel(
            name="Bayesian network",
            task=DENSITY,
            model=self,
            scorer=self,
            read=lambda table: EncodedTable(read_rows(self.domain, table), {}),
        )

    def __getstate__(self) -> dict[str, Any]:
        # What was compiled is made again, so that a pickled network stays small.
        kept = {"domain": self.domain, "dag": self.dag, "cpds": self.cpds}
        if self.latents:
            kept["latents"] = self.latents
        return kept | ({"_notes": self.notes} if self.notes else {})

    def _repr_html_(self) -> str:
        """The page of the network in a frame, for notebooks."""
        facts = [
            ("variables", len(self.domain)),
            ("arcs", len(self.edges)),
            ("free parameters", self.n_parameters),
        ]
        states = [
            f"{plain(variable.name, 60)}: {name_list(variable.states, limit=6)}"
            for variable in self.domain
        ]
        arcs = [arc_text(*arc) for arc in self.edges]
        notes = list(self.notes)
        lists = [("variables", states), ("arcs", arcs), ("notes", notes)]
        summary = facts_document("Bayesian network", facts, lists)
        return str(dispatch("_repr_html_", self, picture_of(self), summary))

    def __repr__(self) -> str:
        names = brief_names(self.domain.names)
        return brief(
            self,
            f"{counted(len(self.domain), 'variable')} ({names})",
            counted(len(self.edges), "arc"),
            counted(self.n_parameters, "free parameter"),
        )

    def __str__(self) -> str:
        return network_text(self.domain, self.dag, self.cpds)


class NetworkStructure(NamedGraph):
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
    latents : tuple of str or int, default=()
        Variables that are not observed. Sets to adjust for and separators contain none.

    Raises
    ------
    ValueError
        If there are no variables, two share a name, their numbers differ, or a latent
        variable does not exist.

    Examples
    --------
    >>> structure = NetworkStructure.from_edges([("rain", "wet"), ("hose", "wet")])
    >>> structure.markov_blanket("rain")
    ('wet', 'hose')
    >>> structure.d_separated("rain", "hose", given="wet")
    False
    """

    def fit(
        self,
        table: TableLike,
        *,
        states: ByName[object] | None = None,
        discretizer: str | Discretizer = "equal_frequency",
        categorical_features: Collection[Name] | None = None,
        hierarchies: HierarchiesLike | None = None,
        smoothing: str | Smoothing = "laplace",
        missing: str = "marginalize",
        unknown: str = "error",
        sample_weight: NumbersLike | None = None,
        prior: BayesianNetwork | None = None,
        strength: float | ByName[float] | None = None,
        latent: Name | Collection[Name] | ByName[object] = (),
        n_restarts: int | None = None,
        tol: float = 1e-7,
        max_iter: int = 500,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> BayesianNetwork:
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
        hierarchies : path, or mapping of column to ValueHierarchy or mapping, optional
            Trees over the values of columns, whose cells may then name groups. With
            ``missing="em"`` such a cell counts for the values of its group, in
            proportion to their probabilities; else it is left out of counts.
        smoothing : str or Smoothing, default="laplace"
            From counts to probabilities. Expectation maximisation takes "laplace",
            `Lidstone`, "dirichlet", `Dirichlet` and "maximum_likelihood", which is
            exact here: what no row has is impossible.
        missing : str, default="marginalize"
            Each family is counted in the rows that hold all of it ("marginalize");
            missing cells are summed out by expectation maximisation ("em"); they are a
            state of their own ("state"); their rows are left out, with a note ("drop");
            or they are refused ("error").
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
        n_restarts : int, optional
            Starts of expectation maximisation, of which the best end is kept; by
            default 1, or 4 with latent variables without tables, see
            `learn_parameters`.
        tol, max_iter : float and int, default=1e-7 and 500
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
        network: BayesianNetwork = dispatch_structure(
            "fit",
            self,
            table,
            states=states,
            discretizer=discretizer,
            categorical_features=categorical_features,
            hierarchies=hierarchies,
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
        return network
