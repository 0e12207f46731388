"""Domains and models as plain values, and back with every check."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.cpds.table import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.io.averaged import averaged_kdb_from, averaged_kdb_to
from bayleaf.io.distributions import check_distributions
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.averaged_kdb import AveragedKDBModel
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel
from bayleaf.models.network_model import NetworkModel
from bayleaf.models.one_dependence import AveragedOneDependenceModel


def domain_to(domain: Domain) -> list[dict[str, Any]]:
    """A domain as plain values.

    Raises
    ------
    TypeError
        If a state is of a type that JSON does not know.
    """
    return [
        {
            "name": variable.name,
            "kind": variable.kind,
            "states": [_state_to(variable, state) for state in variable.states],
            "cut_points": list(variable.cut_points),
        }
        for variable in domain
    ]


def domain_from(values: list[Any]) -> Domain:
    """A domain from plain values."""
    return Domain(tuple(_variable_from(value) for value in values))


def _state_to(variable: Variable, state: Any) -> Any:
    """A state as a JSON value."""
    if state is None or isinstance(state, str | bool | int | float):
        return state
    raise TypeError(
        f"state {state!r} of variable {variable.name!r} has no place in a model file; "
        "use text or numbers"
    )


def _variable_from(value: Any) -> Variable:
    """One variable from plain values."""
    fields = Fields(value, "a variable of the domain")
    if not isinstance(value, dict):
        raise ModelFileError("a variable of the domain should be an object")
    name = Fields.name(value.get("name"))
    states = fields.list("states")
    if len(states) > Codes.MAX_STATES:
        raise ModelFileError(f"variable {name!r} has too many states: {len(states)}")
    for position, state in enumerate(states):
        last = position == len(states) - 1
        plain = isinstance(state, str | bool | int) or (state is None and last)
        if not plain and not (isinstance(state, float) and math.isfinite(state)):
            raise ModelFileError(
                f"variable {name!r} has a state that is neither text nor finite number"
            )
    cuts = fields.list("cut_points")
    for cut in cuts:
        if (
            isinstance(cut, bool)
            or not isinstance(cut, int | float)
            or not math.isfinite(cut)
        ):
            raise ModelFileError(f"variable {name!r} has a cut point that is no number")
    kind = fields.choice("kind", ("nominal", "numeric"))
    return Variable(name, tuple(states), kind, tuple(map(float, cuts)))  # type: ignore[arg-type]


def model_to(model: ClassModel, arrays: ArrayWriter) -> dict[str, Any]:
    """A model as plain values; its tables go to `arrays`.

    Raises
    ------
    ModelFileError
        If a table does not hold distributions, so that no reader would take it.
    """
    if isinstance(model, NetworkModel):
        for variable, cpd in zip(model.domain, model.network.cpds, strict=True):
            what = f"the table of variable {variable.name!r}"
            check_distributions(cpd.probabilities, what)
        return {
            "type": "network",
            "parents": [list(parents) for parents in model.network.dag.parents],
            "tables": [arrays.add(cpd.probabilities) for cpd in model.network.cpds],
            "max_table_cells": int(model.max_table_cells),
        }
    if isinstance(model, AveragedOneDependenceModel):
        _check_one_dependence(model)
        return {
            "type": "averaged_one_dependence",
            "prior": arrays.add(model.prior),
            "parent_probabilities": arrays.add(model.parent_probabilities),
            "child_probabilities": arrays.add(model.child_probabilities),
            "usable": model.usable.astype(int).tolist(),
        }
    if isinstance(model, AveragedKDBModel):
        return averaged_kdb_to(model, arrays)
    raise TypeError(f"a model of type {type(model).__name__} has no file format")


def model_from(fields: Fields, domain: Domain, arrays: ArrayReader) -> ClassModel:
    """A model from plain values."""
    read: dict[str, Callable[[Fields, Domain, ArrayReader], ClassModel]] = {
        "network": _network_from,
        "averaged_one_dependence": _one_dependence_from,
        "averaged_kdb": averaged_kdb_from,
    }
    return read[fields.choice("type", tuple(read))](fields, domain, arrays)


def _network_from(fields: Fields, domain: Domain, arrays: ArrayReader) -> NetworkModel:
    """A network model from plain values."""
    parents = fields.list("parents")
    tables = fields.list("tables")
    if not len(parents) == len(tables) == len(domain):
        raise ModelFileError(
            f"the network has {len(parents)} parent lists and {len(tables)} tables for "
            f"{len(domain)} variables"
        )
    for nodes in parents:
        whole = isinstance(nodes, list) and all(type(node) is int for node in nodes)
        if not whole:
            raise ModelFileError(
                "the parents of a variable should be a list of indices"
            )
    dag = DAG(tuple(tuple(nodes) for nodes in parents))
    cards = domain.cards
    cpds = []
    for variable, family, table in zip(domain, dag.families, tables, strict=True):
        shape = tuple(cards[member] for member in family)
        what = f"the table of variable {variable.name!r}"
        probabilities = arrays.get(table, shape, what)
        check_distributions(probabilities, what)
        cpds.append(TableCPD(family, probabilities))
    network = BayesianNetwork(domain, dag, tuple(cpds))
    return NetworkModel(network, fields.count("max_table_cells"))


def _one_dependence_from(
    fields: Fields, domain: Domain, arrays: ArrayReader
) -> AveragedOneDependenceModel:
    """An averaged one-dependence model from plain values."""
    *cards, n_classes = domain.cards
    width = sum(cards) + len(cards)
    prior = arrays.get(fields.values.get("prior"), (n_classes,), "the class prior")
    parents = arrays.get(
        fields.values.get("parent_probabilities"),
        (n_classes, width),
        "parent_probabilities",
    )
    children = arrays.get(
        fields.values.get("child_probabilities"),
        (n_classes, width, width),
        "child_probabilities",
    )
    usable = fields.list("usable")
    if len(usable) != width or not all(flag in (0, 1) for flag in usable):
        raise ModelFileError(f"usable should be a list of {width} zeros and ones")
    model = AveragedOneDependenceModel(
        domain, prior, parents, children, np.array(usable, dtype=bool)
    )
    _check_one_dependence(model)
    return model


def _check_one_dependence(model: AveragedOneDependenceModel) -> None:
    """Raise unless every block of an averaged model is a set of distributions."""
    check_distributions(model.prior, "the class prior")
    cards = model.domain.cards[:-1]
    for i, (start, card) in enumerate(zip(model.offsets, cards, strict=True)):
        states = slice(start, start + card)
        what = f"the tables of feature {model.domain[i].name!r}"
        check_distributions(model.parent_probabilities[:, states], what)
        for j, (parent, parent_card) in enumerate(
            zip(model.offsets, cards, strict=True)
        ):
            block = model.child_probabilities[:, parent : parent + parent_card, states]
            if i != j:
                check_distributions(block, what)
            elif not (block == 1.0).all():
                raise ModelFileError(f"{what} should hold ones on the diagonal")
        for table in (model.parent_probabilities, model.child_probabilities):
            if not (table[..., start + card] == 1.0).all():
                raise ModelFileError(f"{what} should hold ones for missing cells")
