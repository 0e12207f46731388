"""Interventional distributions under tables drawn by what they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.dirichlet import log_dirichlet
from bayleaf.cpds.distribution import TableCPD
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.interventions.joint_tables import (
    Elimination,
    Stack,
    cut_scope,
    cut_stack,
    summing_to_one,
)

Floats = NDArray[np.float64]

# Cells that are held at a time, in all drawn versions together.
_BLOCK_CELLS = 1 << 22
# A distribution that rests on no row is drawn as one of its states, by their
# probabilities: as unsure as its mean allows. That is the limit of small experience.
_LEAST_EXPERIENCE = 1e-9


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
