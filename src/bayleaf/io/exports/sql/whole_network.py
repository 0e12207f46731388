"""Rows scored by a network: families looked up where that is all, else summed out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayleaf.io.exports.sql.looking_up import Rows
from bayleaf.io.exports.sql.networks import ScoredNetwork, add_families, code_columns
from bayleaf.io.exports.sql.numbers import add_linear
from bayleaf.io.exports.sql.pipeline import Columns, kept
from bayleaf.io.exports.sql.summing_out import SummedOut
from bayleaf.io.exports.sql.words import case, col, equal, minus, nats, num, plus, times
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.support.shipped import ShippedNetwork


def add_network(rows: Rows, shipped: ShippedNetwork, *, told: bool, limit: int) -> str:
    """Score rows by a network; see `add_families` for the columns.

    Returns a remark for the reader of the query, empty if there is nothing to say.
    """
    scored = ScoredNetwork(shipped)
    columns = code_columns(scored.n_features)
    torn = scored.torn(columns)
    every = bool(scored.latents) or (told and not scored.class_is_root)
    if torn is None and not every:
        add_families(rows, scored, told=told)
        return ""
    if every:
        rows.extend({"t": num(1)})
    else:
        rows.extend({"t": case([(torn, num(1))], num(0))})
    branches = []
    whole = rows.branch()
    if not every:
        _only(whole, 0)
        add_families(whole, scored, told=told)
        branches.append(whole)
    summed = SummedOut(scored, told=told, limit=limit)
    _only(rows, 1)
    branches += summed.add(rows)
    keys = sorted(branches[0].columns)
    if len(branches) > 1:
        stage = rows.pipeline.union([one.stage for one in branches], keys)
        rows.stage, rows.columns = stage, keys
    else:
        rows.stage, rows.columns = branches[0].stage, branches[0].columns
    return summed.remark


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


def _only(rows: Rows, torn: int) -> None:
    """Go on with the rows of one sort."""
    columns = [key for key in rows.columns if key != "t"]
    rows.stage = rows.pipeline.stage(
        rows.stage, kept(columns), where=equal(col("t"), num(torn))
    )
    rows.columns = columns
