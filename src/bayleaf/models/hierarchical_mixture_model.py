"""A tree of naive Bayes gates over naive Bayes experts (Wiering 2003)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.cpds.given_tables import SUM_TOLERANCE, check_distributions, check_shape
from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.inference.log_sums import log_of
from bayleaf.models.class_model import ClassModel, LogScores
from bayleaf.models.explanation import Explanation, base_fields, wrapped
from bayleaf.models.mixture_banks import (
    Banks,
    bank_term,
    drawn_bank,
    expert_shares,
    log_gate_weights,
    member_shares,
    mixture_log_posteriors,
    node_path,
    output_rows,
    path_name,
)
from bayleaf.models.support.support_counts import (
    Fact,
    RowFacts,
    SupportCounts,
    TableSize,
    UsedCells,
)
from bayleaf.scoring.terms import LogSum, Look, Term
from bayleaf.wording import brief_fields, counted, name_list, shown_name

Floats = NDArray[np.float64]

# Experts of a row, and features of a gate or expert, that are written.
_EXPERTS_SHOWN = 4
_FEATURES_SHOWN = 3
# Lines on a mixture, attributes of a gate, and mixtures that are written.
_LINES_SHOWN = 60
_ATTRIBUTES_SHOWN = 3
_MIXTURES_SHOWN = 2
# States of an attribute that are listed for a child.
_STATES_SHOWN = 4
# Attributes that tell less than this of the output, in nats, decide nothing.
_LEAST_INFORMATION = 1e-3


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

    def to_text(
        self, limit: int = 10, called: str | None = None, *, columns: int = 80
    ) -> str:
        """Write the terms, the heaviest experts, and the gates on the way to the first.

        `limit` is the number of terms that are written in full; the row is called
        `row_name`, or what `called` says.
        """
        facts = [term.fact for term in self.terms]
        n_starts = 1 + max(expert.start for expert in self.experts)
        ranked = sorted(self.experts, key=lambda expert: -expert.weight)
        heading = "experts by the weight the gates give them"
        if n_starts > 1:
            heading = f"experts by their weight in the mean of {n_starts} mixtures"
        lines = [super().to_text(limit, called, columns=columns), heading]
        for expert in ranked[:_EXPERTS_SHOWN]:
            name = _named("expert", expert, n_starts)
            told = _strongest(expert.contributions, facts)
            lines += wrapped(
                f"{name}: {shown_name(self.target)} with probability "
                f"{expert.probability:.3f}{told}",
                f"  {expert.weight / n_starts:8.3f}  ",
                width=columns,
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
            lines += wrapped(
                f"{name} to {child}{told}", f"  {weight:8.3f}  ", width=columns
            )
        return "\n".join(lines)


def _named(what: str, opinion: GateOpinion | ExpertOpinion, n_starts: int) -> str:
    """Name of a gate or expert, with its mixture where there are several."""
    name = f"{what} {path_name(opinion.path)}"
    return name if n_starts == 1 else f"{name} of mixture {opinion.start + 1}"


def _strongest(contributions: Sequence[float], facts: list[str]) -> str:
    """The facts that contribute most, for the end of a line."""
    order = sorted(range(len(facts)), key=lambda i: -abs(contributions[i]))
    told = [
        f"{facts[i]} {contributions[i]:+.3f}"
        for i in order[:_FEATURES_SHOWN]
        if contributions[i]
    ]
    return f"; {', '.join(told)}" if told else ""


@dataclass(frozen=True, eq=False, repr=False)
class HierarchicalMixtureModel(ClassModel):
    """Mean of several hierarchical mixtures of naive Bayes classifiers.

    A mixture is a tree: each gate is a naive Bayes classifier that weighs its children,
    each leaf an expert, a naive Bayes classifier of the class. Node i of level l is
    child number ``i % architecture[l - 1]`` of gate ``i // architecture[l - 1]`` of the
    level above. `architecture` is the number of children of the gates by level, from
    the root on; `starts` are each mixture's gates by level, then its experts. `prior`
    (n_classes,) replaces that of training.

    Wiering (2003), Hierarchical mixtures of naive Bayes classifiers, Utrecht
    University, UU-CS-2003-003, section 3.1.
    """

    domain: Domain
    architecture: tuple[int, ...]
    starts: tuple[Banks, ...]
    prior: Floats | None = None

    _TABLES_ARE = (
        "has a table in each gate and expert, none of its own; explain a row to see "
        "what they say"
    )

    def __post_init__(self) -> None:
        if not all(width >= 1 for width in self.architecture):
            raise ValueError("the architecture should hold integers from 1 on")
        if not self.starts:
            raise ValueError("a mixture needs at least one start")
        if self.prior is not None:
            check_shape(self.prior, self.domain.cards[-1:], "the class prior")

    def check_content(self) -> None:
        """Raise ValueError unless priors, gates and experts hold distributions.

        Tables may sum to less than one: where a feature's shares are of all rows,
        those without a value count as well.
        """
        if self.prior is not None:
            check_distributions(self.prior, "the class prior")
        for banks in self.starts:
            if len(banks) != len(self.architecture) + 1:
                raise ValueError(
                    f"a start should have {len(self.architecture) + 1} levels"
                )
            for level, bank in enumerate(banks):
                self._check_bank(bank, level)

    def _check_bank(self, bank: NaiveBayesBank, level: int) -> None:
        """Raise ValueError unless a bank has its place in the architecture."""
        *cards, n_classes = self.domain.cards
        outputs = (*self.architecture, n_classes)
        shape = math.prod(outputs[:level]), outputs[level]
        what = f"that the architecture asks for at level {level}"
        check_shape(bank.log_prior, shape, f"the priors {what}")
        check_shape(bank.log_table, (sum(cards), *shape), f"the tables {what}")
        if not np.array_equal(bank.offsets, np.cumsum([0, *cards])):
            raise ValueError(f"the features at level {level} begin elsewhere")
        what = f"level {level} of the mixture"
        for logs in (bank.log_prior, bank.log_table):
            if not np.isfinite(logs).all() or (logs > SUM_TOLERANCE).any():
                raise ValueError(f"{what} holds something that is no log probability")
        check_distributions(np.exp(bank.log_prior), f"the priors of {what}")
        for first, last in itertools.pairwise(bank.offsets):
            sums = np.exp(bank.log_table[first:last]).sum(axis=0)
            if (sums > 1.0 + SUM_TOLERANCE).any():
                raise ValueError(f"{what} holds probabilities that sum to more than 1")

    @property
    def _parts(self) -> str:
        """What the model is made of beside its arcs."""
        experts = counted(self.n_experts, "expert")
        return f"{counted(len(self.starts), 'mixture')} of {experts}"

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of all gates and experts."""
        return sum(bank.n_parameters for banks in self.starts for bank in banks)

    @property
    def n_experts(self) -> int:
        """Number of experts of each mixture."""
        return int(np.prod(self.architecture))

    @cached_property
    def _learned_prior(self) -> Floats:
        """Probability of each class by learning, before any feature is known."""
        n_features = len(self.domain) - 1
        unknown = [np.array([card]) for card in self.domain.cards[:-1]]
        empty = Codes.from_columns(unknown, self.domain.cards[:n_features])
        return np.asarray(np.exp(mixture_log_posteriors(self.starts, empty)[0]))

    @property
    def class_prior(self) -> Floats:
        """Prior probability of each class, shape (n_classes,).

        That of a row of which nothing is known, since gates and experts have priors of
        their own.
        """
        return self._learned_prior if self.prior is None else self.prior

    @cached_property
    def _shift(self) -> Floats:
        """What another prior than that of training adds to log posteriors, nats."""
        if self.prior is None:
            return np.zeros(self.domain.cards[-1])
        return log_of(self.prior) - log_of(self._learned_prior)

    @cached_property
    def feature_marginals(self) -> list[Floats]:
        """Mean over the experts of P(state), shape (n_states,)."""
        experts = [banks[-1] for banks in self.starts]
        found = []
        for feature in range(len(self.domain) - 1):
            first, last = experts[0].offsets[feature : feature + 2]
            joint = [
                np.exp(bank.log_prior[None] + bank.log_table[first:last])
                for bank in experts
            ]
            mean = sum(table.sum(axis=(1, 2)) for table in joint)
            found.append(np.asarray(mean / np.sum(mean)))
        return found

    @property
    def terms(self) -> tuple[Term, ...]:
        """The shift of the prior, and the log of the mean over the mixtures."""
        paths = tuple(tuple(bank_term(bank) for bank in banks) for banks in self.starts)
        return Look.constant(self._shift), LogSum(paths=paths, is_posterior=True)

    def gate_weights(self, codes: Codes) -> Floats:
        """Weight that each mixture's gates give each expert, summing to one.

        Shape (n_starts, n_rows, n_experts).
        """
        weights = [np.exp(log_gate_weights(banks, codes)) for banks in self.starts]
        return np.stack(weights)

    @property
    def _banks(self) -> list[NaiveBayesBank]:
        """All banks, those of the first mixture first, each from the root on."""
        return [bank for banks in self.starts for bank in banks]

    @property
    def table_sizes(self) -> list[TableSize]:
        """For each bank the priors (nodes,), then (features, nodes, outputs)."""
        *cards, _ = self.domain.cards
        mean = round(float(np.mean(cards)))
        found = []
        for bank in self._banks:
            shape = bank.n_nodes, bank.n_outputs
            found += [TableSize(shape[:1], shape[1])]
            found += [TableSize((len(cards), *shape), mean)]
        return found

    def count_rows(self, source: CountSource) -> Iterator[Floats]:
        """Rows that come to each gate and expert, by what is known of them."""
        codes = source.rows()
        features = codes.without_last()
        class_codes = codes.column(codes.n_variables - 1).astype(np.intp)
        known = [~features.missing(feature) for feature in range(features.n_variables)]
        for banks in self.starts:
            gates = log_gate_weights(banks, features)
            shares = expert_shares(banks[-1], gates, features, class_codes)
            shares *= codes.weights[:, None]
            for bank in banks:
                yield shares.reshape(len(class_codes), bank.n_nodes, -1).sum(
                    axis=(0, 2)
                )
                outputs = output_rows(
                    bank, shares, class_codes if bank is banks[-1] else None
                )
                yield np.stack([outputs[rows].sum(axis=0) for rows in known])

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Return the model with drawn tables of all gates and experts."""
        drawn = (
            drawn_bank(
                bank,
                support.strengths(2 * number),
                support.strengths(2 * number + 1),
                rng,
            )
            for number, bank in enumerate(self._banks)
        )
        starts = tuple(tuple(next(drawn) for _ in banks) for banks in self.starts)
        return replace(self, starts=starts)

    def used_cells(self, codes: Codes, support: SupportCounts) -> Iterator[UsedCells]:
        """Tables of the expert that the gates trust most."""
        weights = self.gate_weights(codes)
        n_starts, n_rows, n_experts = weights.shape
        flat = np.moveaxis(weights, 1, 0).reshape(n_rows, -1).argmax(axis=1)
        starts, nodes = np.divmod(flat, n_experts)
        n_banks = len(self.starts[0])
        ends = [2 * n_banks * (start + 1) for start in range(n_starts)]
        tables = np.stack([support.rows[end - 1] for end in ends])
        found = np.moveaxis(tables[starts, :, nodes], 0, 1)

        def expert(_: int, row: int, __: int) -> tuple[Fact, ...]:
            path = node_path(self.architecture, n_banks - 1, int(nodes[row]))
            return (("expert", path_name(path)),)

        return RowFacts(self.domain, codes).of_features(found, expert)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The tree of gates and experts, line by line, for a summary."""
        return tuple(mixture_text(self).splitlines())

    log_likelihood_scope = "class given the features, training rows"

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log posterior (nats), (n_rows, n_classes), the mean over the mixtures.

        A mixture does not model the features, so these are posteriors, not joint
        probabilities; under another class prior than that of training they are not
        normalised. Gates and experts leave missing cells out.
        """
        return mixture_log_posteriors(self.starts, codes) + self._shift

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` exactly.

        The ratio of two sums over experts is split among these by logarithmic-mean
        weights, and each expert's log-odds by its own tables; gates matter through the
        weights alone.
        """
        shares = member_shares(self.starts, codes, target, against)
        prior = self._shift[target] - self._shift[against]
        terms = np.zeros((codes.n_rows, len(self.domain) - 1))
        for start, banks in enumerate(self.starts):
            experts = banks[-1]
            share = shares[start].T
            log_prior = experts.log_prior.T
            prior = prior + (share * (log_prior[target] - log_prior[against])).sum(1)
            odds = experts.terms(codes, target) - experts.terms(codes, against)
            terms += (share * odds).sum(axis=2).T
        return prior, terms

    def detailed(
        self,
        codes: Codes,
        explanations: Sequence[Explanation],
        target: NDArray[np.intp],
        against: NDArray[np.intp],
    ) -> Sequence[Explanation]:
        """Add what gates and experts contribute to each row's explanation."""
        gates = [
            opinions
            for start, banks in enumerate(self.starts)
            for level, bank in enumerate(banks[:-1])
            for opinions in _gate_opinions(self, bank, codes, (start, level))
        ]
        experts = _expert_opinions(self, codes, target, against)
        return [
            MixtureExplanation(
                **base_fields(explanation),
                gates=tuple(opinions[row] for opinions in gates),
                experts=tuple(opinions[row] for opinions in experts),
            )
            for row, explanation in enumerate(explanations)
        ]


def _gate_opinions(
    model: HierarchicalMixtureModel,
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
    model: HierarchicalMixtureModel,
    codes: Codes,
    target: NDArray[np.intp],
    against: NDArray[np.intp],
) -> list[list[ExpertOpinion]]:
    """By expert, what it says of each row."""
    rows = np.arange(codes.n_rows)
    weights = model.gate_weights(codes)
    shares = member_shares(model.starts, codes, target, against)
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


def mixture_text(model: HierarchicalMixtureModel) -> str:
    """Write the tree: each gate with the attributes that decide it, each expert.

    An attribute decides a gate by the mutual information (nats) between it and the
    child under the gate's own distributions. The number before a child is its weight
    in a row of which nothing is known.
    """
    lines = []
    for start, banks in enumerate(model.starts[:_MIXTURES_SHOWN]):
        if len(model.starts) > 1:
            lines.append(f"mixture {start + 1} of {len(model.starts)}")
        nodes = list(_lines(model, banks, 0, 0, 1.0))
        lines += nodes[:_LINES_SHOWN]
        if hidden := len(nodes[_LINES_SHOWN:]):
            lines.append(f"and {hidden} more lines on gates and experts")
    return "\n".join(lines)


def deciding_attributes(bank: NaiveBayesBank, node: int) -> Floats:
    """Mutual information (nats) of each feature and one classifier's output.

    Shape (n_features,), under the classifier's own distributions.
    """
    prior = np.exp(bank.log_prior[node])
    found = np.empty(bank.n_features)
    for feature in range(bank.n_features):
        joint = _table(bank, node, feature) * prior
        # Values are no distribution where rows that miss them count as well.
        joint /= joint.sum()
        apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        seen = joint > 0
        found[feature] = np.sum(joint[seen] * np.log(joint[seen] / apart[seen]))
    return found


def _table(bank: NaiveBayesBank, node: int, feature: int) -> Floats:
    """P(state | output) of one feature, shape (n_states, n_outputs)."""
    first, last = bank.offsets[feature : feature + 2]
    return np.asarray(np.exp(bank.log_table[first:last, node]))


def _lines(
    model: HierarchicalMixtureModel, banks: Banks, level: int, node: int, weight: float
) -> Iterator[str]:
    """A node's line and those below it, indented by depth."""
    bank, path = banks[level], node_path(model.architecture, level, node)
    indent = "  " * level
    shares = np.exp(bank.log_prior[node])
    if level == len(banks) - 1:
        variable = model.domain[len(model.domain) - 1]
        classes = [f"{variable.label(c)} {share:.2f}" for c, share in enumerate(shares)]
        names = [shown_name(model.domain[f].name) for f in _deciding(bank, node)]
        by = f", by {name_list(names)}" if names else ""
        name = f"expert {path_name(path)}"
        yield f"{indent}{weight:.2f} {name}: {name_list(classes)}{by}"
        return
    yield f"{indent}{weight:.2f} gate {path_name(path)}"
    for line in _division(model.domain, bank, node, path):
        yield f"{indent}     by {line}"
    for child, share in enumerate(shares):
        below = node * bank.n_outputs + child
        yield from _lines(model, banks, level + 1, below, weight * float(share))


def _deciding(bank: NaiveBayesBank, node: int) -> list[int]:
    """The attributes that decide most of a node's output, the strongest first."""
    information = deciding_attributes(bank, node)
    order = np.argsort(-information, kind="stable")[:_ATTRIBUTES_SHOWN].tolist()
    return [f for f in order if information[f] >= _LEAST_INFORMATION]


def _division(
    domain: Domain, bank: NaiveBayesBank, node: int, path: tuple[int, ...]
) -> Iterator[str]:
    """The attributes that decide a gate, and which states lean to which child."""
    for feature in _deciding(bank, node):
        variable = domain[feature]
        table = _table(bank, node, feature)
        leaning = np.argmax(table / table.sum(axis=0), axis=1)
        by_child = [
            [variable.label(int(s)) for s in np.flatnonzero(leaning == child)]
            for child in range(bank.n_outputs)
        ]
        parts = [
            f"{name_list(labels, limit=_STATES_SHOWN)} to {path_name((*path, child))}"
            for child, labels in enumerate(by_child, 1)
            if labels
        ]
        yield f"{shown_name(variable.name)}: {'; '.join(parts)}"
