"""How sure the arcs of a learned network are: they are learned again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bayleaf.classifiers.shared.table_estimator import TableEstimator
from bayleaf.classifiers.shared.training import WeightedRows, n_rows
from bayleaf.data.random_state import random_generator
from bayleaf.data.tables.columns import iterate_names
from bayleaf.data.tables.frames import to_columns
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import NetworkStructure
from bayleaf.progress import Work, displayed
from bayleaf.results.document import Document
from bayleaf.results.result import Shown, list_of
from bayleaf.wording import brief, brief_names, counted, quoted

Name = str | int
_MOST_LINES = 40


@dataclass(frozen=True)
class Arc(Shown):
    """A pair of variables that networks joined.

    Parameters
    ----------
    parent, child : str or int
        Names; the more frequent direction.
    strength : float
        Share of the networks that have the arc in either direction.
    direction : float
        Among these the share in which it leads from parent to child.
    """

    parent: Name
    child: Name
    strength: float
    direction: float


@dataclass(frozen=True, eq=False)
class ArcStrength(Shown):
    """How often arcs were learned from bootstrap samples.

    Parameters
    ----------
    names : tuple of str or int
        The variables.
    frequencies : ndarray of shape (n_variables, n_variables), dtype float64
        Share of the networks with an arc from the row's to the column's variable.

    Notes
    -----
    Friedman, Goldszmidt and Wyner (1999), "Data analysis with Bayesian networks: a
    bootstrap approach".
    """

    names: tuple[Name, ...]
    frequencies: NDArray[np.float64]

    @classmethod
    def from_networks(
        cls, names: Sequence[Name], arcs: Sequence[Sequence[tuple[Name, Name]]]
    ) -> ArcStrength:
        """Count the arcs of some networks over the same variables."""
        index = {name: i for i, name in enumerate(names)}
        counts = np.zeros((len(index), len(index)))
        for own in arcs:
            for parent, child in own:
                counts[index[parent], index[child]] += 1.0
        return cls(tuple(names), counts / max(1, len(arcs)))

    @cached_property
    def arcs(self) -> tuple[Arc, ...]:
        """Pairs that some network joined, the strongest first."""
        found = []
        for i, j in zip(*np.triu_indices(len(self.names), 1), strict=True):
            forward, backward = self.frequencies[i, j], self.frequencies[j, i]
            strength = float(forward + backward)
            if strength == 0:
                continue
            parent, child = (i, j) if forward >= backward else (j, i)
            share = float(max(forward, backward)) / strength
            found.append(Arc(self.names[parent], self.names[child], strength, share))
        return tuple(sorted(found, key=lambda arc: (-arc.strength, -arc.direction)))

    def averaged_network(self, threshold: float = 0.5) -> NetworkStructure:
        """The graph of the arcs that are at least so strong, in their main direction.

        Parameters
        ----------
        threshold : float, default=0.5
            Least strength.

        Returns
        -------
        NetworkStructure
            Its `fit` gives it tables. Arcs that would close a cycle with stronger ones
            are left out.

        Raises
        ------
        ValueError
            If the threshold is not between 0 and 1.
        """
        if not 0 <= threshold <= 1:
            raise ValueError(
                f"threshold must be between 0 and 1, got {quoted(threshold)}"
            )
        index = {name: i for i, name in enumerate(self.names)}
        parents: list[set[int]] = [set() for _ in self.names]
        for arc in self.arcs:
            parent, child = index[arc.parent], index[arc.child]
            if arc.strength >= threshold and not _leads(parents, child, parent):
                parents[child].add(parent)
        dag = DAG(tuple(tuple(sorted(own)) for own in parents))
        return NetworkStructure(self.names, dag)

    def document(self) -> Document:
        """The arcs as a table, the strongest first."""
        none = "no network has an arc"
        arcs = list_of(self.arcs, "Strength of arcs") if self.arcs else none
        return Document("", [arcs])

    def __repr__(self) -> str:
        arcs = [f"{a.parent} -> {a.child} {a.strength:.2f}" for a in self.arcs]
        shown = f"{counted(len(arcs), 'arc')} ({brief_names(arcs)})"
        return brief(self, counted(len(self.names), "variable"), shown)

    def __str__(self) -> str:
        lines = [
            f"  {arc.parent} -> {arc.child}: in {100 * arc.strength:.0f} % of the "
            f"networks, {100 * arc.direction:.0f} % of them in this direction"
            for arc in self.arcs[:_MOST_LINES]
        ]
        hidden = len(self.arcs) - _MOST_LINES
        more = [f"  and {hidden} more"] if hidden > 0 else []
        return "\n".join(["Strength of arcs", *lines, *more])


def _leads(parents: Sequence[set[int]], start: int, end: int) -> bool:
    """Whether a path of arcs leads from one variable to another."""
    above = {end}
    waiting = [end]
    while waiting:
        fresh = parents[waiting.pop()] - above
        above |= fresh
        waiting += fresh
    return start in above


def bootstrapped_arcs(
    estimator: TableEstimator, X: Any, n_bootstraps: int, sample_weight: Any
) -> ArcStrength:
    """Learn networks as an estimator would, from bootstrap samples of a table.

    See `BayesianNetworkEstimator.arc_strength`.
    """
    parts = to_columns(X)
    rows = WeightedRows.of_table(parts, sample_weight, estimator.weight_scale)
    shares = rows.weights / rows.weights.sum()
    generator = random_generator(estimator.random_state)
    plan = estimator.learn_plan(X, sample_weight, plan=estimator._plan)
    arcs = []
    with displayed(estimator.verbose), Work(n_bootstraps) as work:
        for number in range(1, n_bootstraps + 1):
            work.step(f"bootstrap sample {number} of {n_bootstraps}")
            drawn = np.zeros(n_rows(parts))
            drawn[rows.places] = generator.multinomial(len(shares), shares)
            model = clone(estimator).set_params(verbose=0)
            model._plan = plan
            # Callbacks hear of no fit but the estimator's own.
            model._fit(X, drawn)
            arcs.append(model.edges_)
    return ArcStrength.from_networks(tuple(iterate_names(parts)), arcs)
