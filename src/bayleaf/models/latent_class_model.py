"""A mixture of products within each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.cpds.dirichlet import drawn_distributions
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.given_tables import check_distributions, check_shape
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.inference.factors import Factor, FusedTables
from bayleaf.inference.log_sums import log_of, log_sum_exp
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel, LogScores, sum_out
from bayleaf.models.explanation import Explanation, base_fields, wrapped
from bayleaf.models.support.support_counts import (
    Fact,
    RowFacts,
    SupportCounts,
    TableSize,
    UsedCells,
)
from bayleaf.scoring.terms import Term
from bayleaf.wording import counted, quoted, shown_name, stated

Floats = NDArray[np.float64]

# Log joints of components and classes that are computed together.
_BLOCK_CELLS = 1 << 22
# Components of a class that are written.
_SHOWN = 4
# Components are written until they hold this share of their class.
_SHARE_SHOWN = 0.9
# Lines that are written, and states of each component.
_LINES_SHOWN = 40
_STATES_SHOWN = 3


@dataclass(frozen=True, eq=False, repr=False)
class LatentClassModel(ClassModel):
    """P(component) P(class | component) times P(feature | class, component).

    The tables of the features depend on both class and component, so that every class
    is a mixture of its own: component 1 of one class has nothing to do with component 1
    of another. The model therefore keeps P(class) and P(component | class). ValueError
    if the tables do not fit the domain or each other.
    """

    domain: Domain  # features, then the class
    prior: Floats  # (n_classes,)
    weights: Floats  # (n_classes, n_components)
    tables: tuple[Floats, ...]  # (n_classes, n_components, card)

    def __post_init__(self) -> None:
        *cards, n_classes = self.domain.cards
        components = np.shape(self.weights)
        if len(components) != 2 or components[0] != n_classes:
            raise ValueError(
                f"weights of shape {components} were given for {n_classes} classes; "
                "give one row of component weights for each"
            )
        if not components[1]:
            raise ValueError("a class needs at least one component")
        check_shape(self.prior, (n_classes,), "the class prior")
        if len(self.tables) != len(cards):
            raise ValueError(
                f"the model has {len(self.tables)} tables for {len(cards)} features"
            )
        shapes = [(*components, card) for card in cards]
        if [np.shape(table) for table in self.tables] != shapes:
            raise ValueError(
                f"the features' tables have shapes "
                f"{[np.shape(table) for table in self.tables]}, but need {shapes}"
            )

    def check_content(self) -> None:
        """Raise ValueError unless every table holds distributions."""
        check_distributions(self.prior, "the class prior")
        check_distributions(self.weights, "the component weights")
        for variable, table in zip(self.domain, self.tables, strict=False):
            check_distributions(table, f"the table of feature {quoted(variable.name)}")

    @property
    def _parts(self) -> str:
        """What the model is made of beside its arcs."""
        return f"{counted(self.weights.shape[1], 'component')} a class"

    @property
    def n_components(self) -> int:
        """Components of each class."""
        return int(self.weights.shape[1])

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        *cards, n_classes = self.domain.cards
        states = sum(max(card - 1, 0) for card in cards)
        per_class = self.n_components - 1 + self.n_components * states
        return n_classes - 1 + n_classes * per_class

    log_likelihood_scope = "training rows, components and missing cells summed out"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a summary tells beside counts and arcs: the components."""
        return component_remarks(self.domain, self.weights, self.tables)

    def class_table(self, feature: int) -> Floats:
        """P(feature | class), components summed out, shape (n_classes, card)."""
        return np.asarray((self.weights[:, :, None] * self.tables[feature]).sum(axis=1))

    @cached_property
    def _log_tables(self) -> list[Floats]:
        """Logarithms of the features' tables with a last state, missing, of zero."""
        return [
            np.pad(log_of(table), [(0, 0), (0, 0), (0, 1)]) for table in self.tables
        ]

    @cached_property
    def _fused(self) -> FusedTables:
        """Weights and tables for look-up, class and component as one."""
        class_index = len(self.domain) - 1
        n_joint = self.weights.size
        joint = log_of(self.prior)[:, None] + log_of(self.weights)
        tables = [
            Factor(feature, (feature,), table[..., :-1].reshape(n_joint, -1))
            for feature, table in enumerate(self._log_tables)
        ]
        prior = Factor(class_index, (), joint.ravel())
        return FusedTables.from_factors([prior, *tables], self.domain.cards)

    def component_log_scores(self, codes: Codes) -> Floats:
        """Log joint probability (nats) of class, component and observed features.

        Shape (n_classes, n_components, n_rows); missing cells are summed out.
        """
        return self._fused.look_up(codes).reshape(*self.weights.shape, codes.n_rows)

    def component_posteriors(self, codes: Codes) -> Floats:
        """P(component | class, observed features), (n_rows, n_classes, n_components).

        A class of prior probability zero is treated as the others are; one under which
        the features are impossible shows nothing of its components.
        """
        even = replace(self, prior=np.full(len(self.prior), 1.0 / len(self.prior)))
        scores = even.component_log_scores(codes)
        totals = log_sum_exp(scores, axis=1)[:, None]
        is_possible = np.isfinite(totals)
        shares = np.exp(scores - np.where(is_possible, totals, 0.0))
        shares = np.where(is_possible, shares, self.weights[:, :, None])
        return np.moveaxis(shares, 2, 0)

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Sum missing cells out exactly; see `ClassModel.class_log_scores`."""
        scores = np.empty((len(self.prior), codes.n_rows))
        block = max(1, _BLOCK_CELLS // self.weights.size)
        for start in range(0, codes.n_rows, block):
            rows = codes.rows(slice(start, start + block))
            joint = self.component_log_scores(rows)
            scores[:, start : start + block] = log_sum_exp(joint, axis=1)
        return scores.T

    def log_evidence(self, codes: Codes) -> Floats:
        """Log probability (nats) of the observed features, shape (n_rows,)."""
        return log_sum_exp(self.class_log_scores(codes), axis=1)

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` by the chain rule.

        A feature's term is what it adds once the features before it are known, which by
        then have shown to which components the row may belong.
        """
        log_prior, log_weights = log_of(self.prior), log_of(self.weights)
        sides = log_weights[target], log_weights[against]
        terms = np.zeros((codes.n_rows, codes.n_variables))
        before = _log_odds(*sides)
        for feature, table in enumerate(self._log_tables):
            states = codes.column(feature).astype(np.intp)
            sides = (
                sides[0] + table[target, :, states],
                sides[1] + table[against, :, states],
            )
            after = _log_odds(*sides)
            # Where a class has become impossible, nothing more can be told.
            told = np.isfinite(before) & ~np.isnan(after)
            terms[told, feature] = after[told] - before[told]
            before = np.where(told, after, before)
        return log_prior[target] - log_prior[against], terms

    def detailed(
        self,
        codes: Codes,
        explanations: Sequence[Explanation],
        target: NDArray[np.intp],
        against: NDArray[np.intp],
    ) -> Sequence[Explanation]:
        """Add to each row's explanation to which components the row belongs."""
        shares = self.component_posteriors(codes)
        return [
            LatentClassExplanation(
                **base_fields(explanation),
                components=tuple(shares[row, target[row]].tolist()),
                against_components=tuple(shares[row, against[row]].tolist()),
            )
            for row, explanation in enumerate(explanations)
        ]

    def table(self, variable: int) -> tuple[Sequence[int], Floats]:
        """P(feature | class), components summed out; the class prior."""
        class_index = len(self.domain) - 1
        if variable == class_index:
            return (), self.prior
        return (class_index,), self.class_table(variable)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The network; features are revealed in their own order."""
        return (sum_out(self.network, range(len(self.network.domain) - 1)),)

    @property
    def table_sizes(self) -> list[TableSize]:
        """The prior, components (classes,), tables (features, classes, components)."""
        *cards, n_classes = self.domain.cards
        mean = round(float(np.mean(cards)))
        return [
            TableSize((), n_classes),
            TableSize((n_classes,), self.n_components),
            TableSize((len(cards), *self.weights.shape), mean),
        ]

    def count_rows(self, source: CountSource) -> Iterator[Floats]:
        """All rows, those of each class, of each component that know a feature."""
        codes, n_classes = source.rows(), len(self.prior)
        class_codes = codes.column(codes.n_variables - 1).astype(np.intp)
        features = codes.without_last()
        shares = self.component_posteriors(features)[
            np.arange(codes.n_rows), class_codes
        ]
        shares *= codes.weights[:, None]
        classes = np.zeros((n_classes, codes.n_rows))
        classes[class_codes, np.arange(codes.n_rows)] = 1.0
        yield np.asarray(codes.weights.sum())
        yield np.bincount(class_codes, codes.weights, n_classes).astype(np.float64)
        known = [~features.missing(feature) for feature in range(features.n_variables)]
        yield np.stack([(classes * rows) @ shares for rows in known])

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Return the model with drawn component weights and tables."""
        by_feature = support.strengths(2)
        return replace(
            self,
            prior=support.drawn_prior(self.prior, 0, rng),
            weights=drawn_distributions(self.weights, support.strengths(1), rng),
            tables=tuple(
                drawn_distributions(table, by_feature[feature], rng)
                for feature, table in enumerate(self.tables)
            ),
        )

    def used_cells(self, codes: Codes, support: SupportCounts) -> Iterator[UsedCells]:
        """Tables of each class's most probable component."""
        likely = np.argmax(self.component_posteriors(codes), axis=2)
        found = support.rows[2][:, np.arange(len(self.prior)), likely]

        def component(_: int, row: int, chosen: int) -> tuple[Fact, ...]:
            return (("component", str(int(likely[row, chosen]) + 1)),)

        return RowFacts(self.domain, codes).of_features(found, component)

    @cached_property
    def network(self) -> BayesianNetwork:
        """The model as a Bayesian network: component -> class, both -> features.

        Features in the model's order, then the component and the class; with a single
        component the network is naive Bayes and has no such variable.
        """
        if self.n_components == 1:
            return _naive_bayes_network(self)
        return _component_network(self)


def component_name(domain: Domain) -> str:
    """Name of the latent variable in the network, unlike any variable's."""
    name, taken = "component", {str(name) for name in domain.names}
    while name in taken:
        name = f"latent {name}"
    return name


def _naive_bayes_network(model: LatentClassModel) -> BayesianNetwork:
    """The network of a model with one component."""
    class_index = len(model.domain) - 1
    tables = [
        TableCPD((class_index, feature), table[:, 0])
        for feature, table in enumerate(model.tables)
    ]
    return _network(model.domain, (*tables, TableCPD((class_index,), model.prior)))


def _component_network(model: LatentClassModel) -> BayesianNetwork:
    """The network with a variable for the component."""
    *features, class_variable = model.domain.variables
    latent, class_index = len(features), len(features) + 1
    joint = model.prior[:, None] * model.weights
    shares = joint.sum(axis=0)
    classes = np.full(joint.shape, 1.0 / len(joint))
    np.divide(joint, shares, out=classes, where=shares > 0)
    tables = [
        TableCPD((class_index, latent, feature), table)
        for feature, table in enumerate(model.tables)
    ]
    states = tuple(str(number) for number in range(1, model.n_components + 1))
    component = Variable(component_name(model.domain), states)
    return _network(
        Domain((*features, component, class_variable)),
        (
            *tables,
            TableCPD((latent,), shares / shares.sum()),
            TableCPD((latent, class_index), classes.T),
        ),
    )


def _network(domain: Domain, cpds: tuple[TableCPD, ...]) -> BayesianNetwork:
    """The network of some tables."""
    return BayesianNetwork(domain, DAG(tuple(cpd.parents for cpd in cpds)), cpds)


def _log_odds(for_target: Floats, for_against: Floats) -> Floats:
    """Log of the ratio of two sums over components, given by their logarithms.

    Shapes (n_rows, n_components) to (n_rows,); not a number where both sums are zero.
    """
    with np.errstate(invalid="ignore"):
        return log_sum_exp(for_target, axis=1) - log_sum_exp(for_against, axis=1)


@dataclass(frozen=True, repr=False)
class LatentClassExplanation(Explanation):
    """The log-odds of a class in terms that add up, and the components behind.

    A term takes the features before it as known: what they tell of the components is
    part of it.

    Parameters
    ----------
    components : tuple of float
        P(component | the class explained, row).
    against_components : tuple of float
        The same for the class it is compared with.
    """

    components: tuple[float, ...] = ()
    against_components: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, ready for JSON."""
        return {
            **super().to_dict(),
            "components": list(self.components),
            "against_components": list(self.against_components),
        }

    def to_text(
        self, limit: int = 10, called: str | None = None, *, columns: int = 80
    ) -> str:
        """Write the terms, the largest `limit` in full, and the best components."""
        lines = [super().to_text(limit, called, columns=columns)]
        if len(self.components) > 1:
            lines += _told(self.target, self.components, columns)
            if self.against != self.target:
                lines += _told(self.against, self.against_components, columns)
        return "\n".join(lines)


def _told(label: Any, shares: tuple[float, ...], width: int) -> list[str]:
    """The likeliest components of a class."""
    ranked = sorted(range(len(shares)), key=lambda place: -shares[place])
    parts = [f"{place + 1} with {shares[place]:.3f}" for place in ranked[:_SHOWN]]
    text = f"component if {shown_name(label)}: {', '.join(parts)}"
    return wrapped(text, "  ", width=width)


def component_remarks(
    domain: Domain, weights: Floats, tables: Sequence[Floats]
) -> tuple[str, ...]:
    """One line for each heavy component: its weight and the states that mark it most.

    A state marks a component by how much it adds to the divergence of the component
    from its class, P(state | class, component) ln(P(state | class, component) / P(state
    | class)). `weights` (n_classes, n_components), `tables` (n_classes, n_components,
    card). Empty with a single component.
    """
    n_classes, n_components = weights.shape
    if n_components == 1:
        return ()
    told = []
    for code in range(n_classes):
        class_variable = domain[len(domain) - 1]
        label = stated(class_variable.name, class_variable.label(code))
        own_tables = [table[code] for table in tables]
        before = np.concatenate([[0.0], np.cumsum(weights[code])[:-1]])
        n_shown = int(np.count_nonzero(before < _SHARE_SHOWN))
        for number in range(n_shown):
            marks = _marks(domain, weights[code], own_tables, number)
            told.append(
                f"component {number + 1} of {label}: "
                f"{weights[code, number]:.3f} of its rows"
                + (f"; {', '.join(marks)}" if marks else "")
            )
        if n_shown < n_components:
            told.append(
                f"{n_components - n_shown} more of {label}: "
                f"{weights[code, n_shown:].sum():.3f} of its rows"
            )
    hidden = len(told) - _LINES_SHOWN
    if hidden > 0:
        return (*told[:_LINES_SHOWN], f"and {hidden} more lines on other components")
    return tuple(told)


def _marks(
    domain: Domain, weights: Floats, tables: Sequence[Floats], number: int
) -> list[str]:
    """The states that mark one component of one class, the most telling first."""
    found = []
    for feature, table in enumerate(tables):
        own, overall = table[number], weights @ table
        possible = (own > 0) & (overall > 0)
        gains = np.zeros(len(own))
        gains[possible] = own[possible] * np.log(own[possible] / overall[possible])
        for state in np.flatnonzero(gains > 0):
            fact = stated(domain[feature].name, domain[feature].label(int(state)))
            text = f"{fact} ({own[state]:.2f}, overall {overall[state]:.2f})"
            found.append((-float(gains[state]), feature, text))
    return [text for _, _, text in sorted(found)[:_STATES_SHOWN]]
