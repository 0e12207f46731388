"""Networks whose graph is given, fitted to tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bayleaf.cpds.distribution import DeterministicCPD
from bayleaf.cpds.smoothing import resolve_smoothing
from bayleaf.data.domain import Variable
from bayleaf.data.fitted_hierarchies import resolve_hierarchies
from bayleaf.graph.dag import DAG
from bayleaf.inference.states import position_of
from bayleaf.modelling.fitted_columns import FittedColumns, Reading, fit_columns
from bayleaf.modelling.fitted_tables import (
    PriorCounts,
    counted_tables,
    expected_tables,
)
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.network_structure import Name, NetworkStructure
from bayleaf.wording import quoted

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
        structure.names,
        structure.variables,
        hidden,
        table,
        sample_weight,
        reading,
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
    smoothing = resolve_smoothing(rest.pop("smoothing"))
    strength, domain = rest.pop("strength"), columns.domain
    counts = PriorCounts.none()
    if prior is not None:
        counts = PriorCounts.of_network(prior, strength, domain, dag)
    elif strength is not None:
        raise ValueError("strength= says what prior= is worth; give prior= as well")
    if missing == "em":
        latent = [domain.index(name) for name in hidden]
        found, notes = expected_tables(
            network,
            domain,
            dag,
            columns.rows,
            smoothing,
            counts,
            learned,
            latent,
            rest,
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
    known: dict[Name, Variable | None] = variables
    same = all(known[n] is None for n in states)
    if not same:
        twice = next(n for n in states if known[n] is not None)
        raise ValueError(
            f"the states of {quoted(twice)} are given already; name it alone in latent="
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


__all__ = ["fit_network", "fit_structure"]
