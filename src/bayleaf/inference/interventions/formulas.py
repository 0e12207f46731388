"""Interventional distributions from joint tables of what is observed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class NoSupportError(ValueError):
    """A state of the treatment that does not occur where the formula needs it.

    `cell` is the state of the treatment, then of each covariate.
    """

    def __init__(self, cell: tuple[int, ...]) -> None:
        super().__init__("a treatment does not occur among some covariates")
        self.cell = cell


def back_door(joint: Floats, asked: list[int]) -> Floats:
    """P(outcome | do(treatment)) as the sum over z of P(y | x, z) P(z).

    `joint` (n_treatments, *cards of covariates, n_outcomes), on any scale -> (n_asked,
    n_outcomes) (Pearl 2009, theorem 3.3.2). NoSupportError if covariates occur that
    never occur with a treatment.
    """
    n_treatments, *cards, n_outcomes = joint.shape
    cells = joint.reshape(n_treatments, -1, n_outcomes)
    pairs = cells.sum(axis=-1)
    weights = pairs.sum(axis=0) / pairs.sum()
    _check_support(pairs, weights > 0, asked, cards)
    occurs = weights > 0
    means = [
        weights[occurs] @ (cells[x, occurs] / pairs[x, occurs, None]) for x in asked
    ]
    return np.array(means)


def front_door(joint: Floats, asked: list[int]) -> Floats:
    """P(outcome | do(treatment)) through mediators.

    `joint` (n_treatments, *cards of mediators, n_outcomes), on any scale -> (n_asked,
    n_outcomes), the sum over z of P(z | x) times the sum over x' of P(y | x', z) P(x')
    (Pearl 2009, theorem 3.3.4). NoSupportError if a treatment never occurs, or
    mediators occur under one that never do under another.
    """
    n_treatments, *cards, n_outcomes = joint.shape
    cells = joint.reshape(n_treatments, -1, n_outcomes)
    pairs = cells.sum(axis=-1)
    prior = pairs.sum(axis=1) / pairs.sum()
    for x in asked:
        if prior[x] == 0:
            raise NoSupportError((x,))
    reached = (pairs[asked] > 0).any(axis=0)
    _check_support(pairs, reached, np.flatnonzero(prior).tolist(), cards)
    safe = np.where(pairs > 0, pairs, 1.0)
    outcomes = np.einsum("x,xzy->zy", prior, cells / safe[:, :, None])
    shares = pairs[asked] / pairs[asked].sum(axis=1, keepdims=True)
    return np.asarray(shares @ outcomes)


def _check_support(
    pairs: Floats, needed: NDArray[np.bool_], treatments: list[int], cards: list[int]
) -> None:
    """Raise NoSupportError unless treatments occur with all that is needed."""
    for x in treatments:
        absent = np.flatnonzero((pairs[x] == 0) & needed)
        if len(absent):
            cell = np.unravel_index(int(absent[0]), cards) if cards else ()
            raise NoSupportError((x, *map(int, cell)))
