"""Made-up tables of codes, with missing cells and weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayleaf.data.codes import Codes


def random_codes(
    cards: Sequence[int],
    n_rows: int,
    seed: int = 0,
    *,
    missing: float = 0.0,
    weights: str = "ones",
    leaning: bool = False,
) -> Codes:
    """Random rows whose last variable, the class, is never missing.

    Parameters
    ----------
    cards : sequence of int
        Number of states of each variable.
    n_rows, seed : int
        Number of rows, and what they are drawn from.
    missing : float, default=0.0
        Share of the other cells that are missing.
    weights : {"ones", "whole", "fractions"}, default="ones"
        What rows weigh.
    leaning : bool, default=False
        Whether features depend on one another and on the class.
    """
    rng = np.random.default_rng(seed)
    *features, n_classes = cards
    own = rng.integers(n_classes, size=n_rows)
    columns = [rng.integers(card, size=n_rows) for card in features]
    if leaning:
        columns = [(own + rng.integers(2, size=n_rows)) % card for card in features]
    for column, card in zip(columns, features, strict=True):
        column[rng.random(n_rows) < missing] = card
    chosen = {
        "ones": np.ones(n_rows),
        "whole": rng.integers(1, 4, size=n_rows).astype(float),
        "fractions": rng.choice([0.1, 0.3, 1.0, 2.7], size=n_rows),
    }[weights]
    return Codes.from_columns([*columns, own], cards, chosen)
