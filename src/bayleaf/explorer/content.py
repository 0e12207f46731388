"""What a page holds of a model: variables, arcs, numbers, and words about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayleaf.data.domain import Variable
from bayleaf.explorer.averages import (
    averaged_values,
    mixture_values,
    one_dependence_values,
)
from bayleaf.explorer.networks import compiled_network
from bayleaf.explorer.packing import packed
from bayleaf.models.averaged_kdb import AveragedKDBModel
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel
from bayleaf.models.hierarchical_mixture import HierarchicalMixtureModel
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_class import LatentClassModel
from bayleaf.models.latent_rules import latent_reports
from bayleaf.models.network_model import NetworkModel
from bayleaf.models.network_posterior import NetworkPosteriorModel
from bayleaf.models.one_dependence import AveragedOneDependenceModel
from bayleaf.models.predictor import Predictor

Content = dict[str, Any]

# Rules of a latent's state that are shown.
_RULES_SHOWN = 12
# Arcs beyond which a drawing tells nothing.
_ARCS_SHOWN = 600

_ONE_NETWORK_ONLY = (
    "This model averages several networks and predicts the class alone, so the other "
    "variables have no posterior of their own; what you set counts for the class."
)


def network_content(network: BayesianNetwork) -> Content:
    """A network without a class: any variable can be asked for.

    Raises
    ------
    ValueError
        If the network is too large for a page, or a variable has no states.
    """
    return {
        "kind": "network",
        "variables": [variable_content(v, "variable") for v in network.domain],
        "class": None,
        "question": len(network.domain) - 1,
        "edges": [list(arc) for arc in network.dag.arcs],
        "order": list(network.dag.order),
        "remarks": [],
        "network": compiled_network(network),
    }


def predictor_content(predictor: Predictor) -> Content:
    """A classifier's model with all that turns its scores into probabilities.

    Raises
    ------
    ValueError
        If the model is too large for a page, or a variable has no states.
    """
    model = predictor.model
    content = _model_content(model)
    shift, loss = predictor.prior_shift, predictor.loss
    content |= {
        "temperature": predictor.temperature,
        "shift": None if shift is None else packed(shift),
        "loss": None if loss is None else packed(loss),
    }
    if predictor.temperature != 1.0:
        content["remarks"].append(
            "The probabilities of the class are calibrated (temperature "
            f"{predictor.temperature:.4g}); those of other variables are the network's."
            if content["kind"] == "network"
            else "The probabilities of the class are calibrated (temperature "
            f"{predictor.temperature:.4g})."
        )
    return content


def variable_content(variable: Variable, role: str) -> Content:
    """Name, states and groups of states of a variable.

    Raises
    ------
    ValueError
        If it has no states.
    """
    if not variable.n_states:
        raise ValueError(
            f"variable {variable.name!r} has no states, so that the explorer cannot "
            "show it; leave the column out"
        )
    labels = [variable.label(code) for code in range(variable.n_states)]
    content: Content = {"name": str(variable.name), "states": labels, "role": role}
    if variable.has_missing_state:
        content["missing"] = variable.n_states - 1
    if groups := _groups(variable):
        content["groups"] = groups
    return content


def _groups(variable: Variable) -> list[Content]:
    """Inner nodes of the value hierarchy, the root left out, with their states."""
    tree = variable.hierarchy
    if tree is None:
        return []
    found = []
    for name in tree.nodes[1:]:
        states = tree.states_under(name)
        if len(states) > 1:
            codes = [variable.state_index[state] for state in states]
            found.append({"name": str(name), "states": codes})
    return found


def _model_content(model: ClassModel) -> Content:
    """What the page needs of each kind of model."""
    if isinstance(model, NetworkModel | NetworkPosteriorModel):
        return _class_network_content(model)
    if isinstance(model, HierarchicalNaiveBayesModel):
        return _latent_content(model)
    if isinstance(model, LatentClassModel):
        return _component_content(model)
    if isinstance(model, AveragedOneDependenceModel):
        return _average_content(model, "one_dependence", one_dependence_values(model))
    if isinstance(model, AveragedKDBModel):
        return _average_content(model, "averaged", averaged_values(model))
    if isinstance(model, HierarchicalMixtureModel):
        return _average_content(model, "mixture", mixture_values(model))
    raise TypeError(
        f"the explorer knows no model of type {type(model).__name__}; give a model of "
        "this package's classifiers, or a network"
    )


def _with_class(
    network: BayesianNetwork, roles: Sequence[str], order: Sequence[int]
) -> Content:
    """A network whose last variable is the class."""
    class_index = len(network.domain) - 1
    pairs = zip(network.domain, roles, strict=True)
    return {
        "kind": "network",
        "variables": [variable_content(variable, role) for variable, role in pairs],
        "class": class_index,
        "question": class_index,
        "edges": [list(arc) for arc in network.dag.arcs],
        "order": [node for node in order if node != class_index],
        "remarks": [],
        "network": compiled_network(network),
    }


def _class_network_content(model: NetworkModel | NetworkPosteriorModel) -> Content:
    """Naive Bayes, TAN, KDB and networks with the class anywhere."""
    network = model.network
    roles = ["feature"] * (len(network.domain) - 1) + ["class"]
    content = _with_class(network, roles, network.dag.order)
    if isinstance(model, NetworkPosteriorModel) and model.given_prior is not None:
        own = NetworkPosteriorModel(network, model.max_table_cells).class_prior
        ratio = np.divide(model.given_prior, own, out=np.zeros_like(own), where=own > 0)
        content["class_weight"] = packed(ratio)
    return content


def _latent_content(model: HierarchicalNaiveBayesModel) -> Content:
    """A tree of latent variables, with their rules; their cells stay in the wings."""
    network = model.network
    names = network.domain.names
    reports = {report.name: report for report in latent_reports(model)}
    n_features = model.tree.n_features
    roles = ["feature"] * n_features
    roles += ["latent" if name in reports else "cells" for name in names[n_features:-1]]
    content = _with_class(network, [*roles, "class"], range(len(names) - 1))
    for variable in content["variables"][n_features:-1]:
        report = reports.get(variable["name"])
        if report is not None:
            variable["rules"] = [
                [str(rule) for rule in state.rules[:_RULES_SHOWN]]
                + _more(len(state.rules) - _RULES_SHOWN)
                for state in report.states
            ]
    content["remarks"] = list(model.remarks)
    return content


def _more(n_hidden: int) -> list[str]:
    """A line that says how many rules are left out."""
    if n_hidden <= 0:
        return []
    return ["and 1 more rule" if n_hidden == 1 else f"and {n_hidden} more rules"]


def _component_content(model: LatentClassModel) -> Content:
    """A mixture within each class; the component is a variable if there are several."""
    network = model.network
    n_features = len(model.domain) - 1
    roles = ["feature"] * n_features
    roles += ["latent"] * (len(network.domain) - 1 - n_features)
    content = _with_class(network, [*roles, "class"], range(len(network.domain) - 1))
    content["remarks"] = list(model.remarks)
    return content


def _average_content(model: ClassModel, kind: str, values: Content) -> Content:
    """A model that is no single network: it has a posterior of the class alone."""
    *features, class_variable = model.domain.variables
    arcs = model.arcs if len(model.arcs) <= _ARCS_SHOWN else []
    note = ""
    between = [arc for arc in arcs if arc[0] != len(features)]
    if kind == "one_dependence" or len(between) > 4 * len(features):
        # Every feature is some network's parent of every other.
        arcs = [(len(features), child) for child in range(len(features))]
        note = "; arcs between features differ from network to network and are left out"
    return {
        "drawing_note": note,
        "kind": kind,
        "variables": [
            *(variable_content(variable, "feature") for variable in features),
            variable_content(class_variable, "class"),
        ],
        "class": len(features),
        "question": len(features),
        "edges": [list(arc) for arc in arcs],
        "order": list(range(len(features))),
        "remarks": [_ONE_NETWORK_ONLY, *getattr(model, "remarks", ())],
        "average": values,
    }
