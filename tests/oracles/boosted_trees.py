"""Class trees grown slowly, with sums over masks of rows in the place of histograms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Leaf:
    """Rows of a leaf and its step."""

    rows: Mask
    value: float


def grown_tree(
    codes: NDArray[np.int64],
    cards: list[int],
    is_ordered: list[bool],
    own: NDArray[np.int64],
    scores: Floats,
    label: int,
    n_leaves: int,
    rate: float,
    pull: float,
    least: float,
) -> list[Leaf]:
    """Leaves of one tree for one class, best leaf first, by exhaustive search."""
    n_classes = scores.shape[1]
    share = softmax(scores, axis=1)[:, label]
    factor = 1.0 if n_classes == 2 else n_classes / (n_classes - 1)
    slope, curve = (own == label) - share, factor * share * (1 - share)

    def strength(rows: Mask) -> float:
        return float(slope[rows].sum() ** 2 / (curve[rows].sum() + pull))

    def best_split(rows: Mask) -> tuple[float, Mask]:
        best = (1e-9, rows)
        for feature, card in enumerate(cards):
            for state in range(card):
                column = codes[:, feature]
                asked = column <= state if is_ordered[feature] else column == state
                left, right = rows & asked, rows & ~asked
                if min(curve[left].sum(), curve[right].sum()) < least:
                    continue
                gain = strength(left) + strength(right) - strength(rows)
                if gain > best[0] * (1 + 1e-9):
                    best = (gain, left)
        return best

    leaves = [np.ones(len(own), dtype=bool)]
    while len(leaves) < n_leaves:
        splits = [best_split(rows) for rows in leaves]
        place = int(np.argmax([gain for gain, _ in splits]))
        gain, left = splits[place]
        if gain <= 1e-9:
            break
        leaves[place : place + 1] = [left, leaves[place] & ~left]
    steps = [rate * slope[r].sum() / (curve[r].sum() + pull) for r in leaves]
    return [Leaf(rows, float(step)) for rows, step in zip(leaves, steps, strict=True)]
