"""What a graph says of causes, and what a network says of interventions.

All of it takes the arrows for causes, which is an assumption and no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Self

from bayleaf.data.domain import Domain
from bayleaf.graph.adjustment import Adjustment
from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import OpenTrails, d_separated, markov_blanket
from bayleaf.inference.interventions.causal_effect import CausalEffect
from bayleaf.inference.interventions.effect_measurement import (
    EffectQuestion,
    Uncertainty,
    intervened,
    read_effect,
    read_settings,
)
from bayleaf.inference.interventions.identification import (
    AdjustmentSets,
    Kind,
    Name,
    OpenPath,
    find_adjustment_sets,
    front_door_of,
    named_path,
    read_kind,
)
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.queries import KnownOf
from bayleaf.inference.states import position_of
from bayleaf.wording import quoted


class NamedGraph:
    """Arcs, Markov blankets and separation of variables with names.

    A class that stands on it has `dag`, and says how its nodes are called.
    """

    dag: DAG

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
            If there is no such variable, naming near ones.
        """
        names = self._node_names
        # A variable may be called by a number, which then is no index.
        is_index = isinstance(name, int) and name in range(len(names))
        if is_index and name not in names:
            return int(name)
        return position_of(names, name, "the network is asked for")

    def markov_blanket(self, name: Name) -> tuple[Name, ...]:
        """Parents, children and children's other parents, in the variables' order.

        Given them, the variable is independent of all others.
        """
        blanket = markov_blanket(self.dag, self.position(name))
        names = self._node_names
        return tuple(names[node] for node in sorted(blanket))

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


class CausalQuestions(NamedGraph):
    """Questions to a graph whose nodes have names, its arrows taken for causes."""

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
        task = self._adjustment(treatment, outcome, latent, required, forbidden)
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
        task = self._adjustment(treatment, outcome, latent, (), ())
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
    ) -> list[OpenPath]:
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
        list of OpenPath
            The shortest first.
        """
        task = self._adjustment(treatment, outcome, (), (), ())
        graph = self.dag if causal else task.graph
        observed = frozenset(self._positions(given))
        trails = OpenTrails(graph, task.treatments, task.outcomes, observed)
        found = sorted(islice(trails, limit), key=lambda trail: (len(trail), trail))
        return [named_path(self._node_names, self.dag, trail) for trail in found]

    def _adjustment(
        self, treatment: Any, outcome: Any, latent: Any, required: Any, forbidden: Any
    ) -> Adjustment:
        """The question by indices; ValueError if roles contradict each other."""
        roles = {
            "treatment": frozenset(self._positions(treatment)),
            "outcome": frozenset(self._positions(outcome)),
            "latent": frozenset(self._positions(latent)),
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


class Interventions(CausalQuestions):
    """What a network says of variables that are set, its arrows taken for causes."""

    domain: Domain
    _trees: NetworkTrees

    def do(self, interventions: Mapping[Any, Any]) -> Self:
        """Return the network in which variables are set from outside.

        Parameters
        ----------
        interventions : mapping from name to value
            A state; a number for a variable with cut points; or probabilities, as a
            mapping from states (those not mentioned get none) or an array.

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
        dag, cpds = intervened(self, settings)  # type: ignore[arg-type]
        return replace(self, dag=dag, cpds=cpds)  # type: ignore[type-var]

    def causal_effect(
        self,
        treatment: Name,
        outcome: Name,
        *,
        values: Sequence[Any] | None = None,
        outcome_state: Any = None,
        given: KnownOf = None,
        latent: Name | Iterable[Name] = (),
        adjust_for: Name | Iterable[Name] | None = None,
        credible: float | None = 0.95,
        n_draws: int = 1000,
        random_state: Any = None,
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
        network: Any = self
        effect = read_effect(network, treatment, outcome, values, outcome_state)
        question = EffectQuestion(
            network,
            effect,
            given,
            self._positions(latent),
            None if adjust_for is None else self._positions(adjust_for),
            uncertainty,
            self._trees.max_table_cells,
        )
        return question.measured()
