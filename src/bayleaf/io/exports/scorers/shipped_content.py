"""What a scorer in JavaScript holds of a model: plain values that become JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from bayleaf.io.exports.characters import equal_pair
from bayleaf.io.exports.scorers.content import Content, scorer_content
from bayleaf.io.exports.shipped.networks import compiled_network
from bayleaf.io.exports.shipped.packing import digits_of, packed, packed_values
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.shipped import ShippedAverage, ShippedNetworks
from bayleaf.wording import quoted


def shipped_content(predictor: Predictor) -> Content:
    """All that a scorer needs of a classifier, its networks as junction trees.

    ValueError if labels or states are neither text nor numbers, or equal in JavaScript,
    or networks are too large.
    """
    content = scorer_content(predictor)
    n_features = len(content["cells"])
    content |= {"class": n_features, "question": n_features}
    content |= _engine(predictor.model.shipped, n_features)
    # Between features and class, networks have latent variables.
    latent: list[Content] = [{"states": []}] * (content["class"] - n_features)
    content["variables"][-1:-1] = latent
    _check_texts_differ(content)
    return _shared_tables(content)


def _engine(shipped: Any, class_index: int) -> Content:
    """Kind and numbers of a model."""
    if isinstance(shipped, ShippedAverage):
        average = packed_values(_short(shipped.values))
        if shipped.network is not None:
            average["network"] = compiled_network(shipped.network)
        order = list(range(class_index))
        return {"kind": shipped.engine, "average": average, "order": order}
    if isinstance(shipped, ShippedNetworks):
        members = [
            {
                "order": [v for v in network.dag.order if v != class_index],
                "network": compiled_network(network),
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
        "network": compiled_network(shipped.network),
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


def _shared_tables(content: Content) -> Content:
    """The same with each distinct table once, and factors that say which is theirs."""
    places: dict[str, int] = {}
    networks = [content, content.get("average", {}), *content.get("networks", ())]
    for own in networks:
        for term in own.get("network", {}).get("terms", ()):
            key = json.dumps(term["table"])
            term["table"] = places.setdefault(key, len(places))
    return {**content, "tables": [json.loads(key) for key in places]}


def _check_texts_differ(content: Mapping[str, Any]) -> None:
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
