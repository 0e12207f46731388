"""Prior probabilities of single arcs, as terms that a local score adds up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.scores.local_scores import Unit

Arc = tuple[int, int]


@dataclass(frozen=True, eq=False)
class ArcPrior:
    """What each arc adds to the score of its child.

    Castelo and Siebes (2000, "Priors on network structures. Biasing the search for
    Bayesian networks"): a pair of variables is joined by an arc in one direction, by
    one in the other, or not at all. What the beliefs on a pair leave of 1 is shared out
    equally among those of the three that they do not name, so that a pair without
    beliefs has 1/3 for each, and changes no score. Over all graphs the prior is the
    product over pairs; the constant by which graphs with cycles fall out, and the
    product for the graph without arcs, are left out of scores.

    `log_odds` (n_variables, n_variables), by [child, parent], are logarithms of how
    much more probable the arc is than that the two are not joined, in the unit of the
    score; zero without beliefs.
    """

    log_odds: NDArray[np.float64]

    @classmethod
    def from_probabilities(
        cls, probabilities: Mapping[Arc, float], n_variables: int, unit: Unit
    ) -> ArcPrior:
        """Terms of beliefs in arcs (parent, child), in the unit of the score.

        Probabilities are above 0 and below 1; those of the two directions of a pair sum
        to less than 1.
        """
        log_odds = np.zeros((n_variables, n_variables))
        base = math.log(2) if unit == "bits" else 1.0
        for parent, child in {*probabilities, *(arc[::-1] for arc in probabilities)}:
            own = probabilities.get((parent, child))
            other = probabilities.get((child, parent))
            shares = [p for p in (own, other) if p is not None]
            rest = (1.0 - math.fsum(shares)) / (3 - len(shares))
            odds = 1.0 if own is None else own / rest
            log_odds[child, parent] = math.log(odds) / base
        return cls(log_odds)

    def of(self, child: int, parents: Iterable[int]) -> float:
        """What the parents of a variable add to its score."""
        return math.fsum(self.log_odds[child, list(parents)])
