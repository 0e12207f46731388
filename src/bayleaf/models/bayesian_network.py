"""A Bayesian network: domain, directed acyclic graph, and tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.table import TableCPD
from bayleaf.data.domain import Domain
from bayleaf.graph.dag import DAG


@dataclass(frozen=True, eq=False)
class BayesianNetwork:
    """A joint distribution over discrete variables that factorises along a graph.

    Parameters
    ----------
    domain : Domain
        The variables.
    dag : DAG
        Parents of each variable.
    cpds : tuple of TableCPD
        One a variable, in the variables' order; the family of each is that of `dag`.

    Raises
    ------
    ValueError
        If tables, graph and domain do not fit each other, naming the variable.
    """

    domain: Domain
    dag: DAG
    cpds: tuple[TableCPD, ...]

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
            if cpd.family != family or cpd.probabilities.shape != shape:
                raise ValueError(
                    f"the table of variable {variable.name!r} has shape "
                    f"{cpd.probabilities.shape} over {cpd.family}, but the graph asks "
                    f"for {shape} over {family}"
                )

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of all tables."""
        return sum(cpd.n_parameters for cpd in self.cpds)

    def with_table(
        self, child: int, probabilities: NDArray[np.float64]
    ) -> BayesianNetwork:
        """Return the same network with another table for one variable."""
        cpds = list(self.cpds)
        cpds[child] = TableCPD(cpds[child].family, probabilities)
        return replace(self, cpds=tuple(cpds))

    def __str__(self) -> str:
        lines = [
            f"Bayesian network: {len(self.domain)} variables, "
            f"{sum(1 for _ in self.dag.arcs)} arcs, {self.n_parameters} free parameters"
        ]
        names = self.domain.names
        for node in self.dag.order:
            given = ", ".join(str(names[parent]) for parent in self.dag.parents[node])
            condition = f" | {given}" if given else ""
            n_states = self.domain[node].n_states
            states = "1 state" if n_states == 1 else f"{n_states} states"
            lines.append(f"  P({names[node]}{condition})  {states}")
        return "\n".join(lines)
