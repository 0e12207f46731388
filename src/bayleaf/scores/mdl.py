"""Minimum description length, in bits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bayleaf.scores.local_score import Counts, Scores, Unit, log_likelihood
from bayleaf.wording import quoted


@dataclass(frozen=True)
class MDL:
    """Bits that the data and the model take, negated.

    desJardins, Rathod and Getoor (2008), section 3.1. A parameter takes
    ``0.5 * log2(N)`` bits, a parent ``log2`` of the number of variables, a cut ``log2``
    of the number of cuts that its hierarchy has; a leaf of a tree takes one bit, a
    split one bit and ``log2`` of the number of variables that may be split on. The data
    term of their equation 7 is printed without its minus sign. Under one unit of weight
    parameters cost nothing.

    `penalty_weight` weighs the model's bits against those of the data; ValueError if it
    is negative or not finite.
    """

    penalty_weight: float = 1.0
    name = "mdl"
    unit: Unit = "bits"
    adds_over_rows = True

    def __post_init__(self) -> None:
        if not 0 <= self.penalty_weight < math.inf:
            raise ValueError(
                "penalty_weight must be a finite number of at least 0, got "
                f"{quoted(self.penalty_weight)}"
            )

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters (bits), see `LocalScore.rows_score`."""
        n_parameters = (counts.shape[-1] - 1) * n_rows
        bits = 0.5 * n_parameters * math.log2(max(total_weight, 1.0))
        scores: Scores = log_likelihood(counts) / math.log(2)
        return np.asarray(scores - self.penalty_weight * bits)

    def parents_score(self, n_parents: int, n_variables: int) -> float:
        """Score naming the parents among all variables (bits)."""
        if n_parents == 0:
            return 0.0
        return -self.penalty_weight * n_parents * math.log2(n_variables)

    def cuts_score(self, n_cuts: Iterable[int]) -> float:
        """Score naming one cut through the hierarchy of each parent (bits)."""
        return -self.penalty_weight * sum(math.log2(number) for number in n_cuts)

    def leaf_score(self) -> float:
        """Score saying that a node of a tree is a leaf: a bit."""
        return -self.penalty_weight

    def split_score(self, n_candidates: int) -> float:
        """Score saying that a node of a tree splits on one of some variables (bits)."""
        return -self.penalty_weight * (1.0 + math.log2(n_candidates))

    def merge_score(self, n_leaves: int) -> float:
        """Score naming the leaf that one of so many leaves is merged with (bits)."""
        return -self.penalty_weight * math.log2(n_leaves)
