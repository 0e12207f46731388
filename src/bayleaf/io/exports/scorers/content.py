"""What a scorer holds of a classifier: plain values that become JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from bayleaf.inference.junction_tree.small_product import small_product
from bayleaf.io.exports.cells import FeatureCells, feature_cells
from bayleaf.io.exports.characters import equal_pair
from bayleaf.io.exports.shipped.networks import compiled_network, product_content
from bayleaf.io.exports.shipped.packing import digits_of, packed, packed_values
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.shipped import ShippedAverage, ShippedNetworks
from bayleaf.wording import quoted, stated

Content = dict[str, Any]

# Cells of the cliques for whose sake families of trees are taken apart.
_MOST_CELLS = 5_000_000


def scorer_content(predictor: Predictor, *, with_cliques: bool) -> Content:
    """All that a scorer needs of a classifier.

    Parameters
    ----------
    predictor : Predictor
        The classifier.
    with_cliques : bool
        Whether networks come with their junction trees, or with their tables alone.

    Raises
    ------
    ValueError
        If labels or states are neither text nor numbers, or networks are too large.
    """
    model = predictor.model
    cells = feature_cells(predictor.encoder)
    *features, own_class = model.domain.variables
    shift, loss = predictor.prior_shift, predictor.loss
    content: Content = {
        "classes": [_plain(label, "class") for label in predictor.classes.tolist()],
        "class": len(features),
        "question": len(features),
        "variables": [
            {"states": [v.label(code) for code in range(v.n_states)]}
            for v in (*features, own_class)
        ],
        "cells": [_cell(own) for own in cells],
        "texts": [_texts(own) for own in cells],
        "parents": [list(model.feature_parents(f)) for f in range(len(features))],
        "temperature": predictor.temperature,
        "shift": None if shift is None else packed(shift),
        "loss": None if loss is None else packed(loss),
    }
    content |= _engine(model.shipped, len(features), with_cliques)
    # Between features and class, networks have latent variables.
    latent: list[Content] = [{"states": []}] * (content["class"] - len(features))
    content["variables"][-1:-1] = latent
    return _shared_tables(content)


def _engine(shipped: Any, class_index: int, with_cliques: bool) -> Content:
    """Kind and numbers of a model."""
    content = compiled_network if with_cliques else _tables
    if isinstance(shipped, ShippedAverage):
        average = packed_values(_short(shipped.values))
        if shipped.network is not None:
            average["network"] = content(shipped.network)
        order = list(range(class_index))
        return {"kind": shipped.engine, "average": average, "order": order}
    if isinstance(shipped, ShippedNetworks):
        members = [
            {
                "order": [v for v in network.dag.order if v != class_index],
                "network": content(network),
            }
            for network in shipped.networks
        ]
        return {"kind": "networks", "networks": members, "order": []}
    # The class is the network's last variable, behind features and latent ones.
    last = len(shipped.network.domain) - 1
    found = {
        "kind": "network",
        "class": last,
        "question": last,
        "order": list(shipped.order),
        "network": content(shipped.network),
    }
    if shipped.class_weight is not None:
        found["class_weight"] = packed(shipped.class_weight)
    return found


def _short(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same with the counts of an average's networks as short texts."""
    if "networks" not in values:
        return values
    networks = [
        {**own, "families": [_short_family(family) for family in own["families"]]}
        for own in values["networks"]
    ]
    return {**values, "networks": networks}


def _short_family(family: Content | None) -> Content | None:
    """The same with lists of whole numbers as texts."""
    if family is None:
        return None
    numbers = {name: family[name] for name in ("steps", "totals")}
    short = {
        name: digits_of(own)
        for name, own in numbers.items()
        if all(isinstance(number, int) for number in own)
    }
    return {**family, **short}


def _tables(network: BayesianNetwork) -> Content:
    """The factors of a network."""
    cards = network.domain.cards
    return product_content(small_product(cards, network.cpds, _MOST_CELLS))


def _shared_tables(content: Content) -> Content:
    """The same with each distinct table once, and factors that say which is theirs."""
    places: dict[str, int] = {}
    networks = [content, content.get("average", {}), *content.get("networks", ())]
    for own in networks:
        for term in own.get("network", {}).get("terms", ()):
            key = json.dumps(term["table"])
            term["table"] = places.setdefault(key, len(places))
    return {**content, "tables": [json.loads(key) for key in places]}


def _cell(own: FeatureCells) -> Content:
    """How a column becomes the codes of a variable."""
    reading = own.reading
    found: Content = {
        "column": own.column,
        "feature": own.variable.name,
        "form": reading.form,
        "missing": own.missing,
        "unknown": own.unknown,
    }
    if own.part is not None:
        found |= {"part": own.part, "origin": reading.origin or 0}
    if reading.unit is not None:
        found["unit"] = reading.unit
    if own.kind == "intervals":
        return {**found, "cuts": list(own.cut_points)}
    where = f"column {quoted(own.column)}"
    values = [_plain(value, where) for value in own.codes]
    return {
        **found,
        "values": values,
        "codes": list(own.codes.values()),
        "sort": _sort(own, values),
    }


def _sort(own: FeatureCells, values: Sequence[Any]) -> str:
    """Whether a column's values are text or numbers; empty if both or unknown."""
    other = own.variable.other_state
    sorts = {
        "text" if isinstance(value, str) else "numbers"
        for value in values
        if other is None or value != other
    }
    return sorts.pop() if len(sorts) == 1 else ""


def _texts(own: FeatureCells) -> list[str] | None:
    """That the feature has each of its codes; None where name = state says so."""
    variable = own.variable
    labels = [variable.label(code) for code in range(own.n_codes)]
    texts = [stated(variable.name, label) for label in labels]
    plain = [f"{variable.name} = {label}" for label in labels]
    return None if texts == plain else texts


def _plain(value: Any, where: str) -> Any:
    """A label or state as JSON holds it."""
    found = value.item() if isinstance(value, np.generic) else value
    if not isinstance(found, str | bool | int | float):
        raise ValueError(
            f"{where} holds {quoted(value)}, a {type(value).__name__}, but a scorer "
            "holds text, numbers and truth values alone; convert it before fitting"
        )
    return found


def check_texts_differ(content: Mapping[str, Any]) -> None:
    """Raise ValueError where JavaScript could not tell labels or states apart."""
    where = "the classes have labels"
    _check_exact(content["classes"], where)
    pair = equal_pair(content["classes"], _script_text)
    if pair is not None:
        raise _inseparable(where, f"{quoted(pair[0])} and {quoted(pair[1])}")
    for own in content["cells"]:
        where = f"column {quoted(own['column'])} has states"
        _check_exact(own.get("values", ()), where)


def _check_exact(values: Sequence[Any], where: str) -> None:
    """Raise ValueError where a double does not hold an integer."""
    for value in values:
        if isinstance(value, int) and _as_double(value) != value:
            raise _inseparable(where, f"{value} and integers next to it")


def _as_double(value: float) -> float:
    """A number in JavaScript, infinite where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _script_text(label: Any) -> str:
    """The text of a label in JavaScript, where it is a key of the probabilities."""
    if isinstance(label, str | bool):
        return label if isinstance(label, str) else str(label).lower()
    # Both languages write the fewest digits, with an exponent from 1e21 on there.
    digits = repr(float(label))
    return digits if abs(label) >= 1e21 else f"{Decimal(digits).to_integral_value():f}"


def _inseparable(where: str, which: str) -> ValueError:
    """The error for values that are one in JavaScript."""
    return ValueError(
        f"{where} that JavaScript cannot tell apart: {which}; rename them, or write "
        "the scorer in Python (.py)"
    )
