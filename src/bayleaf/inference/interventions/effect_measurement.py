"""What an outcome would be if a treatment were set."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.given_tables import checked_table
from bayleaf.cpds.table import TableCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.random_state import random_generator
from bayleaf.data.state_numbers import mean_numbers
from bayleaf.data.tables.cells import is_missing_cell
from bayleaf.graph.adjustment import Adjustment
from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import ancestors
from bayleaf.inference.events.events import read_single
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.interventions.causal_effect import CausalEffect
from bayleaf.inference.interventions.drawn_effects import DrawnNetworks, joint_table
from bayleaf.inference.interventions.identification import (
    Formula,
    given_formula,
    identified,
)
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.queries import Inference, KnownOf
from bayleaf.inference.states import find_variable, known_state
from bayleaf.wording import name_list, quoted, stated

Floats = NDArray[np.float64]


def read_settings(domain: Domain, settings: Mapping[Any, Any]) -> dict[int, Floats]:
    """Distributions that variables are set to.

    Each is a state; a number for cut points; probabilities by state, 0 where left out,
    or in the order of states. ValueError if a name does not exist or comes twice, or
    probabilities are invalid; TypeError if `settings` is not a mapping.
    """
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
    point = np.zeros(variable.n_states)
    point[known_state(variable, value)] = 1.0
    return point


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
        if not isinstance(self.n_draws, numbers.Integral) or self.n_draws < 2:
            raise ValueError(
                f"n_draws must be an integer of at least 2, got {quoted(self.n_draws)}"
            )


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


def measure_effect(
    network: Factorisation,
    effect: Effect,
    given: KnownOf,
    latent: Sequence[int],
    adjust_for: Sequence[int] | None,
    uncertainty: Uncertainty,
    max_table_cells: int,
) -> CausalEffect:
    """Interventional distributions and what they rest on; see `Interventions`."""
    known = read_single(network.domain, given)
    _check_apart(network, effect, known, latent)
    formula = _formula_for(network, effect, known, latent, adjust_for)
    # The network whose treatment has no parents and even chances.
    card = network.domain[effect.treatment].n_states
    even = {effect.treatment: np.full(card, 1.0 / card)}
    cut = Factorisation(network.domain, *intervened(network, even))
    if formula.kind in ("cut", "none"):
        probabilities = _cut_probabilities(cut, effect, given, max_table_cells)
    else:
        joint = _observed_joint(network, effect, formula, known, max_table_cells)
        probabilities = _averaged(network, effect, formula, known, joint)
    drawn, notes = _drawn(cut, effect, known, uncertainty, max_table_cells)
    names = network.domain.names
    told = [names[item.variable] for item in known.items]
    return CausalEffect(
        network.domain[effect.treatment],
        network.domain[effect.outcome],
        effect.codes,
        effect.events,
        probabilities,
        drawn,
        float(uncertainty.level or 0.0),
        formula.text(names, told),
        ", ".join(item.text for item in known.items),
        tuple(notes),
    )


def _listed(given: KnownOf) -> list[Any]:
    """What is given, piece by piece."""
    if given is None:
        return []
    return [given] if isinstance(given, str | Mapping) else list(given)


def _check_apart(
    network: Factorisation, effect: Effect, known: Evidence, latent: Sequence[int]
) -> None:
    """Raise ValueError if the ends of an effect are given or latent."""
    names = network.domain.names
    ends = {effect.treatment: "treatment", effect.outcome: "outcome"}
    told = {item.variable for item in known.items}
    for node, role in ends.items():
        for listed, what in ((told, "given"), (latent, "latent")):
            if node in listed:
                raise ValueError(
                    f"{quoted(names[node])} is the {role} and cannot be {what} as well"
                )
    both = sorted(told & set(latent))
    if both:
        raise ValueError(f"{quoted(names[both[0]])} is latent and cannot be given")


def _formula_for(
    network: Factorisation,
    effect: Effect,
    known: Evidence,
    latent: Sequence[int],
    adjust_for: Sequence[int] | None,
) -> Formula:
    """By which formula the effect is computed."""
    if adjust_for is None and not latent:
        return Formula("cut")
    told = frozenset(item.variable for item in known.items)
    task = Adjustment(
        network.dag,
        frozenset({effect.treatment}),
        frozenset({effect.outcome}),
        frozenset(latent),
        told,
    )
    names = network.domain.names
    if adjust_for is not None:
        return given_formula(names, task, told.union(adjust_for))
    return identified(names, task, network.domain.cards)


def _cut_probabilities(
    cut: Factorisation, effect: Effect, given: KnownOf, max_table_cells: int
) -> Floats:
    """P(outcome | treatment, given) where the treatment has no parents."""
    inference = Inference(cut, max_table_cells=max_table_cells)
    treatment = cut.domain[effect.treatment]
    outcome = cut.domain.names[effect.outcome]
    rows = []
    for code in effect.codes:
        likelihood = np.zeros(treatment.n_states)
        likelihood[code] = 1.0
        evidence = [*_listed(given), {treatment.name: likelihood}]
        rows.append(inference.query(evidence, [outcome])[outcome].probabilities)
    return np.array(rows)


def _observed_joint(
    network: Factorisation,
    effect: Effect,
    formula: Formula,
    known: Evidence,
    max_table_cells: int,
) -> Floats:
    """P(treatment, covariates, outcome | given) on any scale, known ones left out."""
    hard = known.hard
    open_covariates = [v for v in formula.covariates if v not in hard]
    kept = (effect.treatment, *open_covariates, effect.outcome)
    told = [item.variable for item in known.items]
    nodes = ancestors(network.dag, [*kept, *told])
    soft = {v: own for v, own in known.likelihoods.items() if v not in hard}
    joint = joint_table(network, nodes, kept, hard, soft, max_table_cells)
    if joint is None:
        listed = name_list([network.domain.names[v] for v in open_covariates])
        raise ValueError(
            f"adjusting for {listed} needs a table of more than max_table_cells="
            f"{max_table_cells} cells; compile the network with a larger limit, or "
            "adjust for fewer variables"
        )
    if not joint.sum() > 0:
        raise NetworkTrees(network).impossible(known)
    return joint


def _averaged(
    network: Factorisation,
    effect: Effect,
    formula: Formula,
    known: Evidence,
    joint: Floats,
) -> Floats:
    """The average of an adjustment formula, or why it is not defined."""
    average = back_door if formula.kind == "backdoor" else front_door
    try:
        return average(joint, list(effect.codes))
    except NoSupportError as error:
        open_covariates = [v for v in formula.covariates if v not in known.hard]
        nodes = [effect.treatment, *open_covariates]
        treatment, *others = [
            stated(network.domain[v].name, network.domain[v].label(code))
            for v, code in zip(nodes, error.cell, strict=False)
        ]
        among = f" among {', '.join(others)}" if others else ""
        raise ValueError(
            f"{treatment} never occurs{among}, so adjustment cannot tell its effect; "
            "compare other states, or adjust for other variables"
        ) from None


def _drawn(
    cut: Factorisation,
    effect: Effect,
    known: Evidence,
    uncertainty: Uncertainty,
    max_table_cells: int,
) -> tuple[Floats | None, list[str]]:
    """Drawn distributions, or None, and what a reader should know of them.

    Every identifying formula gives what the cut network gives, draw by draw.
    """
    if uncertainty.level is None:
        return None, []
    told = [item.variable for item in known.items]
    matter = ancestors(cut.dag, [effect.outcome, *told]) - {effect.treatment}
    hard = known.hard
    soft = {v: own for v, own in known.likelihoods.items() if v not in hard}
    networks = DrawnNetworks(
        cut, tuple(sorted(matter)), effect.treatment, effect.outcome, hard, soft
    )
    if not networks.experienced:
        return None, [
            "No credible intervals, as the tables do not say how many rows they rest "
            "on: fit the network to data, or give it with_experience(...)."
        ]
    rng = random_generator(uncertainty.random_state)
    drawn = networks.draw(uncertainty.n_draws, max_table_cells, rng)
    if drawn is None:
        raise ValueError(
            "credible intervals need a table of more than max_table_cells="
            f"{max_table_cells} cells; compile the network with a larger limit, or ask "
            "with credible=None"
        )
    possible = np.isfinite(drawn).all(axis=(1, 2))
    if possible.sum() < 2:
        return None, ["No credible intervals, as what is given rests on no row."]
    notes = []
    if networks.fixed:
        listed = name_list([cut.domain.names[v] for v in networks.fixed])
        notes.append(f"The intervals take the distributions of {listed} as known.")
    return drawn[possible][:, list(effect.codes)], notes
