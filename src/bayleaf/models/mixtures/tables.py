"""The tables of a tree of naive Bayes gates and experts, and the rows behind them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.cpds.given_tables import SUM_TOLERANCE, check_distributions, check_shape
from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.inference.log_sums import log_sum_exp, logarithmic_mean_weights
from bayleaf.models.class_model import LogScores
from bayleaf.models.model_kind import ModelKind
from bayleaf.models.support.cells import Fact, RowFacts, UsedCells
from bayleaf.models.support.gate_rows import drawn_bank, expert_shares, output_rows
from bayleaf.models.support.support_counts import SupportCounts, TableSize
from bayleaf.scoring.terms import Bank, LogSum, Look, Term
from bayleaf.wording import counted

Floats = NDArray[np.float64]
Banks = tuple[NaiveBayesBank, ...]

# Log posteriors of all mixtures' experts that are held at a time.
_BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class MixtureTables(ModelKind):
    """Base of the hierarchical mixture: its gates and experts and what follows alone.

    For parameters see `HierarchicalMixtureModel`.
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
            raise ValueError("the architecture should hold whole numbers from 1 on")
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
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.prior) - np.log(self._learned_prior))

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """Arcs of the experts, which are naive Bayes: from the class alone."""
        class_index = len(self.domain) - 1
        return [(class_index, feature) for feature in range(class_index)]

    def feature_parents(self, feature: int) -> Sequence[int]:
        """None: experts look at each feature by itself."""
        return ()

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
        paths = tuple(tuple(_bank_of(bank) for bank in banks) for banks in self.starts)
        return Look.constant(self._shift), LogSum(paths=paths, is_posterior=True)

    def gate_weights(self, codes: Codes) -> Floats:
        """Weight that each mixture's gates give each expert, summing to one.

        Shape (n_starts, n_rows, n_experts).
        """
        weights = [np.exp(log_gate_weights(banks, codes)) for banks in self.starts]
        return np.stack(weights)

    # ---- the rows behind the tables

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
        own = codes.column(codes.n_variables - 1).astype(np.intp)
        known = [~features.missing(feature) for feature in range(features.n_variables)]
        for banks in self.starts:
            gates = log_gate_weights(banks, features)
            shares = expert_shares(banks[-1], gates, features, own)
            shares *= codes.weights[:, None]
            for bank in banks:
                yield shares.reshape(len(own), bank.n_nodes, -1).sum(axis=(0, 2))
                outputs = output_rows(bank, shares, own if bank is banks[-1] else None)
                yield np.stack([outputs[rows].sum(axis=0) for rows in known])

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Return the model with drawn tables of all gates and experts."""
        drawn = iter(
            [
                drawn_bank(
                    bank,
                    support.strengths(2 * number),
                    support.strengths(2 * number + 1),
                    rng,
                )
                for number, bank in enumerate(self._banks)
            ]
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

    def with_class_prior(self, class_prior: Floats) -> Self:
        """Return the same model under another class prior, shape (n_classes,)."""
        return replace(self, prior=np.asarray(class_prior, dtype=np.float64))


def _bank_of(bank: NaiveBayesBank) -> Bank:
    """A bank as terms hold it."""
    spans = itertools.pairwise(bank.offsets.tolist())
    tables = [bank.log_table[start:end] for start, end in spans]
    looks = [
        Look.of_states(feature, len(table), table.reshape(len(table), -1))
        for feature, table in enumerate(tables)
    ]
    return Bank(bank.log_prior, tuple(looks))


def log_gate_weights(banks: Banks, codes: Codes) -> Floats:
    """Log weights (n_rows, n_experts) that one mixture's gates give its experts."""
    weights = np.zeros((codes.n_rows, 1))
    for bank in banks[:-1]:
        shares = weights[:, :, None] + bank.log_posteriors(codes)
        weights = shares.reshape(codes.n_rows, -1)
    return weights


def mixture_log_posteriors(starts: tuple[Banks, ...], codes: Codes) -> LogScores:
    """Log of the mean of the mixtures' posteriors, shape (n_rows, n_classes), nats."""
    n_members = sum(banks[-1].log_prior.size for banks in starts)
    found = np.empty((codes.n_rows, starts[0][-1].n_outputs))
    step = max(1, _BLOCK_CELLS // n_members)
    for first in range(0, codes.n_rows, step):
        rows = slice(first, first + step)
        found[rows] = log_sum_exp(_log_members(starts, codes.rows(rows)), axis=0)
    return np.asarray(found - np.log(len(starts)))


def _log_members(starts: tuple[Banks, ...], codes: Codes) -> Floats:
    """Log of gate weight times expert's posterior, for all mixtures' experts.

    Shape (n_starts * n_experts, n_rows, n_classes).
    """
    members = [
        log_gate_weights(banks, codes)[:, :, None] + banks[-1].log_posteriors(codes)
        for banks in starts
    ]
    return np.moveaxis(np.concatenate(members, axis=1), 1, 0)


def member_shares(
    model: MixtureTables,
    codes: Codes,
    target: NDArray[np.intp],
    against: NDArray[np.intp],
) -> Floats:
    """What each expert's log-odds are multiplied by so that they add up exactly.

    Shape (n_starts, n_experts, n_rows).
    """
    rows = np.arange(codes.n_rows)
    members = _log_members(model.starts, codes)
    shares = logarithmic_mean_weights(
        members[:, rows, target], members[:, rows, against]
    )
    return shares.reshape(len(model.starts), -1, codes.n_rows)


def node_path(architecture: tuple[int, ...], level: int, node: int) -> tuple[int, ...]:
    """Children, numbered from 1, on the way from the root to a node of a level."""
    path = []
    for width in reversed(architecture[:level]):
        node, child = divmod(node, width)
        path.append(child + 1)
    return tuple(reversed(path))


def path_name(path: tuple[int, ...]) -> str:
    """A node's name, such as 1.2 for child 2 of child 1 of the root."""
    return ".".join(map(str, path)) or "root"
