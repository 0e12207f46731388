"""Models that are averages of several networks, as the page computes with them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.nested import pseudo_weights
from bayleaf.cpds.random_network import RandomNetwork
from bayleaf.data.codes import Codes
from bayleaf.explain.row_probability import row_log_probabilities
from bayleaf.explorer.packing import packed, packed_codes
from bayleaf.models.averaged_kdb import AveragedKDBModel
from bayleaf.models.class_model import ClassModel
from bayleaf.models.hierarchical_mixture import HierarchicalMixtureModel
from bayleaf.models.one_dependence import AveragedOneDependenceModel

# Whole numbers beyond this are not exact in JavaScript.
_MOST_CELLS = 1 << 53


def state_log_probabilities(model: ClassModel) -> list[dict[str, Any]]:
    """Log probability of each state of each feature by itself (nats).

    Models without a joint distribution rank changed rows by these alone.
    """
    cards = model.domain.cards[:-1]
    found = []
    for feature, card in enumerate(cards):
        columns = [np.full(card, other) for other in cards]
        columns[feature] = np.arange(card)
        rows = Codes.from_columns(columns, cards)
        found.append(packed(row_log_probabilities(model, rows)))
    return found


def one_dependence_values(model: AveragedOneDependenceModel) -> dict[str, Any]:
    """Tables of an average of one-dependence networks, without missing cells."""
    cards = model.domain.cards[:-1]
    known = np.concatenate(
        [
            offset + np.arange(card)
            for offset, card in zip(model.offsets, cards, strict=True)
        ]
    ).astype(np.intp)
    return {
        "prior": packed(model.prior),
        "parent": packed(model.parent_probabilities[:, known]),
        "child": packed(model.child_probabilities[:, known[:, None], known]),
        "usable": model.usable[known].astype(int).tolist(),
    }


def averaged_values(model: AveragedKDBModel) -> dict[str, Any]:
    """Occupied counts of all networks, as deep as their evidence has any weight."""
    each, together, shared = pseudo_weights(model.smoothing)
    codings = {id(network.maps): network.maps for network in model.networks}
    numbers = {key: number for number, key in enumerate(codings)}
    return {
        "states": state_log_probabilities(model),
        "base": packed(model.base),
        "weights": packed(model.weights),
        "pseudo": [each, together, shared],
        "codings": [
            [packed_codes(states) for states in maps] for maps in codings.values()
        ],
        "networks": [
            {
                "coding": numbers[id(network.maps)],
                "families": [
                    _family(network, feature, weights, model.n_classes)
                    for feature, weights in enumerate(model.weights)
                ],
            }
            for network in model.networks
        ],
    }


def _family(
    network: RandomNetwork,
    feature: int,
    weights: NDArray[np.float64],
    n_classes: int,
) -> dict[str, Any] | None:
    """Counts of one feature, the parents that no weight asks for summed out."""
    depths = np.flatnonzero(weights)
    if not len(depths):
        return None
    variables = network.counts.variables(feature)[: int(depths[-1]) + 1]
    counts = network.counts[feature]
    # The class is the last digit of a cell's number.
    digits = [*counts.states[: len(variables)], counts.classes]
    radices = [int(network.maps[variable][-1]) + 1 for variable in variables]
    radices.append(n_classes)
    if prod(radices) > _MOST_CELLS:
        raise ValueError(
            f"feature number {feature + 1} and its parents have too many joint states "
            "for the explorer; train with a smaller max_parents"
        )
    keys = np.zeros(len(counts.weights), dtype=np.int64)
    for codes, radix in zip(digits, radices, strict=True):
        keys = keys * radix + codes
    distinct, places = np.unique(keys, return_inverse=True)
    totals = np.bincount(places, counts.weights)
    # A row's weight is mostly a whole number, which takes fewer digits.
    whole = bool((totals == np.floor(totals)).all())
    return {
        "variables": list(variables),
        "radices": radices,
        "steps": np.diff(distinct, prepend=0).tolist(),
        "totals": totals.astype(np.int64).tolist() if whole else totals.tolist(),
    }


def mixture_values(model: HierarchicalMixtureModel) -> dict[str, Any]:
    """Tables of all gates and experts, in nats, and the shift of the class prior."""
    shift = np.zeros(model.domain.cards[-1])
    if model.prior is not None:
        learned = HierarchicalMixtureModel(
            model.domain, model.architecture, model.starts
        ).class_prior
        with np.errstate(divide="ignore"):
            shift = np.log(model.prior) - np.log(learned)
    return {
        "states": state_log_probabilities(model),
        "shift": packed(shift),
        "starts": [
            [
                {
                    "prior": packed(bank.log_prior),
                    "table": packed(bank.log_table),
                    "offsets": bank.offsets.tolist(),
                }
                for bank in banks
            ]
            for banks in model.starts
        ],
    }
