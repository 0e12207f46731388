"""The averaged KDB model as plain values, and back with every check.

A file keeps counts, not tables: the occupied cells of each family, from which the
tables are made again.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import MAX_CELLS, OccupiedFamilies, padded
from bayleaf.cpds.nested import NestedFamilies, radices_of
from bayleaf.cpds.random_network import RandomNetwork
from bayleaf.cpds.smoothing import Dirichlet, Lidstone, MEstimate, Smoothing
from bayleaf.data.domain import Domain
from bayleaf.io.distributions import check_distributions
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.averaged_kdb import AveragedKDBModel

Maps = tuple[NDArray[np.uint16], ...]

# Larger numbers could overflow once they are added up or multiplied.
_MOST = 1e100

_RULES: dict[str, type[Any]] = {
    "lidstone": Lidstone,
    "dirichlet": Dirichlet,
    "m_estimate": MEstimate,
}


def averaged_kdb_to(model: AveragedKDBModel, arrays: ArrayWriter) -> dict[str, Any]:
    """The model as plain values; its counts go to `arrays`."""
    return {
        "prior": arrays.add(model.prior),
        "base": arrays.add(model.base),
        "max_parents": model.weights.shape[1] - 1,
        "weights": arrays.add(model.weights),
        "smoothing": _rule_to(model.smoothing),
        "state_counts": [arrays.add(counts) for counts in model.state_counts],
        "networks": [_network_to(network, arrays) for network in model.networks],
    }


def averaged_kdb_from(
    fields: Fields, domain: Domain, arrays: ArrayReader
) -> AveragedKDBModel:
    """The model from plain values.

    Raises
    ------
    ModelFileError
        If something in it is no part of such a model.
    """
    *cards, n_classes = domain.cards
    depths = _whole(fields.values.get("max_parents"), "max_parents", 65_535) + 1
    weights = arrays.get(
        fields.values.get("weights"), (len(cards), depths), "the weights of evidence"
    )
    if (weights < 0).any() or (weights > _MOST).any():
        raise ModelFileError("the weights of evidence hold a negative or huge number")
    prior = arrays.get(fields.values.get("prior"), (n_classes,), "the class prior")
    check_distributions(prior, "the class prior")
    counted = fields.list("state_counts")
    networks = fields.list("networks")
    if len(counted) != len(cards) or not networks:
        raise ModelFileError(
            f"the model has {len(counted)} lists of counts for {len(cards)} features "
            f"and {len(networks)} networks"
        )
    return AveragedKDBModel(
        domain,
        prior,
        tuple(_network_from(value, domain, arrays) for value in networks),
        _rule_from(fields.object("smoothing")),
        arrays.get(fields.values.get("base"), (n_classes,), "the base scores"),
        weights,
        tuple(
            arrays.get(value, (card,), "the counts of a feature's states")
            for value, card in zip(counted, cards, strict=True)
        ),
    )


def _rule_to(rule: Smoothing) -> dict[str, Any]:
    """A smoothing rule by name and strength."""
    name = next(n for n, kind in _RULES.items() if isinstance(rule, kind))
    return {"rule": name, "strength": float(next(iter(vars(rule).values())))}


def _rule_from(fields: Fields) -> Smoothing:
    """A smoothing rule from name and strength."""
    strength = fields.number("strength")
    if not 0 < strength <= _MOST:
        raise ModelFileError("the strength of the smoothing rule is out of range")
    rule: Smoothing = _RULES[fields.choice("rule", tuple(_RULES))](strength)
    return rule


def _network_to(network: RandomNetwork, arrays: ArrayWriter) -> dict[str, Any]:
    """One network: its codings, parents and counts, feature after feature."""
    families = network.families
    return {
        "maps": [arrays.add(values) for values in network.maps],
        "parents": [list(family.variables[1:]) for family in families],
        "n_cells": [len(family.counts.weights) for family in families],
        "states": arrays.add(
            np.concatenate([family.counts.states.ravel() for family in families])
        ),
        "classes": arrays.add(
            np.concatenate([family.counts.classes for family in families])
        ),
        "cell_weights": arrays.add(
            np.concatenate([family.counts.weights for family in families])
        ),
    }


def _network_from(value: Any, domain: Domain, arrays: ArrayReader) -> RandomNetwork:
    """One network from plain values."""
    fields = Fields(value, "a network of the model")
    n_features = len(domain) - 1
    lists = [fields.list(key) for key in ("maps", "parents", "n_cells")]
    if any(len(entries) != n_features for entries in lists):
        raise ModelFileError(f"a network should list {n_features} features throughout")
    maps = tuple(
        _map_from(entry, domain, feature, arrays)
        for feature, entry in enumerate(lists[0])
    )
    families = [
        _variables(feature, parents, maps) for feature, parents in enumerate(lists[1])
    ]
    sizes = [_whole(size, "n_cells", 1 << 40) for size in lists[2]]
    total = sum(sizes)
    n_states = sum(size * len(f) for size, f in zip(sizes, families, strict=True))
    states = arrays.get_codes(fields.values.get("states"), (n_states,), "the states")
    classes = arrays.get_codes(fields.values.get("classes"), (total,), "the classes")
    weights = arrays.get(
        fields.values.get("cell_weights"), (total,), "the cell weights"
    )
    if (weights <= 0).any() or (classes >= domain.cards[-1]).any():
        raise ModelFileError("a network has a cell without weight or of no class")
    if (weights > _MOST).any():
        raise ModelFileError("a network has a cell of a weight too large to count with")
    places = padded(families)
    cell_states = np.zeros((places.shape[1], total), dtype=np.uint16)
    starts, place = np.cumsum([0, *sizes], dtype=np.int64), 0
    for first, size, variables in zip(starts, sizes, families, strict=False):
        used = states[place : place + size * len(variables)]
        cell_states[: len(variables), first : first + size] = used.reshape(-1, size)
        place += size * len(variables)
    counts = OccupiedFamilies(places, cell_states, classes, weights, starts)
    network = RandomNetwork(maps, counts)
    for family in network.families:
        _check_family(family)
    return network


def _map_from(
    value: Any, domain: Domain, feature: int, arrays: ArrayReader
) -> NDArray[np.uint16]:
    """The coding of one feature: states without a gap, the reserved code last."""
    what = f"the coding of feature {domain[feature].name!r}"
    values = arrays.get_codes(value, (domain.cards[feature] + 1,), what)
    if not np.array_equal(np.unique(values[:-1]), np.arange(values[-1])):
        raise ModelFileError(f"{what} leaves out a state")
    return values


def _variables(feature: int, parents: Any, maps: Maps) -> tuple[int, ...]:
    """A feature and its parents, once they are distinct features."""
    if not isinstance(parents, list):
        raise ModelFileError("the parents of a feature should be a list")
    known = [_whole(parent, "a parent", len(maps) - 1) for parent in parents]
    variables = (feature, *known)
    if len(set(variables)) != len(variables):
        raise ModelFileError("a feature has a parent twice, or itself as a parent")
    if prod(radices_of([maps[v] for v in variables])) > MAX_CELLS:
        raise ModelFileError("a family has too many joint states")
    return variables


def _check_family(family: NestedFamilies) -> None:
    """Raise unless the cells lie within the states of their variables."""
    limits = np.array(family.radices)[:, None] - 1
    if not family.counts.weights.size or (family.counts.states >= limits).any():
        raise ModelFileError("a network has a family with no cell or a strange state")
    if not family.marginal.all():
        raise ModelFileError("a network has a state that no cell holds")


def _whole(value: Any, what: str, most: int) -> int:
    """A whole number from zero to a limit."""
    if type(value) is not int or not 0 <= value <= most:
        raise ModelFileError(f"{what} should be a whole number from 0 to {most}")
    return value
