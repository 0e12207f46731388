"""Why a mixture gave a row its class: gates, experts, and what these say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from bayleaf.models.explanation import Explanation, base_fields, wrapped
from bayleaf.models.mixtures.tables import (
    MixtureTables,
    member_shares,
    node_path,
    path_name,
)
from bayleaf.wording import brief_fields, shown_name, stated

Facts = list[str]

# Experts of a row, and features of a gate or expert, that are written.
_EXPERTS_SHOWN = 4
_FEATURES_SHOWN = 3


@dataclass(frozen=True)
class GateOpinion:
    """How far one gate trusts each of its children in a row, and why.

    Parameters
    ----------
    start : int
        The mixture, from 0 on.
    path : tuple of int
        Children on the way from the root, from 1 on; empty for the root.
    weights : tuple of float
        Weight of each child; they sum to one.
    favoured, against : int
        The child of largest weight and the next, from 1 on; alike if it is alone.
    prior : float
        ln P(favoured) - ln P(against) before any feature is seen, nats.
    contributions : tuple of float
        What each feature adds to that, nats; zero where it is missing.
    """

    start: int
    path: tuple[int, ...]
    weights: tuple[float, ...]
    favoured: int
    against: int
    prior: float
    contributions: tuple[float, ...]

    __repr__ = brief_fields


@dataclass(frozen=True)
class ExpertOpinion:
    """What one expert says of a row.

    Parameters
    ----------
    start : int
        The mixture, from 0 on.
    path : tuple of int
        Children on the way from the root, from 1 on.
    weight : float
        The weight that the gates give it; those of a mixture sum to one.
    probability : float
        The expert's own probability of the class explained.
    share : float
        What its log-odds are multiplied by in the sum over all experts, which gives
        the log-odds of the mixture.
    prior : float
        Log-odds of the classes before any feature is seen, nats.
    contributions : tuple of float
        What each feature adds to that, nats; zero where it is missing.
    """

    start: int
    path: tuple[int, ...]
    weight: float
    probability: float
    share: float
    prior: float
    contributions: tuple[float, ...]

    __repr__ = brief_fields


@dataclass(frozen=True, repr=False)
class MixtureExplanation(Explanation):
    """The log-odds of a class in terms that add up, and the gates and experts behind.

    The prior and each term are sums over experts, `ExpertOpinion.share` times what the
    expert says, before calibration and any change of the class prior.

    Parameters
    ----------
    gates : tuple of GateOpinion
        All gates, those of the first mixture first, each from the root on.
    experts : tuple of ExpertOpinion
        All experts, those of the first mixture first.
    """

    gates: tuple[GateOpinion, ...] = ()
    experts: tuple[ExpertOpinion, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, ready for JSON."""
        return {
            **super().to_dict(),
            "gates": [asdict(gate) for gate in self.gates],
            "experts": [asdict(expert) for expert in self.experts],
        }

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, limit: int = 10, called: str | None = None) -> str:
        """Write the terms, the heaviest experts, and the gates on the way to the first.

        `limit` is the number of terms that are written in full; the row is called
        `row_name`, or what `called` says.
        """
        facts = [stated(term.feature, term.value) for term in self.terms]
        n_starts = 1 + max(expert.start for expert in self.experts)
        ranked = sorted(self.experts, key=lambda expert: -expert.weight)
        heading = "experts by the weight the gates give them"
        if n_starts > 1:
            heading = f"experts by their weight in the mean of {n_starts} mixtures"
        lines = [super().to_text(limit, called), heading]
        for expert in ranked[:_EXPERTS_SHOWN]:
            name = _named("expert", expert, n_starts)
            told = _strongest(expert.contributions, facts)
            lines += wrapped(
                f"{name}: {shown_name(self.target)} with probability "
                f"{expert.probability:.3f}{told}",
                f"  {expert.weight / n_starts:8.3f}  ",
            )
        if hidden := ranked[_EXPERTS_SHOWN:]:
            rest = sum(expert.weight for expert in hidden) / n_starts
            lines.append(f"  {rest:8.3f}  {len(hidden)} more together")
        first = ranked[0]
        way = [
            gate
            for gate in self.gates
            if gate.start == first.start
            and gate.path == first.path[: len(gate.path)]
            and len(gate.weights) > 1
        ]
        if way:
            lines.append("gates on the way to the first of them")
        for gate in way:
            child = path_name((*gate.path, gate.favoured))
            weight = gate.weights[gate.favoured - 1]
            told = _strongest(gate.contributions, facts)
            name = _named("gate", gate, n_starts)
            lines += wrapped(f"{name} to {child}{told}", f"  {weight:8.3f}  ")
        return "\n".join(lines)


def _named(what: str, opinion: GateOpinion | ExpertOpinion, n_starts: int) -> str:
    """Name of a gate or expert, with its mixture where there are several."""
    name = f"{what} {path_name(opinion.path)}"
    return name if n_starts == 1 else f"{name} of mixture {opinion.start + 1}"


def _strongest(contributions: Sequence[float], facts: Facts) -> str:
    """The facts that contribute most, for the end of a line."""
    order = sorted(range(len(facts)), key=lambda i: -abs(contributions[i]))
    told = [
        f"{facts[i]} {contributions[i]:+.3f}"
        for i in order[:_FEATURES_SHOWN]
        if contributions[i]
    ]
    return f"; {', '.join(told)}" if told else ""


def explain_routes(
    model: MixtureTables,
    codes: Codes,
    explanations: Sequence[Explanation],
    target: NDArray[np.intp],
    against: NDArray[np.intp],
) -> list[MixtureExplanation]:
    """Add what gates and experts contribute to each row's explanation.

    `target` and `against` (n_rows,) are the classes that these explain.
    """
    gates = [
        opinions
        for start, banks in enumerate(model.starts)
        for level, bank in enumerate(banks[:-1])
        for opinions in _gate_opinions(model, bank, codes, (start, level))
    ]
    experts = _expert_opinions(model, codes, target, against)
    return [
        MixtureExplanation(
            **base_fields(explanation),
            gates=tuple(opinions[row] for opinions in gates),
            experts=tuple(opinions[row] for opinions in experts),
        )
        for row, explanation in enumerate(explanations)
    ]


def _gate_opinions(
    model: MixtureTables,
    bank: NaiveBayesBank,
    codes: Codes,
    place: tuple[int, int],
) -> list[list[GateOpinion]]:
    """By node of a level, what the gate says of each row."""
    start, level = place
    weights = np.exp(bank.log_posteriors(codes))
    order = np.argsort(-weights, axis=2, kind="stable")
    found = []
    for node in range(bank.n_nodes):
        best = order[:, node, 0]
        next_best = order[:, node, min(1, bank.n_outputs - 1)]
        terms = bank.terms(codes, best) - bank.terms(codes, next_best)
        prior = bank.log_prior[node, best] - bank.log_prior[node, next_best]
        path = node_path(model.architecture, level, node)
        found.append(
            [
                GateOpinion(
                    start,
                    path,
                    tuple(weights[row, node].tolist()),
                    int(best[row]) + 1,
                    int(next_best[row]) + 1,
                    float(prior[row]),
                    tuple(terms[:, row, node].tolist()),
                )
                for row in range(codes.n_rows)
            ]
        )
    return found


def _expert_opinions(
    model: MixtureTables,
    codes: Codes,
    target: NDArray[np.intp],
    against: NDArray[np.intp],
) -> list[list[ExpertOpinion]]:
    """By expert, what it says of each row."""
    rows = np.arange(codes.n_rows)
    weights = model.gate_weights(codes)
    shares = member_shares(model, codes, target, against)
    found = []
    for start, banks in enumerate(model.starts):
        bank = banks[-1]
        own = np.exp(bank.log_posteriors(codes))
        terms = bank.terms(codes, target) - bank.terms(codes, against)
        for node in range(bank.n_nodes):
            prior = bank.log_prior[node, target] - bank.log_prior[node, against]
            path = node_path(model.architecture, len(banks) - 1, node)
            found.append(
                [
                    ExpertOpinion(
                        start,
                        path,
                        float(weights[start, row, node]),
                        float(own[row, node, target[row]]),
                        float(shares[start, node, row]),
                        float(prior[row]),
                        tuple(terms[:, row, node].tolist()),
                    )
                    for row in rows
                ]
            )
    return found
