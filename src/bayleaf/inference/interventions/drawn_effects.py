"""Joint tables of few variables, in many drawn versions of a network at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.dirichlet import log_dirichlet
from bayleaf.cpds.distribution import CPD, TableCPD
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.table_algebra import (
    Table,
    aligned,
    eliminated,
    elimination_order,
)

Floats = NDArray[np.float64]
# Cells that are held at a time, in all drawn versions together.
_BLOCK_CELLS = 1 << 22
# A distribution that rests on no row is drawn as one of its states, by their
# probabilities: as unsure as its mean allows. That is the limit of small experience.
_LEAST_EXPERIENCE = 1e-9


# Tables have one version or many along their first axis, with a scale of its own each.


@dataclass(frozen=True)
class Elimination:
    """The order in which variables are summed out of a product of tables."""

    kept: tuple[int, ...]  # the axes of the result
    order: tuple[int, ...]
    cells: int  # of the largest table on the way

    @classmethod
    def planned(
        cls, scopes: Iterable[Sequence[int]], kept: Sequence[int], cards: Sequence[int]
    ) -> Elimination:
        """The greedy order by the smallest table, ties going to the lower variable."""
        open_scopes = [frozenset(scope) for scope in scopes]
        left = frozenset().union(*open_scopes) - set(kept)
        order, largest = elimination_order(open_scopes, left, cards)
        cells = max(largest, prod(cards[v] for v in kept))
        return cls(tuple(kept), tuple(order), cells)

    def run(self, tables: Iterable[Table]) -> Floats:
        """The product summed to the kept variables, (n_versions, *cards of kept)."""
        left = eliminated(tables, self.order, np.multiply, _summed, 1)
        whole: Floats = np.ones((1,) * (len(self.kept) + 1))
        for variables, values in left:
            whole = whole * aligned(values, variables, self.kept, 1)
        return whole


def _summed(values: Floats) -> Floats:
    """The sum over the last axis, each version divided by its largest cell.

    Products of many tables would leave the range of numbers.
    """
    summed = values.sum(axis=-1)
    highest = summed.reshape(len(summed), -1).max(axis=1)
    highest[highest == 0] = 1.0
    return np.asarray(summed / highest.reshape(-1, *(1,) * (summed.ndim - 1)))


def summing_to_one(cpd: CPD) -> Floats:
    """The full table of a distribution; those of files are off by a little."""
    table = cpd.probabilities
    return np.asarray(table / table.sum(axis=-1, keepdims=True))


def cut_scope(family: Sequence[int], hard: Mapping[int, int]) -> tuple[int, ...]:
    """The members of a family whose state is open."""
    return tuple(v for v in family if v not in hard)


def cut_table(family: Sequence[int], values: Floats, hard: Mapping[int, int]) -> Table:
    """A table, one version or many, at the states that are known."""
    index = tuple(hard.get(v, slice(None)) for v in family)
    return cut_scope(family, hard), values[(slice(None), *index)]


def joint_table(
    network: Factorisation,
    nodes: Iterable[int],
    kept: Sequence[int],
    hard: Mapping[int, int],
    likelihoods: Mapping[int, Floats],
    most_cells: int,
) -> Floats | None:
    """Joint table (*cards of kept) with evidence, on any scale; None if too large.

    `nodes` include all their parents; none of `kept` is known. `likelihoods` (card,)
    weigh the states of uncertain variables.
    """
    families = [network.dag.families[node] for node in sorted(nodes)]
    scopes = [cut_scope(family, hard) for family in families]
    plan = Elimination.planned(scopes, kept, network.domain.cards)
    if plan.cells > most_cells:
        return None
    tables = [
        cut_table(family, summing_to_one(network.cpds[family[-1]])[None], hard)
        for family in families
    ]
    tables += [((v,), own[None]) for v, own in likelihoods.items()]
    return np.asarray(plan.run(tables)[0])


@dataclass(frozen=True, eq=False)
class DrawnNetworks:
    """The part of a network that bears on an effect, drawn again and again."""

    network: Factorisation  # without arcs into the treatment
    nodes: tuple[int, ...]  # that matter, without the treatment
    treatment: int
    outcome: int
    hard: Mapping[int, int]  # known states
    likelihoods: Mapping[int, Floats]  # (card,), of uncertain states

    @property
    def experienced(self) -> list[int]:
        """Variables whose tables say how many rows they rest on."""
        return [v for v in self._told if _experience(self.network, v) is not None]

    @property
    def fixed(self) -> list[int]:
        """Variables with uncertain distributions whose tables do not say so."""
        return [
            v
            for v in self._told
            if _experience(self.network, v) is None
            and not np.isin(self.network.cpds[v].probabilities, (0.0, 1.0)).all()
        ]

    @property
    def _told(self) -> list[int]:
        """Variables whose distributions matter: what is known of others is left out."""
        families = self.network.dag.families
        return [v for v in self.nodes if cut_scope(families[v], self.hard)]

    def draw(
        self, n_draws: int, most_cells: int, rng: np.random.Generator
    ) -> Floats | None:
        """P(outcome | do(treatment), given), (n_draws, n_treatments, n_outcomes).

        None if one draw needs a table of more than `most_cells` cells.
        """
        families = [self.network.dag.families[node] for node in self.nodes]
        scopes: list[Sequence[int]] = [cut_scope(f, self.hard) for f in families]
        kept = (self.treatment, self.outcome)
        cards = self.network.domain.cards
        plan = Elimination.planned([*scopes, (self.treatment,)], kept, cards)
        if plan.cells > most_cells:
            return None
        largest = max(
            [plan.cells, *(self.network.cpds[v].probabilities.size for v in self.nodes)]
        )
        # Blocks by size alone, so that a seed gives the same draws everywhere.
        step = max(1, _BLOCK_CELLS // largest)
        parts = [
            plan.run(self._tables(min(step, n_draws - done), rng))
            for done in range(0, n_draws, step)
        ]
        joint = np.concatenate(
            [np.broadcast_to(p, (len(p), *p.shape[1:])) for p in parts]
        )
        return np.asarray(joint / joint.sum(axis=-1, keepdims=True))

    def _tables(self, n_draws: int, rng: np.random.Generator) -> list[Table]:
        """The tables of some draws, and evidence."""
        cards = self.network.domain.cards
        tables: list[Table] = [
            ((self.treatment,), np.ones((n_draws, cards[self.treatment])))
        ]
        for node in self.nodes:
            table = summing_to_one(self.network.cpds[node])[None]
            experience = _experience(self.network, node)
            if experience is not None:
                strengths = np.maximum(experience, _LEAST_EXPERIENCE)
                table = np.exp(log_dirichlet(table[0], strengths, n_draws, rng))
            tables.append(cut_table(self.network.dag.families[node], table, self.hard))
        tables += [((v,), own[None]) for v, own in self.likelihoods.items()]
        return tables


def _experience(network: Factorisation, node: int) -> Floats | None:
    """How many rows each distribution of a variable rests on, if that is known."""
    cpd = network.cpds[node]
    return cpd.experience if isinstance(cpd, TableCPD) else None
