"""Questions to a directed graph by the names of its variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import d_separated, markov_blanket
from bayleaf.models.network_parts import Name, position_of
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
