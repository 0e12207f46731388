"""Rows drawn from a network variable by variable, trees without their full tables."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD, GroupedTableCPD
from bayleaf.cpds.local_structure import distributions_of_rows, with_known_parents
from bayleaf.cpds.tree_cpd import TreeCPD
from bayleaf.data.codes import Codes
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.sampling.draws import Columns, Draw, Drawing

# Rows drawn at a time; part of what a seed means.
_BLOCK = 1 << 14
# Cells beyond which a tree is followed row by row instead of being expanded.
_WIDE_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class DistributionDraw:
    """A step that draws one variable from its distribution, which is not expanded."""

    given: tuple[int, ...]  # the parents
    drawn: tuple[int, ...]
    cards: tuple[int, ...]  # of the parents, then of the variable
    cpd: CPD  # family numbered from 0

    def joint_states(
        self, columns: Columns, uniforms: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """State drawn in each row: the first whose cumulative exceeds its uniform."""
        unknown = np.full(len(uniforms), self.cards[-1])
        family = [*(columns[parent] for parent in self.given), unknown]
        given = Codes.from_columns(family, self.cards)
        return _drawn(self.cpd, given, uniforms).astype(np.int64)


def forward_draw(cpd: CPD) -> Drawing:
    """The step that draws a variable once its parents are drawn."""
    if isinstance(cpd, TreeCPD | GroupedTableCPD) and prod(cpd.cards) > _WIDE_CELLS:
        places = {variable: place for place, variable in enumerate(cpd.family)}
        numbered = with_known_parents(cpd, {}, places)
        return DistributionDraw(cpd.parents, (cpd.child,), cpd.cards, numbered)
    return Draw.from_table(cpd.parents, (cpd.child,), cpd.probabilities)


def draw_forward(
    network: Factorisation, n_rows: int, rng: np.random.Generator
) -> Codes:
    """Draw rows, each variable given its parents, one uniform per cell.

    Henrion (1988), "Propagating uncertainty in Bayesian networks by probabilistic logic
    sampling".
    """
    blocks = [
        _block(network, min(_BLOCK, n_rows - first), rng)
        for first in range(0, n_rows, _BLOCK)
    ]
    columns = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    return Codes.from_columns(columns, network.domain.cards)


def _block(
    network: Factorisation, n_rows: int, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """A column for each variable."""
    cards = network.domain.cards
    columns = [np.full(n_rows, card, dtype=np.intp) for card in cards]
    for node in network.dag.order:
        given = Codes.from_columns(columns, cards)
        columns[node] = _drawn(network.cpds[node], given, rng.random(n_rows))
    return columns


def _drawn(cpd: CPD, given: Codes, uniforms: NDArray[np.float64]) -> NDArray[np.intp]:
    """The first state whose cumulative probability exceeds the row's uniform."""
    drawn = np.empty(len(uniforms), dtype=np.intp)
    for probabilities, rows in distributions_of_rows(cpd, given):
        cumulative = np.cumsum(probabilities, axis=-1)
        reached = uniforms[rows, None] * cumulative[..., -1:] >= cumulative
        drawn[rows] = np.minimum(reached.sum(axis=-1), cpd.cards[-1] - 1)
    return drawn
