"""Posteriors of variables, exact or estimated, by the names of variables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.inference.approximate.answer import OFFER, estimated
from bayleaf.inference.approximate.settings import Method, Sampling
from bayleaf.inference.events.known import read_single
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.junction_tree.bounded_forest import TooWideError
from bayleaf.inference.junction_tree.tree import Propagation
from bayleaf.inference.parts import NetworkTrees, Part
from bayleaf.inference.posteriors import Answers, Posteriors
from bayleaf.inference.states import find_variable

# A mapping, or an expression that says something of each variable by itself.
KnownOf = Mapping[Any, Any] | str | Sequence[Any] | None
# Variables, the part of the network that was asked for them, and what it found.
_Answer = tuple[Sequence[int], Part, Propagation]


class PosteriorQueries:
    """Answers what the posteriors of variables are; see `Inference`."""

    _trees: NetworkTrees

    def query(
        self,
        evidence: KnownOf = None,
        targets: Iterable[Any] | Any = None,
        *,
        method: Method = "exact",
        tolerance: float = 0.005,
        max_samples: int = 200_000,
        random_state: Any = None,
    ) -> Posteriors:
        """Find the posterior distribution of every target.

        Parameters
        ----------
        evidence : mapping, optional
            What is known.
        targets : name or iterable of names, optional
            The variables in question; all by default.
        method : {"exact", "auto", "approximate"}, default="exact"
            Whether posteriors are computed or estimated from weighted samples; "auto"
            estimates them where exact answers need too large a table.
        tolerance : float, default=0.005
            Samples are drawn until no state's probability has a larger standard error.
        max_samples : int, default=200_000
            They end here even so, with an `ApproximationWarning`.
        random_state : None, int, Generator or RandomState
            Seed of the samples; the same one gives the same estimates.

        Returns
        -------
        Posteriors
            Estimates are `EstimatedPosteriors`, with standard errors.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero, naming items that conflict.
        TooWideError
            If `method` is "exact" and a table would be too large even for the part of
            the network that matters to one target.
        ValueError
            If a variable or state does not exist, an option is none, or no sample
            agrees with the evidence.
        """
        known = self._read(evidence)
        wanted = self._targets(targets)
        sampling = Sampling(method, tolerance, max_samples, random_state)
        if method == "approximate":
            return estimated(self._trees, known, wanted, sampling)
        try:
            return self._exact(known, wanted)
        except TooWideError as error:
            if method == "auto":
                return estimated(self._trees, known, wanted, sampling)
            raise TooWideError(f"{error}; {OFFER}") from None

    def _exact(self, known: Evidence, wanted: Sequence[int]) -> Posteriors:
        """Exact posteriors."""
        findings, log_evidence = known.findings, 0.0
        found: list[_Answer] = []
        for group, part in self._trees.parts(known, wanted):
            propagation = part.propagate(findings, group)
            log_evidence = propagation.log_evidence
            if log_evidence == -math.inf:
                raise self._trees.impossible(known)
            found.append((group, part, propagation))
        return Posteriors(
            Answers(self._trees.domain, wanted, partial(_marginal, found)),
            log_evidence + known.log_scale,
        )

    def _read(self, evidence: KnownOf) -> Evidence:
        """Evidence over the network's variables."""
        return read_single(self._trees.domain, evidence)

    def _targets(self, targets: Any) -> Sequence[int]:
        """Positions of the named variables, each once; all if None."""
        domain = self._trees.domain
        if targets is None:
            return range(len(domain))
        names = [targets] if isinstance(targets, str | int) else targets
        if not isinstance(names, Iterable):
            raise TypeError(
                "variables must be a name or several names, got "
                f"{type(targets).__name__}"
            )
        return list(dict.fromkeys(find_variable(domain, name) for name in names))


def _marginal(found: Sequence[_Answer], variable: int) -> NDArray[np.float64]:
    """The marginal of a variable that some part was asked for."""
    part, propagation = next(
        (part, propagation) for group, part, propagation in found if variable in group
    )
    return propagation.marginal(part.positions[variable])
