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
    """How a mixture is learned from all rows at once.

    Parameters
    ----------
    pseudo_count : float, default=1.0
        Weight of the prior: rows that each state of each distribution is thought to
        have been seen in.
    start_spread : float, default=1.0
        Standard deviation (nats) of the noise by which the experts differ at the
        start.
    max_iter : int, default=200
        Most steps.
    tol : float, default=1e-4
        Learning ends when a step gains less than this share of the objective.

    Raises
    ------
    ValueError
        If an option is out of range.
    """

    pseudo_count: float = 1.0
    start_spread: float = 1.0
    max_iter: int = 200
    tol: float = 1e-4

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
    """A learned mixture, and how learning went.

    Parameters
    ----------
    banks : tuple of NaiveBayesBank
        Gates level by level from the root, then the experts.
    log_likelihood : float
        Of the training classes given the features, in nats.
    objectives : tuple of float
        What rose at every step, from the start on: that log-likelihood plus the
        logarithm of the prior density, up to a constant (nats).
    converged : bool
        Whether learning ended for want of a rise, not of steps.
    """

    banks: tuple[NaiveBayesBank, ...]
    log_likelihood: float
    objectives: tuple[float, ...]
    converged: bool


def learn_batch(
    codes: Codes,
    architecture: tuple[int, ...],
    options: BatchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> BatchMixture:
    """Learn a hierarchical mixture of naive Bayes classifiers from all rows at once.

    Maximises the conditional log-likelihood of the classes plus the logarithm of a
    Dirichlet prior of `pseudo_count` rows a state. Equal rows are merged first, so a
    row of weight 2 is a row that occurs twice, and the order of rows is of no
    importance.

    Parameters
    ----------
    codes : Codes
        Features, then the class, which no row misses; missing cells are left out.
    architecture : tuple of int
        Branching factor of each level of gates, the root's first; with an empty tuple
        there is one expert and no gate.
    options : BatchOptions
        How to learn.
    rng : Generator
        Source of the start: naive Bayes in every expert and no opinion in any gate,
        with noise of `start_spread` added to the logarithms.
    progress : callable, optional
        Called with the step's number and the objective after each step.

    Returns
    -------
    BatchMixture

    Raises
    ------
    ValueError
        If no row has a positive weight.

    Notes
    -----
    The model is that of Wiering (2003), sections 3.1-3.2. An E step shares each row
    among the experts by their path weight times the probability they give to the true
    class; expected counts with the class known less those without are the gradient,
    and the steps are those of L-BFGS (Salakhutdinov, Roweis and Ghahramani 2003, on
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
