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
from bayleaf.inference.table_algebra import aligned, elimination_order

Floats = NDArray[np.float64]
# Cells that are held at a time, in all drawn versions together.
_BLOCK_CELLS = 1 << 22
# A distribution that rests on no row is drawn as one of its states, by their
# probabilities: as unsure as its mean allows. That is the limit of small experience.
_LEAST_EXPERIENCE = 1e-9


@dataclass(frozen=True, eq=False)
class Stack:
    """A table over some variables in one version or many."""

    variables: tuple[int, ...]  # the axes after the first
    values: Floats  # (n_versions or 1, *cards), at least 0


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

    def run(self, stacks: Iterable[Stack]) -> Floats:
        """The product summed to the kept variables, shape (n_versions, *cards of kept).

        Each version has a scale of its own.
        """
        left = list(stacks)
        for variable in self.order:
            touching = [s for s in left if variable in s.variables]
            left = [s for s in left if variable not in s.variables]
            scope = {v for s in touching for v in s.variables} - {variable}
            axes = (*sorted(scope), variable)
            summed = _product(touching, axes).sum(axis=-1)
            left.append(Stack(axes[:-1], _scaled(summed)))
        return _product(left, self.kept)


def _product(stacks: Sequence[Stack], axes: tuple[int, ...]) -> Floats:
    """The product of tables, with axes in an order."""
    whole: Floats = np.ones((1,) * (len(axes) + 1))
    for stack in stacks:
        whole = whole * aligned(stack.values, stack.variables, axes, 1)
    return whole


def _scaled(values: Floats) -> Floats:
    """Each version by its largest cell, lest products of many leave the range."""
    highest = values.reshape(len(values), -1).max(axis=1)
    highest[highest == 0] = 1.0
    return np.asarray(values / highest.reshape(-1, *(1,) * (values.ndim - 1)))


def summing_to_one(cpd: CPD) -> Floats:
    """The full table of a distribution; those of files are off by a little."""
    table = cpd.probabilities
    return np.asarray(table / table.sum(axis=-1, keepdims=True))


def cut_scope(family: Sequence[int], hard: Mapping[int, int]) -> tuple[int, ...]:
    """The members of a family whose state is open."""
    return tuple(v for v in family if v not in hard)


def cut_stack(family: Sequence[int], values: Floats, hard: Mapping[int, int]) -> Stack:
    """A table, one version or many, at the states that are known."""
    index = tuple(hard.get(v, slice(None)) for v in family)
    return Stack(cut_scope(family, hard), values[(slice(None), *index)])


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
    stacks = [
        cut_stack(family, summing_to_one(network.cpds[family[-1]])[None], hard)
        for family in families
    ]
    stacks += [Stack((v,), own[None]) for v, own in likelihoods.items()]
    return np.asarray(plan.run(stacks)[0])


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
            plan.run(self._stacks(min(step, n_draws - done), rng))
            for done in range(0, n_draws, step)
        ]
        joint = np.concatenate(
            [np.broadcast_to(p, (len(p), *p.shape[1:])) for p in parts]
        )
        return np.asarray(joint / joint.sum(axis=-1, keepdims=True))

    def _stacks(self, n_draws: int, rng: np.random.Generator) -> list[Stack]:
        """The tables of some draws, and evidence."""
        cards = self.network.domain.cards
        stacks = [Stack((self.treatment,), np.ones((n_draws, cards[self.treatment])))]
        for node in self.nodes:
            table = summing_to_one(self.network.cpds[node])[None]
            experience = _experience(self.network, node)
            if experience is not None:
                strengths = np.maximum(experience, _LEAST_EXPERIENCE)
                table = np.exp(log_dirichlet(table[0], strengths, n_draws, rng))
            stacks.append(cut_stack(self.network.dag.families[node], table, self.hard))
        stacks += [Stack((v,), own[None]) for v, own in self.likelihoods.items()]
        return stacks


def _experience(network: Factorisation, node: int) -> Floats | None:
    """How many rows each distribution of a variable rests on, if that is known."""
    cpd = network.cpds[node]
    return cpd.experience if isinstance(cpd, TableCPD) else None
