"""A record of what was tried and how well each candidate predicts left-out rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bayleaf.cpds.smoothing import (
    Backoff,
    Dirichlet,
    Lidstone,
    MEstimate,
    Smoothing,
)
from bayleaf.data.codes import Codes
from bayleaf.search.left_out.leave_one_out import LeaveOneOutScores
from bayleaf.wording import brief

# The rules among which smoothing="auto" chooses, the simplest first.
SMOOTHING_GRID: tuple[Smoothing, ...] = (
    Lidstone(1.0),
    Lidstone(0.5),
    Lidstone(0.1),
    Lidstone(0.01),
    Dirichlet(1.0),
    Dirichlet(5.0),
    MEstimate(1.0),
    MEstimate(5.0),
    Backoff(0.5),
    Backoff(2.0),
    Backoff(5.0),
)


def rules_without_zeros(codes: Codes) -> tuple[Smoothing, ...]:
    """Rules of the grid that leave no zero in a table learned from some rows.

    An m-estimate pulls towards the shares of the states in a family's rows: a state
    that these lack has probability zero, so it is tried only where no cell is missing
    and every state occurs.
    """
    for variable, card in enumerate(codes.cards):
        column = codes.column(variable)
        weights = np.bincount(column, codes.weights, minlength=card + 1)
        if weights[card] or not weights[:card].all():
            return tuple(r for r in SMOOTHING_GRID if not isinstance(r, MEstimate))
    return SMOOTHING_GRID


# Log-losses that agree to this many decimals count as equal.
_TIE_DECIMALS = 12
# Candidates that a record shows.
_SHOWN = 10


@dataclass(frozen=True)
class Candidate:
    """One choice and its leave-one-out scores.

    Parameters
    ----------
    smoothing : Smoothing
        Rule.
    log_loss, error, rmse : float
        See `LeaveOneOutScores`.
    k, n_features : int, optional
        Number of parents and of features used, where these were chosen too.
    """

    smoothing: Smoothing
    log_loss: float
    error: float
    rmse: float
    k: int | None = None
    n_features: int | None = None

    @classmethod
    def from_scores(
        cls,
        scores: LeaveOneOutScores,
        smoothing: Smoothing,
        k: int | None = None,
        n_features: int | None = None,
    ) -> Candidate:
        """A candidate with these scores."""
        return cls(smoothing, scores.log_loss, scores.error, scores.rmse, k, n_features)

    def __str__(self) -> str:
        places = [
            f"{name}={value}"
            for name, value in (("k", self.k), ("n_features", self.n_features))
            if value is not None
        ]
        return (
            f"log-loss {self.log_loss:.4f}  error {self.error:.4f}  "
            f"rmse {self.rmse:.4f}  {', '.join([*places, str(self.smoothing)])}"
        )


@dataclass(frozen=True)
class Selection:
    """All candidates of a choice by leave-one-out, in the order of their simplicity.

    Parameters
    ----------
    candidates : tuple of Candidate
        By k, number of features and rule.
    """

    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate:
        """The candidate of least log-loss; the first of equal ones."""
        return min(self.candidates, key=lambda c: round(c.log_loss, _TIE_DECIMALS))

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __getitem__(self, position: int) -> Candidate:
        return self.candidates[position]

    def __repr__(self) -> str:
        return brief(self, f"best of {len(self)} candidates: {self.best}")

    def __str__(self) -> str:
        ranked = sorted(self.candidates, key=lambda c: round(c.log_loss, _TIE_DECIMALS))
        lines = [
            f"best {min(_SHOWN, len(ranked))} of {len(ranked)} candidates by "
            "leave-one-out log-loss (nats)"
        ]
        return "\n".join([*lines, *(f"  {candidate}" for candidate in ranked[:_SHOWN])])


def choose_rule(
    rules: Sequence[Smoothing], scores: Sequence[LeaveOneOutScores]
) -> Selection:
    """The choice among rules alone."""
    return Selection(
        tuple(
            Candidate.from_scores(score, rule)
            for rule, score in zip(rules, scores, strict=True)
        )
    )
