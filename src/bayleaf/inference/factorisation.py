"""A joint distribution as a product of conditional ones: all that inference needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.local_structure import with_known_parents
from bayleaf.data.domain import Domain
from bayleaf.graph.dag import DAG
from bayleaf.inference.causal_graph import CausalQuestions, Name
from bayleaf.wording import quoted


@dataclass(frozen=True, eq=False)
class Factorisation(CausalQuestions):
    """A joint distribution over discrete variables that factorises along a graph.

    Parameters
    ----------
    domain : Domain
        The variables.
    dag : DAG
        Parents of each variable.
    cpds : tuple of TableCPD, TreeCPD or DeterministicCPD
        One a variable, in the variables' order; the family of each is that of `dag`.

    Raises
    ------
    ValueError
        If tables, graph and domain do not fit each other, naming the variable.
    """

    domain: Domain
    dag: DAG
    cpds: tuple[CPD, ...]

    def __post_init__(self) -> None:
        if not len(self.domain) == len(self.dag) == len(self.cpds):
            raise ValueError(
                f"{len(self.domain)} variables, {len(self.dag)} nodes and "
                f"{len(self.cpds)} tables do not fit; give one of each a variable"
            )
        cards = self.domain.cards
        for variable, family, cpd in zip(
            self.domain, self.dag.families, self.cpds, strict=True
        ):
            shape = tuple(cards[member] for member in family)
            if cpd.family != family or cpd.cards != shape:
                raise ValueError(
                    f"the table of variable {quoted(variable.name)} has shape "
                    f"{cpd.cards} over {cpd.family}, but the graph asks for {shape} "
                    f"over {family}"
                )

    @property
    def _node_names(self) -> tuple[Name, ...]:
        return self.domain.names


def cut_network(
    network: Factorisation, members: Sequence[int], hard: Mapping[int, int]
) -> Factorisation:
    """The network of some variables, known parents fixed at their state.

    `members` includes all their unknown parents.
    """
    places = {member: place for place, member in enumerate(members)}
    cpds = [
        with_known_parents(network.cpds[member], hard, places) for member in members
    ]
    domain = Domain(tuple(network.domain[member] for member in members))
    dag = DAG(tuple(cpd.parents for cpd in cpds))
    return Factorisation(domain, dag, tuple(cpds))
