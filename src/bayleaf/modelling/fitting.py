"""Networks of a given graph: tables counted, or by expectation maximisation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds.distribution import CPD, DeterministicCPD, TableCPD
from bayleaf.cpds.given_tables import spread_experience
from bayleaf.cpds.smoothing import (
    MaximumLikelihood,
    Smoothing,
    added_rows,
    dirichlet_rows,
    resolve_smoothing,
)
from bayleaf.data.domain import Domain
from bayleaf.data.fitted_hierarchies import resolve_hierarchies
from bayleaf.data.partial_values import Rows, available_codes
from bayleaf.data.random_state import random_generator
from bayleaf.graph.dag import DAG
from bayleaf.inference.states import position_of
from bayleaf.latent.network_parameters import (
    fitted_distribution,
    learn_parameters,
    with_random_tables,
)
from bayleaf.modelling.fitted_columns import FittedColumns, Reading, fit_columns
from bayleaf.models.bayesian_network import BayesianNetwork, NetworkStructure
from bayleaf.models.network_structure import Name
from bayleaf.wording import name_list, quoted

Table = NDArray[np.float64]
MISSING = ("marginalize", "em", "state", "drop", "error")
UNKNOWN = ("error", "missing")


def fit_structure(
    structure: NetworkStructure,
    table: Any,
    *,
    states: Mapping[Name, Any] | None,
    discretizer: Any,
    categorical_features: Collection[Name] | None,
    hierarchies: Any,
    missing: str,
    unknown: str,
    sample_weight: Any,
    latent: Any,
    prior: BayesianNetwork | None,
    **options: Any,
) -> BayesianNetwork:
    """A network of a structure; see `NetworkStructure.fit`."""
    _check_choices(missing, unknown)
    if prior is not None:
        structure = _with_states_of(structure, prior)
    if states is not None:
        structure = structure.with_states(states)
    unseen = [name for name in structure.latents if not _has_column(table, name)]
    structure, hidden = _with_latent(structure, latent, missing, unseen)
    if categorical_features is not None:
        for name in categorical_features:
            position_of(structure.names, name, "categorical_features names")
    chosen: Any = unknown
    trees = resolve_hierarchies(hierarchies, structure.names)
    reading = Reading(missing, chosen, discretizer, categorical_features, trees)
    columns = fit_columns(
        structure.names, structure.variables, hidden, table, sample_weight, reading
    )
    everything = range(len(structure))
    network = _fitted(
        None, columns, structure.dag, everything, hidden, missing, prior, options
    )
    return _with_latents(network, structure.latents)


def fit_network(
    network: BayesianNetwork,
    table: Any,
    *,
    learn: Any,
    keep: Any,
    missing: str,
    unknown: str,
    sample_weight: Any,
    latent: Any,
    prior: BayesianNetwork | None,
    **options: Any,
) -> BayesianNetwork:
    """A network with other tables; see `BayesianNetwork.fit`."""
    _check_choices(missing, unknown)
    learned = _learned(network, learn, keep)
    structure = NetworkStructure.from_edges(network)
    needed = {n for node in learned for n in network.dag.families[node]}
    unused = [n for i, n in enumerate(network.domain.names) if i not in needed]
    unseen = [n for n in structure.latents if not _has_column(table, n)]
    unseen = [n for n in unseen if n not in unused]
    structure, hidden = _with_latent(structure, latent, missing, unseen)
    chosen: Any = unknown
    reading = Reading(missing, chosen)
    columns = fit_columns(
        network.domain.names,
        network.domain.variables,
        [*hidden, *(n for n in unused if not _has_column(table, n))],
        table,
        sample_weight,
        reading,
        sorted(needed),
    )
    fitted = _fitted(
        network, columns, network.dag, learned, hidden, missing, prior, options
    )
    return _with_latents(fitted, network.latents)


def _with_latents(
    network: BayesianNetwork, latents: tuple[Name, ...] | None
) -> BayesianNetwork:
    """A fitted network with the latent variables of its graph, and its notes."""
    return replace(network, latents=latents or None).with_notes(network.notes)


def _has_column(table: Any, name: Name) -> bool:
    """Whether a table may have a column of that name; arrays have all of them."""
    from bayleaf.data.tables.frames import column_names

    names = list(table) if isinstance(table, Mapping) else column_names(table)
    return names is None or str(name) in set(map(str, names))


def _fitted(
    network: BayesianNetwork | None,
    columns: FittedColumns,
    dag: DAG,
    learned: Collection[int],
    hidden: Sequence[Name],
    missing: str,
    prior: BayesianNetwork | None,
    options: Mapping[str, Any],
) -> BayesianNetwork:
    """The network of what was read, with what it says of the fit."""
    rest = dict(options)
    smoothing = resolve_smoothing(rest["smoothing"])
    if rest.pop("smoothing") == "maximum_likelihood":
        # The name's floor is for classifiers, which predict every row: networks refuse
        # what is impossible, and expectation maximisation has no floor either.
        smoothing = MaximumLikelihood(floor=0.0)
    strength, domain = rest.pop("strength"), columns.domain
    counts = PriorCounts({}, {})
    if prior is not None:
        counts = PriorCounts.of_network(prior, strength, domain, dag)
    elif strength is not None:
        raise ValueError("strength= says what prior= is worth; give prior= as well")
    if missing == "em":
        latent = [domain.index(name) for name in hidden]
        found, notes = expected_tables(
            network, domain, dag, columns.rows, smoothing, counts, learned, latent, rest
        )
        return found.with_notes([*columns.notes, *notes])
    forms = [None] * len(domain) if network is None else network.cpds
    cpds = counted_tables(
        forms, dag, columns.rows, smoothing, counts, learned, rest["n_jobs"]
    )
    return BayesianNetwork(domain, dag, cpds).with_notes(columns.notes)


def _check_choices(missing: Any, unknown: Any) -> None:
    """Raise unless parameters are among their choices."""
    for name, value, choices in (
        ("missing", missing, MISSING),
        ("unknown", unknown, UNKNOWN),
    ):
        if not isinstance(value, str) or value not in choices:
            allowed = ", ".join(map(repr, choices))
            raise ValueError(f"{name} must be one of {allowed}, got {quoted(value)}")


def _with_states_of(structure: NetworkStructure, prior: Any) -> NetworkStructure:
    """A structure with the states that an expert's network has."""
    if not isinstance(prior, BayesianNetwork):
        raise TypeError(f"prior must be a BayesianNetwork, got {type(prior).__name__}")
    known = set(structure.names)
    given = zip(structure.names, structure.variables, strict=True)
    own = {name for name, variable in given if variable is not None}
    shared = {v.name: v for v in prior.domain if v.name in known - own}
    return structure.with_states(shared)


def _with_latent(
    structure: NetworkStructure, latent: Any, missing: str, unseen: Iterable[Name]
) -> tuple[NetworkStructure, list[Name]]:
    """A structure with the states of latent variables, and their names.

    `unseen` are those of its own latent variables that have no column.
    """
    given = latent if isinstance(latent, Mapping) else {}
    names = [latent] if isinstance(latent, str | int) else list(latent)
    names += [name for name in unseen if name not in names]
    if not names:
        return structure, []
    if missing != "em":
        raise ValueError(
            f"{quoted(names[0])} is latent, which only expectation maximisation "
            "learns; pass missing='em'"
        )
    variables = dict(zip(structure.names, structure.variables, strict=True))
    states: dict[Name, Any] = {}
    for name in names:
        position_of(structure.names, name, "latent names")
        own = given.get(name)
        if isinstance(own, int) and not isinstance(own, bool):
            own = [f"state {number}" for number in range(1, own + 1)]
        if own is not None:
            states[name] = own
        elif variables[name] is None:
            raise ValueError(
                f"how many states has the latent variable {quoted(name)}? Give them, "
                f"such as latent={{{quoted(name)}: 2}}"
            )
    for name in states:
        if variables[name] is not None:
            raise ValueError(
                f"the states of {quoted(name)} are given already; name it alone in "
                "latent="
            )
    return structure.with_states(states), names


def _learned(network: BayesianNetwork, learn: Any, keep: Any) -> list[int]:
    """Nodes whose distributions are learned."""
    kept = network._positions(keep)
    if learn is not None and kept:
        raise ValueError("learn= and keep= were both given; give one of them")
    chosen = range(len(network.domain)) if learn is None else network._positions(learn)
    learned = [
        node
        for node in chosen
        if node not in set(kept)
        and not isinstance(network.cpds[node], DeterministicCPD)
    ]
    if not learned:
        raise ValueError("there is no table to learn; name some in learn=")
    return learned


@dataclass(frozen=True, eq=False)
class PriorCounts:
    """Rows that count as seen before, for the variables of an expert's network."""

    by_node: Mapping[int, Table]  # (parent cards ..., child card), counts
    tables: Mapping[int, Table]  # likewise, the expert's distributions

    @classmethod
    def of_network(
        cls,
        prior: BayesianNetwork,
        strength: float | Mapping[Name, float] | None,
        domain: Domain,
        dag: DAG,
    ) -> PriorCounts:
        """What an expert's network is worth in rows, for a graph over a domain.

        ValueError if a variable has other states or parents there, or no strength, or
        one is not a number of at least 0.
        """
        by_node, tables, families = {}, {}, dag.families
        strengths = _strengths(prior, strength)
        for node, variable in enumerate(domain):
            if variable.name not in prior.domain.names:
                continue
            own = prior.position(variable.name)
            if prior.domain[own].states != variable.states:
                raise ValueError(
                    f"variable {quoted(variable.name)} has other states in prior= than "
                    "in the network; give both the same, in one order"
                )
            table = _matched_table(prior, own, domain, families[node])
            rows = strengths(own)
            if rows is None:
                raise ValueError(
                    f"how many rows is the prior table of {quoted(variable.name)} "
                    "worth? Give strength=, or a prior with experience counts"
                )
            names = [prior.domain.names[p] for p in prior.dag.parents[own]]
            axes = [names.index(domain.names[p]) for p in dag.parents[node]]
            shape = prior.cpds[own].cards[:-1]
            spread = spread_experience(rows, shape, variable.name).transpose(axes)
            tables[node] = table
            by_node[node] = table * spread[..., None]
        return cls(by_node, tables)


def _strengths(
    prior: BayesianNetwork, strength: float | Mapping[Name, float] | None
) -> Any:
    """What gives the rows that a variable's distributions are worth, or None.

    ValueError if a strength is not a finite number of at least 0.
    """
    given = strength.values() if isinstance(strength, Mapping) else [strength]
    for own in given:
        if own is not None and not (isinstance(own, Real) and 0 <= own < np.inf):
            raise ValueError(f"strength must be a number >= 0, got {quoted(own)}")
    if isinstance(strength, Mapping):
        by_node = {
            position_of(prior.domain.names, name, "strength names"): rows
            for name, rows in strength.items()
        }
        return by_node.get

    if strength is not None:
        return lambda _: strength
    return lambda own: getattr(prior.cpds[own], "experience", None)


def _matched_table(
    prior: BayesianNetwork, own: int, domain: Domain, family: Sequence[int]
) -> Table:
    """The expert's table of a variable with its axes in another network's order."""
    names = [prior.domain.names[p] for p in prior.dag.parents[own]]
    wanted = [domain.names[p] for p in family[:-1]]
    child = prior.domain.names[own]
    if set(names) != set(wanted):
        raise ValueError(
            f"variable {quoted(child)} has the parents {name_list(names) or 'none'} in "
            f"prior=, but {name_list(wanted) or 'none'} in the network; give it the "
            "same parents in both"
        )
    for parent in wanted:
        states = prior.domain[prior.position(parent)].states
        if states != domain[domain.index(parent)].states:
            raise ValueError(
                f"variable {quoted(parent)} has other states in prior= than in the "
                "network; give both the same, in one order"
            )
    table = prior.cpds[own].probabilities
    axes = [*(names.index(parent) for parent in wanted), len(names)]
    return np.ascontiguousarray(table.transpose(axes))


def counted_tables(
    cpds: Sequence[CPD | None],
    dag: DAG,
    rows: Rows,
    smoothing: Smoothing,
    prior: PriorCounts,
    learned: Collection[int],
    n_jobs: int | None,
) -> tuple[CPD, ...]:
    """Distributions from the rows that have all of a family; tables carry experience.

    `cpds` are those that stay, and the form of those in `learned`; None for tables.
    `prior` is used instead of smoothing for its variables.
    """
    nodes = sorted(learned)
    every = dag.families
    families = [every[node] for node in nodes]
    source = RowCounts(available_codes(rows), n_jobs, has_class=False)
    found = list(cpds)
    for node, counts in zip(nodes, source.family_counts(families), strict=True):
        form = cpds[node]
        if node in prior.by_node:
            pooled = counts + prior.by_node[node]
            totals = pooled.sum(axis=-1, keepdims=True)
            known = np.where(totals > 0, totals, 1.0)
            table = np.where(totals > 0, pooled / known, prior.tables[node])
            found[node] = TableCPD(every[node], table, totals[..., 0])
        elif form is None or isinstance(form, TableCPD):
            found[node] = TableCPD(
                every[node],
                smoothing.estimate(counts),
                counts.sum(axis=-1) + added_rows(smoothing, counts.shape[-1]),
            )
        else:
            found[node] = fitted_distribution(
                form, counts, lambda own, _: smoothing.estimate(own)
            )
    return tuple(cpd for cpd in found if cpd is not None)


def expected_tables(
    network: BayesianNetwork | None,
    domain: Domain,
    dag: DAG,
    rows: Rows,
    smoothing: Smoothing,
    prior: PriorCounts,
    learned: Collection[int],
    latent: Collection[int],
    options: Mapping[str, Any],
) -> tuple[BayesianNetwork, list[str]]:
    """Distributions by expectation maximisation, and notes on how it went.

    `network` is the start and what is not learned; None starts from the prior, at
    random where variables are `latent` (without a column). `options` are those of
    `learn_parameters`, other parameters those of `counted_tables`.
    """
    forms = _prior_tables(network, domain, dag, smoothing, prior, learned)
    seen = BayesianNetwork(domain, dag, _told_what_is_learned(forms, domain, learned))
    generator = random_generator(options["random_state"])
    start = network
    if network is None and latent and options["n_restarts"] is not None:
        start = with_random_tables(seen, latent, generator)
    elif network is not None:
        start = replace(network, domain=domain)
    found = learn_parameters(
        seen, rows, **{**options, "random_state": generator}, start=start
    )
    steps = f"expectation maximisation took {found.n_iter} steps"
    ended = "" if found.converged else " and had not converged; raise max_iter"
    cpds = found.network.cpds
    if network is not None:
        both = zip(network.cpds, cpds, strict=True)
        cpds = tuple(own[node in learned] for node, own in enumerate(both))
    notes = [steps + ended]
    families = [dag.families[node] for node in learned]
    shared = [v for v in sorted(latent) if any(v in family for family in families)]
    if shared:
        names = name_list([domain.names[v] for v in shared])
        notes.append(
            f"tables of the latent {names} and of what it acts on are uncertain "
            "together; their experience counts take them one by one, so intervals "
            "of their probabilities from these counts are too narrow"
        )
    return BayesianNetwork(domain, dag, cpds), notes


def _prior_tables(
    network: BayesianNetwork | None,
    domain: Domain,
    dag: DAG,
    smoothing: Smoothing,
    prior: PriorCounts,
    learned: Collection[int],
) -> list[CPD]:
    """Distributions with the experience that a prior and smoothing give them."""
    rows = dirichlet_rows(smoothing)
    cpds: list[CPD] = []
    for node, family in enumerate(dag.families):
        shape = tuple(domain.cards[member] for member in family)
        form = None if network is None else network.cpds[node]
        if form is not None and (node not in learned or not isinstance(form, TableCPD)):
            # Without experience `learn_parameters` leaves a table as it is.
            is_table = isinstance(form, TableCPD)
            cpds.append(TableCPD(family, form.probabilities) if is_table else form)
            continue
        experience = np.full(shape[:-1], rows(shape[-1]))
        table = np.full(shape, 1 / shape[-1])
        if node in prior.by_node:
            experience = prior.by_node[node].sum(axis=-1)
            table = prior.tables[node]
        cpds.append(TableCPD(family, table, experience))
    return cpds


def _told_what_is_learned(
    cpds: list[CPD], domain: Domain, learned: Collection[int]
) -> tuple[CPD, ...]:
    """Distributions of which `learn_parameters` learns those asked for.

    It learns trees only where no table has experience.
    """
    others = [n for n in learned if not isinstance(cpds[n], TableCPD)]
    if not others:
        return tuple(cpds)
    tables = [cpd for cpd in cpds if isinstance(cpd, TableCPD)]
    no_prior = all(
        cpd.experience is not None and not cpd.experience.any() for cpd in tables
    )
    stay = [
        n
        for n, cpd in enumerate(cpds)
        if n not in learned and not isinstance(cpd, DeterministicCPD)
    ]
    if stay or not no_prior:
        raise ValueError(
            f"variable {quoted(domain[others[0]].name)} has a "
            f"{type(cpds[others[0]]).__name__}, which missing='em' learns with "
            "smoothing='maximum_likelihood' only, together with all others"
        )
    return tuple(
        replace(cpd, experience=None) if isinstance(cpd, TableCPD) else cpd
        for cpd in cpds
    )


__all__ = ["fit_network", "fit_structure"]
