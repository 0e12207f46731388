"""Best policies of a limited-memory influence diagram (LIMID), over indices.

Each decision has its own set of observed variables. Decisions are solved one after
another, those not yet solved drawn uniformly, which is exact as long as one of them is
extremal: the others are irrelevant to the utilities it influences (Lauritzen and
Nilsson 2001, "Representing and solving decision problems with limited information",
Management Science 47, theorems 3 to 5). With no-forgetting the last one always is. Else
all policies of one decision are tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import ancestors, d_separated, descendants
from bayleaf.graph.triangulation import eliminate_all_but, married
from bayleaf.inference.junction_tree import TooWideError
from bayleaf.inference.table_algebra import Table, aligned, eliminated
from bayleaf.wording import name_list

Floats = NDArray[np.float64]
# Strategies tried where no order of decisions is exact.
_MAX_STRATEGIES = 10_000
_ONE: Table = ((), np.ones(()))
# Options that differ by less are equal, and the first one is chosen.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SolvedDecision:
    """The best policy of one decision, and what it rests on."""

    decision: int
    observed: tuple[int, ...]  # those that bear on the decision, in increasing order
    # (*observed cards, options): sum of the utilities that it influences; NaN where
    # what is observed is impossible.
    expected: Floats
    probabilities: Floats  # (*observed cards) of what is observed
    choices: NDArray[np.intp]  # (*observed cards)

    def rule(self, n_options: int) -> Table:
        """The policy as a table of zeros and ones, the decision's axis last."""
        table = np.eye(n_options)[self.choices]
        return (*self.observed, self.decision), table


Solved = dict[int, SolvedDecision]


@dataclass(frozen=True, eq=False)
class LimitedMemoryDiagram:
    """Variables, tables and utilities by index; what is known beforehand as weights.

    Tables have the axes (*parents, child), utilities their parents' alone.
    """

    names: Sequence[str | int]
    cards: Sequence[int]
    parents: Mapping[int, tuple[int, ...]]  # of chance variables
    tables: Mapping[int, Floats]
    observed: Mapping[int, tuple[int, ...]]  # by decision
    utilities: Sequence[Table]
    evidence: Mapping[int, Floats]
    max_table_cells: int

    def solved(self) -> list[SolvedDecision]:
        """The best policies; ValueError if trying all would take too long."""
        best = self._best({}, itertools.count(1))
        total = self.probability_of_evidence()
        return [
            replace(each, probabilities=self._joint(each.observed, best) / total)
            for each in (best[decision] for decision in self.observed)
        ]

    def expected_utilities(self, solved: Iterable[SolvedDecision]) -> list[float]:
        """Expectation of each utility under the policies of all decisions."""
        policies = {each.decision: each for each in solved}
        total = self.probability_of_evidence()
        return [self._joint((), policies, u).item() / total for u in self.utilities]

    def probability_of_evidence(self) -> float:
        """Probability of what is known beforehand, which no decision influences."""
        return float(self._joint((), {}).item())

    @cached_property
    def requisite(self) -> dict[int, tuple[int, ...]]:
        """What of the observed bears on each decision, in increasing order.

        One after another, variables are left out that add nothing to the others; what
        is left does not depend on the order, and later decisions first is quickest.
        """
        seen = {decision: sorted(known) for decision, known in self.observed.items()}
        while sum(self._leave_out(seen, decision) for decision in reversed(seen)):
            pass
        return {decision: tuple(known) for decision, known in seen.items()}

    def _leave_out(self, observed: dict[int, list[int]], decision: int) -> int:
        """Leave out what one decision observes in vain, and return how many."""
        dag, known = self._graph(observed), observed[decision]
        n_observed = len(known)
        for variable in tuple(known):
            influenced = self._influenced(dag, decision)
            given = {decision, *known, *self._known} - {variable}
            if d_separated(dag, influenced, [variable], given):
                known.remove(variable)
                dag = self._graph(observed)
        return n_observed - len(known)

    @cached_property
    def _known(self) -> set[int]:
        """Nodes that are known beforehand: states, and children for each evidence."""
        first = len(self.cards) + len(self.utilities)
        states = (v for v, w in self.evidence.items() if np.count_nonzero(w) == 1)
        return {*states, *range(first, first + len(self.evidence))}

    def _graph(self, observed: Mapping[int, Sequence[int]]) -> DAG:
        """Variables, utilities and evidence as one graph."""
        return DAG(
            (
                *(
                    tuple(observed.get(v, self.parents.get(v, ())))
                    for v in range(len(self.cards))
                ),
                *(parents for parents, _ in self.utilities),
                *((v,) for v in self.evidence),
            )
        )

    @cached_property
    def _reduced(self) -> DAG:
        """The graph without the arcs of what does not bear on a decision."""
        return self._graph(self.requisite)

    def _influenced(self, dag: DAG, decision: int) -> set[int]:
        """Nodes of the utilities that descend from a decision."""
        first = len(self.cards)
        utilities = range(first, first + len(self.utilities))
        return descendants(dag, [decision]) & set(utilities)

    def _best(self, given: Solved, tried: Iterator[int]) -> Solved:
        """The best policies of all decisions, given those of some."""
        solved = dict(given)
        unsolved = [v for v in self._reduced.order if v in self.observed.keys() - given]
        while unsolved:
            extremal = (d for d in reversed(unsolved) if self._is_extremal(d, unsolved))
            decision = next(extremal, None)
            if decision is None:
                return self._best_of_all(unsolved, solved, tried)
            solved[decision] = self._solved_alone(decision, solved)
            unsolved.remove(decision)
        return solved

    def _is_extremal(self, decision: int, unsolved: Iterable[int]) -> bool:
        """Whether unsolved decisions are irrelevant to what it influences."""
        family = {decision, *self.requisite[decision]}
        others = {v for other in unsolved for v in (other, *self.requisite[other])}
        influenced = self._influenced(self._reduced, decision)
        given = {*family, *self._known}
        return d_separated(self._reduced, influenced, others - family, given)

    def _best_of_all(
        self, unsolved: Sequence[int], solved: Solved, tried: Iterator[int]
    ) -> Solved:
        """The best continuation over all policies of the decision with fewest."""
        shapes = {d: [self.cards[v] for v in self.requisite[d]] for d in unsolved}
        # Numbers of policies, as logarithms.
        sizes = {d: prod(shape) * log(self.cards[d]) for d, shape in shapes.items()}
        decision = min(unsolved, key=lambda d: (sizes[d], d))
        refusal = ValueError(
            "with limited memory the decisions "
            f"{name_list([self.names[d] for d in unsolved])} can only be solved "
            f"together, in more than {_MAX_STRATEGIES:,} trials; let later ones "
            "observe what earlier ones did, or solve without limited memory"
        )
        if sizes[decision] > log(_MAX_STRATEGIES):
            raise refusal
        seen, shape = self.requisite[decision], shapes[decision]
        options = range(self.cards[decision])
        best, highest = solved, -np.inf
        unknown = np.empty(0)
        for choices in itertools.product(options, repeat=prod(shape)):
            if next(tried) > _MAX_STRATEGIES:
                raise refusal
            chosen = np.reshape(choices, shape).astype(np.intp)
            trial = SolvedDecision(decision, seen, unknown, unknown, chosen)
            strategy = self._best(solved | {decision: trial}, tried)
            value = sum(self._joint((), strategy, u).item() for u in self.utilities)
            if value > highest + ROUNDING * abs(value):
                best, highest = strategy, value
        others = {d: each for d, each in best.items() if d != decision}
        report = self._solved_alone(decision, others)
        best[decision] = replace(report, choices=best[decision].choices)
        return best

    def _solved_alone(self, decision: int, solved: Solved) -> SolvedDecision:
        """The best policy of one decision given those of others."""
        seen = self.requisite[decision]
        weights = self._joint(seen, solved)
        expected = np.zeros((*weights.shape, self.cards[decision]))
        for node in self._influenced(self._reduced, decision):
            utility = self.utilities[node - len(self.cards)]
            expected += self._joint((*seen, decision), solved, utility)
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = np.where(
                weights[..., None] > 0, expected / weights[..., None], np.nan
            )
        least = expected.max(-1, keepdims=True) - ROUNDING * np.abs(expected).max(
            -1, keepdims=True
        )
        choices = np.argmax(expected >= least, axis=-1)
        return SolvedDecision(decision, seen, expected, weights, choices)

    def _joint(
        self, axes: Sequence[int], solved: Solved, utility: Table = _ONE
    ) -> Floats:
        """Sum of P(all, evidence) times a utility over all variables but `axes`.

        Linear, as utilities have signs. Decisions that are neither solved nor in `axes`
        are drawn uniformly. TooWideError if a table would exceed `max_table_cells`.
        """
        uniform = self.requisite.keys() - solved.keys()
        parents = self._reduced.parents[: len(self.cards)]
        free = DAG(tuple(() if v in uniform else p for v, p in enumerate(parents)))
        needed = ancestors(free, (*axes, *utility[0], *self.evidence))
        tables: list[Table] = [utility]
        for v in sorted(needed):
            if v in self.evidence:
                tables.append(((v,), self.evidence[v]))
            if v in solved:
                tables.append(solved[v].rule(self.cards[v]))
            elif v in self.tables:
                tables.append(((*self.parents[v], v), self.tables[v]))
            elif v not in axes:
                tables.append(((v,), np.full(self.cards[v], 1 / self.cards[v])))
        neighbours = married([variables for variables, _ in tables], len(self.cards))
        summed = needed - set(axes)
        stay = set(range(len(self.cards))) - summed
        elimination = eliminate_all_but(
            neighbours, self.cards, stay, self.max_table_cells
        )
        for members in (elimination.largest, axes):
            cells = prod(self.cards[v] for v in members)
            if cells > self.max_table_cells:
                names = [self.names[v] for v in members]
                raise TooWideError(
                    f"solving needs a table of {cells:.3g} cells over "
                    f"{name_list(names)}, more than max_table_cells="
                    f"{self.max_table_cells}; raise it, or let decisions observe less "
                    "(limited_memory=True)"
                )
        left = eliminated(tables, elimination.order, np.multiply, _summed, 0)
        shape = [self.cards[v] for v in axes]
        parts = (aligned(table, variables, axes) for variables, table in left)
        return np.broadcast_to(reduce(np.multiply, parts), shape)


def _summed(table: Floats) -> Floats:
    """A table without its last axis."""
    return np.asarray(table.sum(axis=-1))
