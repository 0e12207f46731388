"""What a search for latent variables tried: candidates, rounds, and the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.search.latents.wrapper_scores import WrapperScore
from bayleaf.wording import brief_fields


@dataclass(frozen=True)
class JoinCandidate:
    """A latent variable that was considered.

    Parameters
    ----------
    left, right : int
        The nodes that it joins.
    statistic : float
        G² of the two given the class, or 2 N E[KL], in nats.
    degrees_of_freedom : float
        Of the statistic's law without dependence.
    negative_log_p : float
        -ln of the probability of a larger statistic.
    n_cells, n_states : int
        Joint states of the two nodes, and states that collapsing left.
    deltas : tuple of float
        What each merge of states gained, in nats.
    score : WrapperScore or None
        Of the model with this latent variable; None where the search takes no score.
    accepted : bool
        Whether the latent variable was taken.
    """

    left: int
    right: int
    statistic: float
    degrees_of_freedom: float
    negative_log_p: float
    n_cells: int
    n_states: int
    deltas: tuple[float, ...]
    score: WrapperScore | None
    accepted: bool

    __repr__ = brief_fields

    @property
    def n_merges(self) -> int:
        """Number of merges of states that hold rows."""
        return len(self.deltas)


@dataclass(frozen=True)
class SearchStep:
    """One round of a search.

    Parameters
    ----------
    before : WrapperScore or None
        The model's score when the round began.
    candidates : tuple of JoinCandidate
        In the order in which they were tried.
    """

    before: WrapperScore | None
    candidates: tuple[JoinCandidate, ...]

    __repr__ = brief_fields

    @cached_property
    def accepted(self) -> JoinCandidate | None:
        """The candidate that was taken; None in a last round."""
        return next((c for c in self.candidates if c.accepted), None)


@dataclass(frozen=True, eq=False)
class LatentSearchResult:
    """Latent variables, and the search that found them."""

    tree: LatentTree
    used: tuple[int, ...] | None  # class children, increasing; None without selection
    steps: tuple[SearchStep, ...]  # all rounds
    baseline: WrapperScore | None  # naive Bayes over features tried; None if not scored

    __repr__ = brief_fields
