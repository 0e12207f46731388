"""What an outcome would be if a treatment were set, in a network and in drawn ones."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.dirichlet import log_dirichlet
from bayleaf.cpds.distribution import CPD, TableCPD
from bayleaf.cpds.given_tables import checked_table
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.random_state import random_generator
from bayleaf.data.state_numbers import mean_numbers
from bayleaf.data.tables.array_columns import is_missing_cell
from bayleaf.graph.adjustment import Adjustment
from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import ancestors
from bayleaf.inference.causal_graph import Formula, given_formula, identified
from bayleaf.inference.events.events import Known, named_states, read_single
from bayleaf.inference.evidence import Evidence, ImpossibleEvidenceError
from bayleaf.inference.exact_query import Query
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.family_decomposition import full_table
from bayleaf.inference.interventions.causal_effect import CausalEffect
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.queries import Inference
from bayleaf.inference.states import (
    check_integer,
    find_variable,
    indicator,
    known_state,
)
from bayleaf.inference.table_algebra import (
    Table,
    aligned,
    eliminated,
    elimination_order,
)
from bayleaf.typing import EvidenceLike
from bayleaf.wording import name_list, quoted, stated

Floats = NDArray[np.float64]
# Cells that are held at a time, in all drawn versions together.
_BLOCK_CELLS = 1 << 22
# A distribution that rests on no row is drawn as one of its states, by their
# probabilities: as unsure as its mean allows. That is the limit of small experience.
_LEAST_EXPERIENCE = 1e-9


def read_settings(domain: Domain, settings: Any) -> dict[int, Floats]:
    """Distributions that variables are set to.

    Each is a state; a number for cut points; probabilities by state, 0 where left out,
    or in the order of states. ValueError if a name does not exist or comes twice, or
    probabilities are invalid; TypeError if `settings` is not a mapping.
    """
    settings = named_states(domain, settings)
    if not isinstance(settings, Mapping):
        raise TypeError(
            "interventions must be a mapping from names of variables to what they are "
            f"set to, got {type(settings).__name__}"
        )
    found: dict[int, Floats] = {}
    for name, value in settings.items():
        position = find_variable(domain, name)
        if position in found:
            raise ValueError(f"variable {quoted(name)} is set twice; set it once")
        found[position] = _distribution(domain[position], value)
    return found


def _distribution(variable: Variable, value: Any) -> Floats:
    """The probabilities that one variable is set to."""
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiub":
        return checked_table(value, (variable.n_states,), variable.name)
    if isinstance(value, Mapping):
        weights: list[Any] = [0.0] * variable.n_states
        seen: set[int] = set()
        for state, weight in value.items():
            code = known_state(variable, state)
            if code in seen:
                raise ValueError(
                    f"the intervention on variable {quoted(variable.name)} weighs "
                    f"state {variable.label(code)} twice; give it one probability"
                )
            seen.add(code)
            weights[code] = weight
        return checked_table(weights, (variable.n_states,), variable.name)
    is_several = isinstance(value, list | tuple | set | frozenset)
    is_open = not is_several and is_missing_cell(value)
    if (is_several or is_open) and value not in variable.states:
        raise ValueError(
            f"variable {quoted(variable.name)} cannot be set to {quoted(value)}; give "
            "one state, or a mapping from states to probabilities"
        )
    return indicator(variable.n_states, known_state(variable, value))


def intervened(
    network: Factorisation, distributions: Mapping[int, Floats]
) -> tuple[DAG, tuple[CPD, ...]]:
    """The graph without arcs into variables that are set, and its distributions."""
    parents, cpds = list(network.dag.parents), list(network.cpds)
    for node, distribution in distributions.items():
        parents[node] = ()
        cpds[node] = TableCPD((node,), distribution)
    return DAG(tuple(parents)), tuple(cpds)


class NoSupportError(ValueError):
    """A state of the treatment that does not occur where the formula needs it.

    `cell` is the state of the treatment, then of each covariate.
    """

    def __init__(self, cell: tuple[int, ...]) -> None:
        super().__init__("a treatment does not occur among some covariates")
        self.cell = cell


def back_door(joint: Floats, asked: list[int]) -> Floats:
    """P(outcome | do(treatment)) as the sum over z of P(y | x, z) P(z).

    `joint` (n_treatments, *cards of covariates, n_outcomes), on any scale -> (n_asked,
    n_outcomes) (Pearl 2009, theorem 3.3.2). NoSupportError if covariates occur that
    never occur with a treatment.
    """
    n_treatments, *cards, n_outcomes = joint.shape
    cells = joint.reshape(n_treatments, -1, n_outcomes)
    pairs = cells.sum(axis=-1)
    weights = pairs.sum(axis=0) / pairs.sum()
    _check_support(pairs, weights > 0, asked, cards)
    occurs = weights > 0
    means = [
        weights[occurs] @ (cells[x, occurs] / pairs[x, occurs, None]) for x in asked
    ]
    return np.array(means)


def front_door(joint: Floats, asked: list[int]) -> Floats:
    """P(outcome | do(treatment)) through mediators.

    `joint` (n_treatments, *cards of mediators, n_outcomes), on any scale -> (n_asked,
    n_outcomes), the sum over z of P(z | x) times the sum over x' of P(y | x', z) P(x')
    (Pearl 2009, theorem 3.3.4). NoSupportError if a treatment never occurs, or
    mediators occur under one that never do under another.
    """
    n_treatments, *cards, n_outcomes = joint.shape
    cells = joint.reshape(n_treatments, -1, n_outcomes)
    pairs = cells.sum(axis=-1)
    prior = pairs.sum(axis=1) / pairs.sum()
    for x in asked:
        if prior[x] == 0:
            raise NoSupportError((x,))
    reached = (pairs[asked] > 0).any(axis=0)
    _check_support(pairs, reached, np.flatnonzero(prior).tolist(), cards)
    safe = np.where(pairs > 0, pairs, 1.0)
    outcomes = np.einsum("x,xzy->zy", prior, cells / safe[:, :, None])
    shares = pairs[asked] / pairs[asked].sum(axis=1, keepdims=True)
    return np.asarray(shares @ outcomes)


def _check_support(
    pairs: Floats, needed: NDArray[np.bool_], treatments: list[int], cards: list[int]
) -> None:
    """Raise NoSupportError unless treatments occur with all that is needed."""
    for x in treatments:
        absent = np.flatnonzero((pairs[x] == 0) & needed)
        if len(absent):
            cell = np.unravel_index(int(absent[0]), cards) if cards else ()
            raise NoSupportError((x, *map(int, cell)))


@dataclass(frozen=True)
class Effect:
    """The effect in question, read from names."""

    treatment: int
    outcome: int
    codes: tuple[int, ...]  # states of the treatment, the reference first
    events: tuple[int | None, ...]  # outcome states, None for its expected value


@dataclass(frozen=True)
class Uncertainty:
    """How credible intervals are made."""

    level: float | None  # None for no intervals
    n_draws: int  # of the tables
    random_state: Any

    def __post_init__(self) -> None:
        is_number = isinstance(self.level, numbers.Real)
        if self.level is not None and not (is_number and 0 < self.level < 1):
            raise ValueError(
                f"credible must lie between 0 and 1, or be None for no intervals; got "
                f"{quoted(self.level)}"
            )
        check_integer("n_draws", self.n_draws, 2)


def read_effect(
    network: Factorisation,
    treatment: Any,
    outcome: Any,
    values: Iterable[Any] | None,
    outcome_state: Any,
) -> Effect:
    """An effect by its variables and states.

    ValueError if a variable or state does not exist, both variables are the same, or
    fewer than two different states are compared.
    """
    domain = network.domain
    x, y = find_variable(domain, treatment), find_variable(domain, outcome)
    if x == y:
        raise ValueError(
            f"treatment and outcome are both {quoted(domain[x].name)}; name two "
            "different variables"
        )
    if values is None:
        codes = list(range(domain[x].n_states))
    elif isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(
            f"values must be several states of the treatment, got {quoted(values)}"
        )
    else:
        codes = [known_state(domain[x], value) for value in values]
    if len(codes) < 2 or len(set(codes)) < len(codes):
        raise ValueError(
            f"an effect compares two or more different states of treatment "
            f"{quoted(domain[x].name)}; name them by values="
        )
    events: tuple[int | None, ...] = tuple(range(domain[y].n_states))
    if outcome_state is not None:
        events = (known_state(domain[y], outcome_state),)
    elif len(events) == 2:
        events = events[-1:]
    elif _has_mean(network, y):
        events = (None,)
    return Effect(x, y, tuple(codes), events)


def _has_mean(network: Factorisation, node: int) -> bool:
    """Whether the states of a variable are numbers, or hold known ones."""
    variable = network.domain[node]
    try:
        mean_numbers(variable, np.full(variable.n_states, 1.0 / variable.n_states))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class EffectQuestion:
    """An effect in a network, what is given and latent, and how it is measured.

    ValueError if the ends of the effect are given or latent, or what is given is
    latent.
    """

    trees: NetworkTrees
    effect: Effect
    given: EvidenceLike | None
    latent: Sequence[int]
    adjust_for: Sequence[int] | None
    uncertainty: Uncertainty

    def __post_init__(self) -> None:
        names = self.network.domain.names
        ends = {self.effect.treatment: "treatment", self.effect.outcome: "outcome"}
        for node, role in ends.items():
            for listed, what in ((self._told, "given"), (self.latent, "latent")):
                if node in listed:
                    raise ValueError(
                        f"{quoted(names[node])} is the {role} and cannot be {what} as "
                        "well"
                    )
        both = sorted(set(self._told) & set(self.latent))
        if both:
            raise ValueError(f"{quoted(names[both[0]])} is latent and cannot be given")

    @property
    def network(self) -> Factorisation:
        """The network before anything is set."""
        return self.trees.network

    @cached_property
    def _known(self) -> Evidence:
        return read_single(self.network.domain, self.given)

    @cached_property
    def _told(self) -> list[int]:
        """Variables that are given."""
        return [item.variable for item in self._known.items]

    @cached_property
    def _cut(self) -> Factorisation:
        """The network whose treatment has no parents and even chances."""
        card = self.network.domain[self.effect.treatment].n_states
        even = {self.effect.treatment: np.full(card, 1.0 / card)}
        return Factorisation(self.network.domain, *intervened(self.network, even))

    def measured(self) -> CausalEffect:
        """Interventional distributions and what they rest on; see `Interventions`."""
        formula = self._formula()
        if formula.kind in ("cut", "none"):
            probabilities = self._cut_probabilities()
        else:
            probabilities = self._averaged(formula)
        drawn, notes = self._drawn()
        domain, effect = self.network.domain, self.effect
        return CausalEffect(
            domain[effect.treatment],
            domain[effect.outcome],
            effect.codes,
            effect.events,
            probabilities,
            drawn,
            float(self.uncertainty.level or 0.0),
            formula.text(domain.names, [domain.names[v] for v in self._told]),
            ", ".join(item.text for item in self._known.items),
            tuple(notes),
        )

    def _formula(self) -> Formula:
        """By which formula the effect is computed."""
        if self.adjust_for is None and not self.latent:
            return Formula("cut")
        task = Adjustment(
            self.network.dag,
            frozenset({self.effect.treatment}),
            frozenset({self.effect.outcome}),
            frozenset(self.latent),
            frozenset(self._told),
        )
        names = self.network.domain.names
        if self.adjust_for is not None:
            return given_formula(names, task, task.required.union(self.adjust_for))
        return identified(names, task, self.network.domain.cards)

    def _cut_probabilities(self) -> Floats:
        """P(outcome | treatment, given) where the treatment has no parents."""
        inference = Inference(self._cut, max_table_cells=self.trees.max_table_cells)
        domain = self.network.domain
        treatment, outcome = domain[self.effect.treatment], self.effect.outcome
        listed: list[Any] = [] if self.given is None else [self.given]
        if isinstance(self.given, list | tuple):
            listed = list(self.given)
        rows = []
        for code in self.effect.codes:
            state = {treatment.name: indicator(treatment.n_states, code)}
            evidence = [*listed, state]
            answer = inference.query(evidence, [domain.names[outcome]])
            rows.append(answer[domain.names[outcome]].probabilities)
        return np.array(rows)

    def _observed_joint(self, covariates: Sequence[int]) -> Floats:
        """P(treatment, covariates, outcome | given)."""
        variables = (self.effect.treatment, *covariates, self.effect.outcome)
        try:
            return Query(self.trees, Known(self._known), variables).joint()[0]
        except ImpossibleEvidenceError:
            raise
        except ValueError as error:
            names = self.network.domain.names
            listed = name_list([names[v] for v in covariates])
            raise ValueError(f"adjusting for {listed}: {error}") from error

    def _averaged(self, formula: Formula) -> Floats:
        """The average of an adjustment formula, or why it is not defined."""
        covariates = [v for v in formula.covariates if v not in self._known.hard]
        joint = self._observed_joint(covariates)
        average = back_door if formula.kind == "backdoor" else front_door
        try:
            return average(joint, list(self.effect.codes))
        except NoSupportError as error:
            nodes = [self.effect.treatment, *covariates]
            variables = [self.network.domain[v] for v in nodes]
            treatment, *others = [
                stated(variable.name, variable.label(code))
                for variable, code in zip(variables, error.cell, strict=False)
            ]
            among = f" among {', '.join(others)}" if others else ""
            raise ValueError(
                f"{treatment} never occurs{among}, so adjustment cannot tell its "
                "effect; compare other states, or adjust for other variables"
            ) from None

    def _drawn(self) -> tuple[Floats | None, list[str]]:
        """Drawn distributions, or None, and what a reader should know of them.

        Every identifying formula gives what the cut network gives, draw by draw.
        """
        if self.uncertainty.level is None:
            return None, []
        cut, families = self._cut, self._cut.dag.families
        # What is known of whole families leaves nothing to be drawn.
        relevant = [v for v in self._nodes if cut_scope(families[v], self._known.hard)]
        fixed = [v for v in relevant if _experience(cut, v) is None]
        if len(fixed) == len(relevant):
            return None, [
                "No credible intervals, as the tables do not say how many rows they "
                "rest on: fit the network to data, or give it with_experience(...)."
            ]
        drawn = self._drawn_distributions()
        possible = np.isfinite(drawn).all(axis=(1, 2))
        if possible.sum() < 2:
            return None, ["No credible intervals, as what is given rests on no row."]
        tables = {v: cut.cpds[v].probabilities for v in fixed}
        fixed = [v for v in fixed if not np.isin(tables[v], (0.0, 1.0)).all()]
        notes = []
        if fixed:
            listed = name_list([cut.domain.names[v] for v in fixed])
            notes.append(f"The intervals take the distributions of {listed} as known.")
        return drawn[possible][:, list(self.effect.codes)], notes

    @cached_property
    def _nodes(self) -> list[int]:
        """Variables that bear on the outcome once the treatment is set."""
        ends = [self.effect.outcome, *self._told]
        return sorted(ancestors(self._cut.dag, ends) - {self.effect.treatment})

    def _drawn_distributions(self) -> Floats:
        """P(outcome | do(treatment), given), (n_draws, n_treatments, n_outcomes)."""
        cut, limit = self._cut, self.trees.max_table_cells
        families = [cut.dag.families[node] for node in self._nodes]
        scopes = [frozenset(cut_scope(f, self._known.hard)) for f in families]
        kept = self.effect.treatment, self.effect.outcome
        others = frozenset().union(*scopes).difference(kept)
        order, cells = elimination_order(scopes, others, cut.domain.cards)
        cells = max(cells, prod(cut.domain.cards[v] for v in kept))
        if cells > limit:
            raise ValueError(
                "credible intervals need a table of more than max_table_cells="
                f"{limit} cells; compile the network with a larger limit, or ask with "
                "credible=None"
            )
        sizes = [cut.cpds[v].probabilities.size for v in self._nodes]
        # Blocks by size alone, so that a seed gives the same draws everywhere.
        step = max(1, _BLOCK_CELLS // max([cells, *sizes]))
        n_draws = self.uncertainty.n_draws
        rng = random_generator(self.uncertainty.random_state)
        parts = [
            summed_to(kept, order, self._drawn_tables(min(step, n_draws - done), rng))
            for done in range(0, n_draws, step)
        ]
        joint = np.concatenate(
            [np.broadcast_to(p, (len(p), *p.shape[1:])) for p in parts]
        )
        return np.asarray(joint / joint.sum(axis=-1, keepdims=True))

    def _drawn_tables(self, n_draws: int, rng: np.random.Generator) -> list[Table]:
        """The tables of some draws, and evidence."""
        cut, treatment = self._cut, self.effect.treatment
        even = np.ones((n_draws, cut.domain.cards[treatment]))
        tables: list[Table] = [((treatment,), even)]
        for node in self._nodes:
            table = full_table(cut.cpds[node])[None]
            experience = _experience(cut, node)
            if experience is not None:
                strengths = np.maximum(experience, _LEAST_EXPERIENCE)
                table = np.exp(log_dirichlet(table[0], strengths, n_draws, rng))
            family = cut.dag.families[node]
            tables.append(cut_table(family, table, self._known.hard))
        # Given variables whose state stays open.
        tables += [
            ((v,), likelihood[None])
            for v, likelihood in self._known.likelihoods.items()
            if v not in self._known.hard
        ]
        return tables


def summed_to(
    kept: Sequence[int], order: Iterable[int], tables: Iterable[Table]
) -> Floats:
    """The product of tables summed to some variables, (n_versions, *cards of kept).

    Others are summed out in an order. Tables have one version or many along their first
    axis, each on a scale of its own.
    """
    whole: Floats = np.ones((1,) * (len(kept) + 1))
    for variables, values in eliminated(tables, order, np.multiply, _summed, 1):
        whole = whole * aligned(values, variables, kept, 1)
    return whole


def _summed(values: Floats) -> Floats:
    """The sum over the last axis, each version divided by its largest cell.

    Products of many tables would leave the range of numbers.
    """
    summed = values.sum(axis=-1)
    highest = summed.reshape(len(summed), -1).max(axis=1)
    highest[highest == 0] = 1.0
    return np.asarray(summed / highest.reshape(-1, *(1,) * (summed.ndim - 1)))


def cut_scope(family: Sequence[int], hard: Mapping[int, int]) -> tuple[int, ...]:
    """The members of a family whose state is open."""
    return tuple(v for v in family if v not in hard)


def cut_table(family: Sequence[int], values: Floats, hard: Mapping[int, int]) -> Table:
    """A table, one version or many, at the states that are known."""
    index = tuple(hard.get(v, slice(None)) for v in family)
    return cut_scope(family, hard), values[(slice(None), *index)]


def _experience(network: Factorisation, node: int) -> Floats | None:
    """How many rows each distribution of a variable rests on, if that is known."""
    cpd = network.cpds[node]
    return cpd.experience if isinstance(cpd, TableCPD) else None
