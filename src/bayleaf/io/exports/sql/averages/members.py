"""The networks of an average in which one or two features are parents of all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.models.support.shipped import ShippedNetworks
from bayleaf.wording import quoted

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Members:
    """Every network with every joint state of its super-parents, a place each.

    Parameters
    ----------
    parents : ndarray of shape (n_networks, 2)
        The super-parents of each network, the first -1 where there is only one.
    networks : ndarray of shape (n_places,)
        Network of each place.
    states : ndarray of shape (n_places, 2)
        States of the super-parents.
    usable : ndarray of shape (n_places,)
        Whether rows with these states use the network.
    log_prior : ndarray of shape (n_classes,)
        Of the class, nats.
    first : ndarray of shape (n_places, n_classes)
        Of the first super-parent's state, nats.
    joint : ndarray of shape (n_places, n_classes)
        Of both super-parents' states, nats.
    tables : list of ndarray of shape (n_places, n_states, n_classes)
        Of each feature given the super-parents, nats; zero for these themselves.
    fallback : list of ndarray of shape (n_states, n_classes), optional
        Of each feature given the class alone, which rows use that have no network.
    """

    parents: NDArray[np.int64]
    networks: NDArray[np.int64]
    states: NDArray[np.int64]
    usable: NDArray[np.int64]
    log_prior: Floats
    first: Floats
    joint: Floats
    tables: list[Floats]
    fallback: list[Floats] | None = None

    @property
    def n_networks(self) -> int:
        """Number of networks."""
        return len(self.parents)

    @property
    def n_places(self) -> int:
        """Number of places."""
        return len(self.networks)


def one_parent(values: Mapping[str, Any], cards: Sequence[int]) -> Members:
    """The networks of AODE."""
    starts = np.cumsum([0, *cards])
    spans = [slice(a, b) for a, b in pairwise(starts)]
    with np.errstate(divide="ignore"):
        prior, parent, child = (
            np.log(np.asarray(values[key])) for key in ("prior", "parent", "child")
        )
    own = np.repeat(np.arange(len(cards)), cards)
    tables = []
    for feature, span in enumerate(spans):
        table = np.moveaxis(child[:, :, span], 0, -1).copy()
        table[own == feature] = 0.0
        tables.append(table)
    n_places = len(own)
    states = np.concatenate([np.arange(card) for card in cards])
    return Members(
        np.stack([np.full(len(cards), -1), np.arange(len(cards))], axis=1),
        own,
        np.stack([np.zeros(n_places, np.int64), states], axis=1),
        np.asarray(values["usable"]),
        prior,
        np.zeros((n_places, len(prior))),
        parent.T,
        tables,
        [parent[:, span].T for span in spans],
    )


def two_parents(shipped: ShippedNetworks) -> Members:
    """The networks of A2DE.

    Raises
    ------
    ValueError
        If a network is none in which at most two features are parents of others.
    """
    cards = shipped.networks[0].domain.cards
    label = len(cards) - 1
    found: dict[str, list[Any]] = {k: [] for k in ("pairs", "net", "states", "a", "b")}
    tables: list[list[Floats]] = [[] for _ in range(label)]
    with np.errstate(divide="ignore"):
        prior = np.log(shipped.networks[0].cpds[label].probabilities)
    for number, network in enumerate(shipped.networks):
        pair = _super_parents(network)
        found["pairs"].append(pair)
        known = [v for v in pair if v >= 0]
        places = list(product(*(range(cards[v]) for v in known)))
        found["net"] += [number] * len(places)
        found["states"] += [(0,) * (2 - len(known)) + place for place in places]
        logs = [_by_parents(network, v, known) for v in range(label)]
        first = logs[pair[0]] if pair[0] >= 0 else None
        last = logs[pair[1]]
        for place in places:
            at = dict(zip(known, place, strict=True))
            a = np.zeros(len(prior)) if first is None else first[place][at[pair[0]]]
            found["a"].append(a)
            found["b"].append(a + last[place][at[pair[1]]])
            for v in range(label):
                own = np.zeros_like(logs[v][place]) if v in known else logs[v][place]
                tables[v].append(own)
    return Members(
        np.array(found["pairs"]),
        np.array(found["net"]),
        np.array(found["states"]),
        np.ones(len(found["net"]), dtype=np.int64),
        prior,
        np.array(found["a"]),
        np.array(found["b"]),
        [np.array(own) for own in tables],
    )


def _super_parents(network: Any) -> tuple[int, int]:
    """The features that are parents, the first -1 if there is but one."""
    label = len(network.domain) - 1
    parents = [sorted(p for p in own if p != label) for own in network.dag.parents[:-1]]
    inner = sorted({p for own in parents for p in own})
    # The second is a child of the first.
    inner.sort(key=lambda v: len(parents[v]))
    if not inner:
        inner = [0]
    fits = len(inner) <= 2 and all(set(own) <= set(inner) for own in parents)
    if not fits or not all(label in own for own in network.dag.parents[:-1]):
        name = quoted(network.domain[label].name)
        raise ValueError(
            f"an average of networks for {name} is written as SQL only where at most "
            "two features of each are parents"
        )
    return (-1, inner[0]) if len(inner) == 1 else (inner[0], inner[1])


def _by_parents(network: Any, variable: int, known: list[int]) -> Floats:
    """Nats of a variable, shape (*states of super-parents, n_states, n_classes)."""
    cpd = network.cpds[variable]
    cards, label = network.domain.cards, len(network.domain) - 1
    logs = cpd.log_probabilities()
    axes = [*(v for v in known if v != variable), variable, label]
    missing = [v for v in axes if v not in cpd.family]
    logs = logs.reshape(*logs.shape, *(1 for _ in missing))
    order = [*cpd.family, *missing]
    logs = np.transpose(logs, [order.index(v) for v in axes])
    logs = np.broadcast_to(logs, [cards[v] for v in axes])
    if variable in known:
        # Every place has the same distribution along the variable's own state.
        place = known.index(variable)
        logs = np.expand_dims(logs, place)
        shape = [cards[v] for v in known] + [cards[variable], cards[label]]
        logs = np.broadcast_to(logs, shape)
    return np.asarray(logs)
