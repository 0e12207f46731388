"""A query as one record: variables, and what is known, answered exactly."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.inference.events.events import ALWAYS, NEVER, Event, Known
from bayleaf.inference.events.table_products import RelevantPart
from bayleaf.inference.evidence import Evidence, ImpossibleEvidenceError
from bayleaf.inference.junction_tree import Propagation
from bayleaf.inference.network_trees import NetworkTrees, Part
from bayleaf.inference.posteriors import Answers, Posteriors
from bayleaf.inference.states import indicator

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Query:
    """Variables in question and what is known, over the trees of a network.

    Answers raise ImpossibleEvidenceError if what is known has probability zero, and
    ValueError if a table would be too large.
    """

    trees: NetworkTrees
    known: Known
    targets: Sequence[int] = ()  # indices, each once

    @property
    def evidence(self) -> Evidence:
        """What is known of single variables."""
        return self.known.evidence

    def posteriors(self) -> Posteriors:
        """Posterior of each target; nothing is known of several variables together."""
        sources: dict[int, tuple[Part, Propagation]] = {}
        log_evidence = 0.0
        for group, part in self.trees.parts(self.evidence, self.targets):
            propagation = part.propagate(self.evidence.findings, group)
            log_evidence = propagation.log_evidence
            if log_evidence == -math.inf:
                raise self.trees.impossible(self.evidence)
            sources |= dict.fromkeys(group, (part, propagation))

        def marginal(variable: int) -> Floats:
            part, propagation = sources[variable]
            return propagation.marginal(part.positions[variable])

        return Posteriors(
            Answers(self.trees.domain, self.targets, marginal),
            log_evidence + self.evidence.log_scale,
        )

    def posterior(self) -> Floats:
        """Posterior of the only target, shape (card,)."""
        if self.known.events:
            return self.joint()[0]
        name = self.trees.domain[self.targets[0]].name
        return self.posteriors()[name].probabilities

    def joint(self) -> tuple[Floats, float]:
        """Joint posterior, axes in the order of the targets, and ln P(known)."""
        part = RelevantPart.of(self.trees, self.targets, self.known)
        table, log_scale = part.joint(self.targets)
        total = float(table.sum())
        if not total > 0:
            raise self.known.impossible(self.trees)
        order = [sorted(self.targets).index(v) for v in self.targets]
        return (table / total).transpose(order), log_scale + math.log(total)

    def most_probable(self) -> tuple[dict[str | int, Hashable], float]:
        """Most probable joint state of the targets and its posterior probability."""
        part = RelevantPart.of(self.trees, self.targets, self.known)
        codes, log_most = part.most_probable(self.targets)
        if not codes:
            raise self.known.impossible(self.trees)
        variables = [self.trees.domain[v] for v in self.targets]
        states = {
            own.name: own.states[codes[v]]
            for v, own in zip(self.targets, variables, strict=True)
        }
        log_known = self.log_known(by_elimination=True)
        return states, min(1.0, math.exp(log_most - log_known))

    def log_probability(self, event: Event, text: str) -> float:
        """Logarithm of P(event | known); `text` is the event as the user wrote it."""
        both: Query | None = None
        if event != NEVER:
            with contextlib.suppress(ImpossibleEvidenceError):
                both = replace(self, known=self.known.also(event, text))
        # An event over several variables asks for no more than the part that matters;
        # compiling the whole network would take longer than the answer.
        queries = [self] if both is None else [self, both]
        by_elimination = any(query.known.events for query in queries)
        log_known = self.log_known(by_elimination=by_elimination)
        if log_known == -math.inf:
            raise self.known.impossible(self.trees)
        if event == ALWAYS:
            return 0.0
        if both is None:
            return -math.inf
        return min(0.0, both.log_known(by_elimination=by_elimination) - log_known)

    def log_known(self, *, by_elimination: bool) -> float:
        """Logarithm of P(what is known), minus infinity if it is impossible."""
        if not self.known.events and not self.evidence.items:
            return 0.0
        if by_elimination:
            return RelevantPart.of(self.trees, (), self.known).log_probability
        return self.trees.log_probability(self.evidence) + self.evidence.log_scale

    def log_evidence(self) -> float:
        """Logarithm of P(evidence) on the scale of `Evidence.likelihoods`."""
        log_probability = self.trees.log_probability(self.evidence)
        if log_probability == -math.inf:
            raise self.trees.impossible(self.evidence)
        return log_probability

    def log_alone(self) -> dict[int, float]:
        """Logarithm of each item's own probability, by variable, without the others."""
        likelihoods = self.evidence.likelihoods
        alone = {}
        for group, part in self.trees.parts(self.evidence.only(()), list(likelihoods)):
            prior, places = part.propagate({}), part.positions
            for variable in group:
                probability = prior.marginal(places[variable]) @ likelihoods[variable]
                alone[variable] = float(np.log(probability))
        return alone

    def information_on(self, variable: int) -> dict[int, float]:
        """I(variable; target | evidence) in nats by target, at least 0.

        One propagation for each possible state of the variable gives P(target | state)
        for all targets at once.
        """
        values: dict[int, float] = dict.fromkeys(self.targets, 0.0)
        likelihoods = self.evidence.likelihoods
        for group, part in self.trees.parts(self.evidence, self.targets, [variable]):
            places = part.positions
            overall = part.propagate(likelihoods)
            if overall.log_evidence == -math.inf:
                raise self.trees.impossible(self.evidence)
            marginals = {v: overall.marginal(places[v]) for v in group}
            probabilities = overall.marginal(places[variable])
            for state in np.flatnonzero(probabilities).tolist():
                one_hot = indicator(len(probabilities), state)
                given = part.propagate({**likelihoods, variable: one_hot})
                for v in group:
                    conditional = given.marginal(places[v])
                    seen = conditional > 0
                    ratios = conditional[seen] / marginals[v][seen]
                    divergence = float((conditional[seen] * np.log(ratios)).sum())
                    values[v] += probabilities[state] * divergence
        return {v: max(value, 0.0) for v, value in values.items()}
