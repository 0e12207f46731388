"""Required and forbidden arcs and tiers as parameters of estimators."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bayleaf.classifiers.shared.monotone import keeps_parents, monotone_features
from bayleaf.classifiers.shared.parameters import DeclaredParameters, no_such_feature
from bayleaf.cpds.random_network import RandomNetwork
from bayleaf.data.domain import Domain
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.search.constraints import Constraints, Edge
from bayleaf.wording import quoted

Name = str | int


class EdgeParameters(DeclaredParameters):
    """Arcs that a learned structure must and must not have, as parameters.

    Stands before `TableEstimator` among the bases of an estimator, whose parameters
    it passes on.

    Parameters
    ----------
    required_edges : sequence of (parent, child), default=()
        Names of columns that an arc joins in this direction.
    forbidden_edges : sequence of (parent, child), default=()
        Names of columns that no arc joins in this direction.
    tiers : sequence of sequence of str or int, default=()
        Groups of columns, the earliest first: no arc leads from a later group to an
        earlier one. Columns that none of them names are free.
    """

    required_edges: Collection[tuple[Name, Name]] = ()
    forbidden_edges: Collection[tuple[Name, Name]] = ()
    tiers: Sequence[Sequence[Name]] = ()

    def _check(self) -> None:
        check_edge_parameters(self)


def check_edge_parameters(estimator: Any) -> None:
    """Raise if edges or tiers are invalid, or contradict each other.

    TypeError if a parameter is not a list of pairs, or of lists, of names; ValueError
    if they contradict each other.
    """
    edges = _edges_of(estimator)
    for name, pairs in edges.items():
        check_edges(name, pairs)
    check_name_lists("tiers", estimator.tiers, ", the earliest first")
    mentioned = [name for pairs in edges.values() for pair in pairs for name in pair]
    mentioned += [name for tier in estimator.tiers for name in tier]
    names = list(dict.fromkeys(mentioned))
    # Before anything is read of the table, by the names alone.
    edge_constraints(estimator, names).check_names(names)


def edge_constraints(estimator: Any, names: Sequence[Name], **more: Any) -> Constraints:
    """An estimator's constraints over the variables of these names.

    `more` are other fields of `Constraints`. ValueError if an edge or a tier contains a
    name that is not a variable's.
    """
    encoder = getattr(estimator, "encoder_", None)
    edges = {
        name: named_edges(name, pairs, names, encoder)
        for name, pairs in _edges_of(estimator).items()
    }
    return Constraints(
        edges.get("required_edges", frozenset()),
        edges["forbidden_edges"],
        tiers=tuple(
            named_places("tiers", tier, names, encoder) for tier in estimator.tiers
        ),
        **more,
    )


def rooted_constraints(estimator: Any, domain: Domain) -> Constraints:
    """The constraints on arcs among features, of a model with the class at its root.

    The class is the last variable. ValueError for an unknown name in an edge or a tier,
    or an arc of the class that no such model has.
    """
    constraints = edge_constraints(estimator, domain.names)
    class_index = len(domain) - 1
    named = quoted(domain[class_index].name)
    remedy = (
        f"in this model the class {named} is a parent of every feature; take it out, "
        "or use BayesianNetworkClassifier"
    )
    for parent, child in sorted(constraints.required_edges):
        if child == class_index:
            raise ValueError(
                f"required_edges asks for an arc from {quoted(domain[parent].name)} to "
                f"the class, but {remedy}"
            )
    if any(class_index in tier for tier in constraints.tiers[1:]):
        raise ValueError(f"tiers puts features before the class, but {remedy}")
    for parent, child in sorted(constraints.forbidden_edges):
        if parent == class_index:
            raise ValueError(
                f"forbidden_edges excludes the arc from the class to "
                f"{quoted(domain[child].name)}, but {remedy}"
            )
    monotone = {own.feature for own in monotone_features(estimator, domain)}
    constraints = constraints.among(range(class_index))
    return _kept_apart(constraints, monotone, domain, keeps_parents(estimator))


def _kept_apart(
    constraints: Constraints, monotone: set[int], domain: Domain, with_parents: bool
) -> Constraints:
    """The constraints, and monotone features without children, or without arcs."""
    for parent, child in sorted(constraints.required_edges):
        arc = f"from {quoted(domain[parent].name)} to {quoted(domain[child].name)}"
        if parent in monotone:
            raise ValueError(
                f"required_edges asks for an arc {arc}, but a feature that monotone "
                "names has no children; take it out of one of them"
            )
        if child in monotone and not with_parents:
            raise ValueError(
                f"required_edges asks for an arc {arc}, but a feature that monotone "
                "names depends on the class alone, except in TAN and KDB with "
                "missing='error' and unknown='error'"
            )
    features = range(len(domain) - 1)
    closed = {(own, other) for own in monotone for other in features if own != other}
    if not with_parents:
        closed |= {(other, own) for own, other in closed}
    forbidden = constraints.forbidden_edges | closed
    return replace(constraints, forbidden_edges=forbidden)


def check_most_required(
    constraints: Constraints, names: Sequence[Name], most: int, limit: str
) -> None:
    """Raise if required edges give a feature more parents than the model has.

    `most` counts features among the parents; `limit` is its reason, such as "k=1".
    """
    for child, parents in enumerate(constraints.required_parents(len(names))):
        if len(parents) > most:
            raise ValueError(
                f"the required edges give feature {quoted(names[child])} "
                f"{len(parents)} parents among the features, more than {limit}"
            )


def check_counted(
    constraints: Constraints, networks: Iterable[RandomNetwork], names: Sequence[Name]
) -> None:
    """Raise if a required parent was left out of a network as it has many states."""
    required = constraints.required_parents(len(names))
    for network in networks:
        for child, parents in enumerate(required):
            if parents and not set(parents) <= set(network.counts.variables(child)):
                raise ValueError(
                    f"feature {quoted(names[child])} and its required parents have too "
                    "many states together to be counted; require fewer of them, or "
                    "use coarser columns"
                )


def check_same_kind(
    constraints: Constraints, numbers: Sequence[int], names: Sequence[Name]
) -> None:
    """Raise if a required edge joins a number with a nominal feature."""
    inside = frozenset(numbers)
    for parent, child in sorted(constraints.required_edges):
        if (parent in inside) != (child in inside):
            raise ValueError(
                f"required_edges asks for an arc from {quoted(names[parent])} to "
                f"{quoted(names[child])}, but numeric='gaussian' joins no number with "
                "a nominal feature; use numeric='discretize'"
            )


def edge_remarks(estimator: Any) -> list[str]:
    """What a summary says of an estimator's constraints, a line each."""
    found = [
        f"{name.replace('_', ' ')}: " + ", ".join(f"{a} -> {b}" for a, b in pairs)
        for name, pairs in _edges_of(estimator).items()
        if pairs
    ]
    tiers = getattr(estimator, "tiers", ())
    if len(tiers):
        texts = [", ".join(map(str, tier)) for tier in tiers]
        found.append("tiers, the earliest first: " + "; ".join(texts))
    beliefs = getattr(estimator, "arc_prior", None)
    if beliefs:
        texts = [f"{a} -> {b} {p:g}" for (a, b), p in beliefs.items()]
        found.append("prior probabilities of arcs: " + ", ".join(texts))
    return found


def named_edges(
    parameter: str,
    edges: Collection[tuple[Name, Name]],
    names: Sequence[Name],
    encoder: TableEncoder | None = None,
) -> frozenset[Edge]:
    """Edges between indices from edges between names.

    ValueError names the parameter if there is no such name, and why the encoder left
    its column out.
    """
    found = [named_places(parameter, edge, names, encoder) for edge in edges]
    return frozenset((parent, child) for parent, child in found)


def named_places(
    parameter: str,
    wanted: Iterable[Name],
    names: Sequence[Name],
    encoder: TableEncoder | None = None,
) -> tuple[int, ...]:
    """Indices of names; see `named_edges`."""
    index = {name: i for i, name in enumerate(names)}
    wanted = tuple(wanted)
    for name in wanted:
        if name not in index:
            raise no_such_feature(parameter, name, names, encoder)
    return tuple(index[name] for name in wanted)


def check_edges(name: str, edges: Any, form: str = "(parent, child) pairs") -> None:
    """Raise unless a parameter is a collection of pairs."""
    refusal = f"{name} must be a list of {form} of names, got {quoted(edges)}"
    # What can be iterated over only once would be empty at its next use.
    if isinstance(edges, str | Mapping) or not isinstance(edges, Collection):
        raise TypeError(refusal)
    for edge in edges:
        if not isinstance(edge, tuple | list) or len(edge) != 2 or not _are_names(edge):
            raise TypeError(refusal)


def check_name_lists(parameter: str, lists: Any, order: str = "") -> None:
    """Raise unless a parameter is a list of lists of names."""
    refusal = (
        f"{parameter} must be a list of lists of names{order}, got {quoted(lists)}"
    )
    if not isinstance(lists, tuple | list):
        raise TypeError(refusal)
    for names in lists:
        if not isinstance(names, tuple | list) or not _are_names(names):
            raise TypeError(refusal)


def _edges_of(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator that list edges."""
    names = ("required_edges", "forbidden_edges")
    return {n: getattr(estimator, n) for n in names if hasattr(estimator, n)}


def _are_names(values: Iterable[Any]) -> bool:
    """Whether values can be the names of columns."""
    return all(isinstance(value, Hashable) for value in values)
