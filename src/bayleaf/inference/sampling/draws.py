"""Rows drawn step by step from tables of cumulative probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import NARROW_STATES, Codes

# Rows drawn at a time: their indices and uniforms stay in the second cache. Part of
# what a seed means, so a change changes every sample.
_BLOCK = 1 << 14

Floats = NDArray[np.float64]
# Drawn states by variable.
Columns = Sequence[Any] | Mapping[int, Any]


@dataclass(frozen=True, eq=False)
class Draw:
    """One step of sampling: variables drawn together, given variables drawn before.

    The cumulative probabilities have the last variable fastest; their last column is 1.
    """

    given: tuple[int, ...]
    drawn: tuple[int, ...]
    cards: tuple[int, ...]  # of `given`, then of `drawn`
    cumulative: Floats  # (n_given, n_joint)

    @classmethod
    def from_table(
        cls, given: Sequence[int], drawn: Sequence[int], table: Floats
    ) -> Draw:
        """Prepare a table over `given` and `drawn`, rows on any scale."""
        n_joint = prod(table.shape[len(given) :])
        sums = np.cumsum(table.reshape(-1, n_joint), axis=1)
        # Rows that nothing but samples without weight reach sum to 0.
        totals = np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
        sums /= totals
        sums[:, -1] = 1.0
        return cls(tuple(given), tuple(drawn), table.shape, sums)

    def joint_states(self, columns: Columns, uniforms: Floats) -> NDArray[np.int64]:
        """Joint state drawn in each row: the first whose cumulative exceeds it."""
        n_joint = self.cumulative.shape[1]
        row = np.zeros(len(uniforms), dtype=np.int64)
        for variable, card in zip(self.given, self.cards):
            row *= card
            row += columns[variable]
        row *= n_joint
        flat = self.cumulative.ravel()
        found = np.zeros(len(uniforms), dtype=np.int64)
        step = 1 << max(0, (n_joint - 1).bit_length() - 1)
        while step and n_joint > 1:
            ahead = np.minimum(found + (step - 1), n_joint - 1)
            found += step * (flat.take(row + ahead) <= uniforms)
            step >>= 1
        return found


class Drawing(Protocol):
    """What every step of sampling offers; see `Draw`."""

    @property
    def given(self) -> tuple[int, ...]:
        """Variables drawn before."""

    @property
    def drawn(self) -> tuple[int, ...]:
        """Variables drawn now."""

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of `given`, then of `drawn`."""

    def joint_states(self, columns: Columns, uniforms: Floats) -> NDArray[np.int64]:
        """Joint state drawn in each row."""


def draw_rows(
    draws: Sequence[Drawing],
    cards: Sequence[int],
    n_rows: int,
    rng: np.random.Generator,
    known: Mapping[int, int],
) -> Codes:
    """Draw rows step by step, one uniform per row and step; no cell is missing.

    `known` are the states that all rows share.
    """
    columns: list[NDArray[np.integer[Any]]] = [
        np.empty(n_rows, dtype=np.uint8 if card <= NARROW_STATES else np.uint16)
        for card in cards
    ]
    for variable, code in known.items():
        columns[variable][:] = code
    for start in range(0, n_rows, _BLOCK):
        stop = min(start + _BLOCK, n_rows)
        block = [column[start:stop] for column in columns]
        uniforms = rng.random((len(draws), stop - start))
        for draw, uniform in zip(draws, uniforms, strict=True):
            joint = draw.joint_states(block, uniform)
            for variable, card in _from_last(draw):
                np.remainder(joint, card, out=block[variable], casting="unsafe")
                joint //= card
    return Codes.from_columns(columns, cards)


def _from_last(draw: Drawing) -> Iterator[tuple[int, int]]:
    """The variables that a step draws and their numbers of states, the last first."""
    cards = draw.cards[len(draw.given) :]
    yield from zip(reversed(draw.drawn), reversed(cards), strict=True)
