"""The expected number of a variable, and how far from it the number may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.state_numbers import number_deviation
from bayleaf.inference.posteriors import Posterior
from bayleaf.wording import brief, format_number, shown_name


@dataclass(frozen=True, eq=False)
class ExpectedNumber:
    """What number to expect of a variable; ``float`` gives the mean.

    Parameters
    ----------
    posterior : Posterior
        The distribution over the variable's states.
    mean : float
        Expected value; inside an interval the mean of its training numbers.
    standard_deviation : float
        Between and inside intervals, there as the quantiles of the training numbers
        have it.
    """

    posterior: Posterior
    mean: float
    standard_deviation: float

    @classmethod
    def of(cls, posterior: Posterior) -> ExpectedNumber:
        """The expectation under a posterior.

        Raises
        ------
        ValueError
            If states are no numbers, or the numbers inside intervals are not known.
        """
        deviation = number_deviation(posterior.variable, posterior.probabilities)
        return cls(posterior, posterior.mean(), deviation)

    def quantiles(self, shares: Any = (0.05, 0.5, 0.95)) -> NDArray[np.float64]:
        """Numbers below which some shares of the distribution lie."""
        return self.posterior.quantiles(shares)

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        low, middle, high = map(format_number, self.quantiles())
        return (
            f"{shown_name(self.posterior.variable.name)}: mean "
            f"{format_number(self.mean)}, standard deviation "
            f"{format_number(self.standard_deviation)}, median {middle}, "
            f"90 % between {low} and {high}"
        )

    def __repr__(self) -> str:
        return brief(self, str(self))
