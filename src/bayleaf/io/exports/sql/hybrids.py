"""Class scores of networks in which some features are numbers with regressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayleaf.io.exports.sql.looking_up import Rows
from bayleaf.io.exports.sql.numbers import add_linear
from bayleaf.io.exports.sql.pipeline import Columns
from bayleaf.io.exports.sql.summing_out import add_network
from bayleaf.io.exports.sql.words import col, minus, nats, num, plus, times
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.support.shipped import ShippedNetwork


def add_hybrid(
    rows: Rows,
    values: Mapping[str, Any],
    network: BayesianNetwork,
    *,
    told: bool,
    limit: int,
) -> str:
    """Score rows by weighted tables and regressions; columns as for `add_families`."""
    n_features = len(network.domain) - 1
    base = np.asarray(values["base"])
    roles = (*["feature"] * n_features, "class")
    shipped = ShippedNetwork(network, roles, tuple(values["order"]))
    remark = add_network(rows, shipped, told=told, limit=limit)
    weight = num(float(values["table_weight"]))
    with np.errstate(divide="ignore"):
        prior = np.log(network.cpds[-1].probabilities)
    changed: Columns = {}
    for c, start in enumerate(base.tolist()):
        tables = times(weight, minus(col(f"s_{c}"), nats(prior[c])))
        changed[f"s_{c}"] = plus(nats(start), tables)
        if told:
            changed[f"b_{c}"] = nats(start)
            for v in range(n_features):
                changed[f"f{v}_{c}"] = times(weight.copy(), col(f"f{v}_{c}"))
    rows.extend(changed)
    before = [key for key in rows.columns if key.startswith("f")]
    if not told:
        add_linear(rows, values["linear"], len(base), lambda _: "s")
        return remark
    features = values["linear"]["features"]
    add_linear(rows, values["linear"], len(base), lambda v: f"n{v}")
    rows.zeros([f"n{v}" for v in features], len(base))
    numbers = {
        f"f{v}_{c}": plus(col(f"f{v}_{c}"), col(f"n{v}_{c}"))
        for v in features
        for c in range(len(base))
        if f"f{v}_{c}" in before
    }
    scores = {
        f"s_{c}": plus(col(f"s_{c}"), *(col(f"n{v}_{c}") for v in features))
        for c in range(len(base))
    }
    gone = [f"n{v}_{c}" for v in features for c in range(len(base))]
    rows.extend({**numbers, **scores}, without=gone)
    return remark
