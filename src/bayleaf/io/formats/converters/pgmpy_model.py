"""Networks as pgmpy's models, and back.

pgmpy is no requirement of this package; it is imported when asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayleaf.io.formats.converters import peer
from bayleaf.io.formats.full_tables import full_tables
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.wording import quoted


def to_pgmpy(network: BayesianNetwork) -> Any:
    """Make a model of pgmpy, with the variables' names and states in their order.

    Trees and value maps become their full tables; cut points and experience, for which
    pgmpy has no place, are left out.
    """
    factors = _pgmpy("pgmpy.factors.discrete")
    model = _pgmpy("pgmpy.models").DiscreteBayesianNetwork()
    domain = network.domain
    names, cards = domain.names, domain.cards
    model.add_nodes_from(names)
    model.latents = set(network.latents or ())
    model.add_edges_from(network.edges)
    for table in full_tables(network):
        family = (*table.parents, table.child)
        above = [names[parent] for parent in table.parents]
        model.add_cpds(
            factors.TabularCPD(
                names[table.child],
                cards[table.child],
                np.ascontiguousarray(table.rows.T),
                evidence=above or None,
                evidence_card=[cards[parent] for parent in table.parents] or None,
                state_names={names[node]: list(domain[node].states) for node in family},
            )
        )
    return model


def from_pgmpy(model: Any) -> BayesianNetwork:
    """Make a network from a model of pgmpy, whose latent variables it has.

    TypeError for another model; ValueError names a node without a table, or whose table
    does not fit the others.
    """
    kind = _pgmpy("pgmpy.models").DiscreteBayesianNetwork
    if not isinstance(model, kind):
        raise TypeError(
            "a network is made from a pgmpy.models.DiscreteBayesianNetwork, but a "
            f"{type(model).__name__} was given"
        )
    states, parents, tables = {}, {}, {}
    for node in model.nodes:
        cpd = model.get_cpds(node)
        if cpd is None:
            raise ValueError(
                f"node {quoted(node)} has no table; fit the model or add its TabularCPD"
            )
        above = list(cpd.variables[1:])
        states[node] = cpd.state_names[node]
        parents[node] = above
        # pgmpy's first axis is the child's; its parents keep their order.
        tables[node] = np.moveaxis(np.asarray(cpd.values, dtype=np.float64), 0, -1)
        for parent in above:
            known = model.get_cpds(parent)
            if known is not None and list(known.state_names[parent]) != list(
                cpd.state_names[parent]
            ):
                tables[node] = _in_order(tables[node], cpd, known, parent)
    network = BayesianNetwork.from_tables(states, tables, parents)
    latents = tuple(node for node in model.nodes if node in model.latents)
    return replace(network, latents=latents or None)


def _in_order(table: Any, cpd: Any, known: Any, parent: Any) -> Any:
    """A table with a parent's states in the order that the parent itself gives them."""
    own, wanted = list(cpd.state_names[parent]), list(known.state_names[parent])
    if sorted(map(repr, own)) != sorted(map(repr, wanted)):
        raise ValueError(
            f"the table of node {quoted(cpd.variable)} has the states {own} for its "
            f"parent {quoted(parent)}, whose own table has {wanted}; make them agree"
        )
    axis = list(cpd.variables[1:]).index(parent)
    return np.take(table, [own.index(state) for state in wanted], axis=axis)


def _pgmpy(module: str) -> Any:
    """A module of pgmpy."""
    return peer(module, "pgmpy", "models")
