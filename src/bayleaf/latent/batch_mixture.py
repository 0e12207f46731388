"""A hierarchy of gates over experts, learned from all rows at once."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np

from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from bayleaf.latent.ascent import Progress, climb
from bayleaf.latent.mixture_likelihood import MixtureLikelihood
from bayleaf.wording import quoted


@dataclass(frozen=True)
class BatchOptions:
    """Options of learning from all rows at once; ValueError if one is out of range."""

    pseudo_count: float = 1.0  # prior rows of each state of each distribution
    start_spread: float = 1.0  # standard deviation (nats) of the experts at the start
    max_iter: int = 200
    tol: float = 1e-4  # learning ends when a step gains less than this share

    def __post_init__(self) -> None:
        for name in ("pseudo_count", "start_spread", "tol"):
            value = getattr(self, name)
            real = isinstance(value, numbers.Real) and math.isfinite(value)
            if not (real and (value > 0 or (name == "tol" and value == 0))):
                least = "of at least" if name == "tol" else "above"
                raise ValueError(
                    f"{name} must be a number {least} 0, got {quoted(value)}"
                )
        if not isinstance(self.max_iter, numbers.Integral) or self.max_iter < 0:
            raise ValueError(
                f"max_iter must be an integer of at least 0, got "
                f"{quoted(self.max_iter)}"
            )


@dataclass(frozen=True, eq=False)
class BatchMixture:
    """A learned mixture, and the course of learning.

    `objectives`, from the start on, are that log-likelihood plus the logarithm of the
    prior density, up to a constant (nats); they rise at every step.
    """

    banks: tuple[NaiveBayesBank, ...]  # gates by level from the root, then experts
    log_likelihood: float  # of the classes given the features, nats
    objectives: tuple[float, ...]
    converged: bool  # whether it ended for want of a rise, not of steps


def learn_batch(
    codes: Codes,
    architecture: tuple[int, ...],
    options: BatchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> BatchMixture:
    """Learn a hierarchical mixture of naive Bayes classifiers from all rows at once.

    Maximises the conditional log-likelihood of the classes plus the logarithm of a
    Dirichlet prior of `pseudo_count` rows per state. Equal rows are merged first, so a
    row of weight 2 is a row that occurs twice, and the order of rows does not matter;
    missing cells are left out. ValueError if no row has a positive weight.

    `architecture` lists the branching factors of the levels of gates, the root's first;
    if empty, there is one expert. The start is naive Bayes in every expert and even
    gates, with noise of `start_spread` added to the logarithms. `progress` is called
    with the step's number and the objective after each step.

    The model is that of Wiering (2003), sections 3.1-3.2. An E step shares each row
    among the experts by their path weight times the probability they give to the true
    class; expected counts with the class known less those without are the gradient, and
    the steps are those of L-BFGS (Salakhutdinov, Roweis and Ghahramani 2003, on
    optimisation by expectation and gradient). A distribution's free parameters are
    logarithms that are normalised afterwards.
    """
    likelihood = MixtureLikelihood(codes, architecture, options.pseudo_count)
    start = likelihood.random_start(options.start_spread, rng)
    found = climb(
        likelihood.objective,
        start,
        max_iter=options.max_iter,
        tol=options.tol,
        progress=progress,
    )
    logs = likelihood.normalized(found.point)
    return BatchMixture(
        likelihood.layout.banks(logs),
        found.objectives[-1] - likelihood.log_prior(logs),
        found.objectives,
        found.converged,
    )
