"""What a page holds of a model: variables, arcs, numbers, and words about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayleaf.cpds.table import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.explain.row_probability import row_log_probabilities
from bayleaf.explorer.map import informed_arcs, map_content
from bayleaf.io.exports.runtime.networks import compiled_tree, tree_content
from bayleaf.io.exports.runtime.packing import packed
from bayleaf.io.exports.scorers.content import calibration_content
from bayleaf.io.exports.scorers.program_content import program_content
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel
from bayleaf.models.interval_target import INTEGRATION, IntervalTargetModel, TreeSum
from bayleaf.models.latent_rules import LatentReport
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.support_counts import SupportCounts
from bayleaf.scoring.terms import LogSum, ScoringProgram, SumOut, program_of
from bayleaf.wording import quoted

Content = dict[str, Any]

# Rules of a latent's state that are shown.
_RULES_SHOWN = 12
# Lines of a tree of conditions that are shown.
_LINES_SHOWN = 80

_CLASS_ONLY = (
    "This model predicts the class alone, so the bars of other variables are shares of "
    "the training rows, whatever is set."
)
_TARGET_ONLY = (
    "This model predicts a number, its target, so the bars of other variables are "
    "shares of the training rows, whatever is set."
)


def network_content(network: BayesianNetwork) -> Content:
    """A network without a class: any variable can be the question.

    ValueError if the network is too large for a page, or a variable has no states.
    """
    variables = [variable_content(v, "variable") for v in network.domain]
    tree = compiled_tree(network)
    _add_distributions(variables, network, None)
    return {
        "kind": "network",
        "variables": variables,
        "class": None,
        "question": len(network.domain) - 1,
        "map": map_content(variables, informed_arcs(tree, None), None),
        "weights": "nats shared by their ends",
        "order": list(network.dag.order),
        "remarks": [],
        "network": tree_content(tree),
    }


def predictor_content(predictor: Predictor) -> Content:
    """A classifier's model with all that turns its scores into probabilities.

    ValueError if the model is too large for a page, or a variable has no states.
    """
    model = predictor.model
    content = _model_content(model, predictor.support)
    content |= calibration_content(predictor)
    if predictor.temperature != 1.0:
        others = "; those of other variables are the network's"
        content["remarks"].append(
            "The probabilities of the class are calibrated (temperature "
            f"{predictor.temperature:.4g} where all features are known, 1 where one is)"
            f"{others if content['kind'] == 'network' else ''}."
        )
    return content


def target_content(model: IntervalTargetModel) -> Content:
    """A regressor's model: scores of intervals, cells inside them, trees.

    ValueError if a variable has no states.
    """
    content = _program_content(model.intervals, program_of(model.intervals))
    content["variables"][-1]["role"] = "target"
    for variable in content["variables"]:
        variable.pop("shape", None)
    trees = model.trees
    points, shares = INTEGRATION
    return {
        **content,
        "kind": "target",
        "remarks": [_TARGET_ONLY],
        "temperature": 1.0,
        "shift": None,
        "loss": None,
        "target": {
            "quantiles": [packed(np.array(own)) for own in model.numbers.quantiles],
            "prior": packed(model.log_prior),
            "centre": model.centre,
            "scale": model.scale,
            "head": vars(model.head),
            "points": packed(points),
            "shares": packed(shares),
            "trees": trees
            and {"mean": _tree_sum(trees.mean), "spread": _tree_sum(trees.spread)},
        },
    }


def _tree_sum(trees: TreeSum) -> Content:
    """Regression trees as the page adds them up."""
    return {
        "base": trees.base,
        "positions": [packed(own) for own in trees.positions],
        "roots": trees.roots.tolist(),
        "features": trees.features.tolist(),
        "thresholds": packed(trees.thresholds),
        "right": trees.right.tolist(),
        "values": packed(trees.values),
    }


def variable_content(variable: Variable, role: str) -> Content:
    """Name, states and groups of states of a variable; ValueError without states."""
    if not variable.n_states:
        raise ValueError(
            f"variable {quoted(variable.name)} has no states, so that the explorer "
            "cannot show it; leave the column out"
        )
    labels = [variable.label(code) for code in range(variable.n_states)]
    content: Content = {"name": str(variable.name), "states": labels, "role": role}
    if variable.has_missing_state:
        content["missing"] = variable.n_states - 1
    if groups := _groups(variable):
        content["groups"] = groups
    return content | _numbers(variable)


def _numbers(variable: Variable) -> Content:
    """Cut points, or the numbers that are the states, for bounds as evidence."""
    if variable.kind == "numeric" and variable.categories is None:
        return {"cuts": list(variable.cut_points)}
    states = variable.known_states
    if states and all(type(state) in (int, float) for state in states):
        return {"numbers": list(states)}
    return {}


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


def _model_content(model: ClassModel, support: SupportCounts | None) -> Content:
    """What the page needs of a model, whatever its kind."""
    program = program_of(model)
    term = program.terms[0] if len(program.terms) == 1 else None
    if not isinstance(term, SumOut) or term.weight != 1:
        return _program_content(model, program)
    network: Any = term.network
    class_index = len(network.domain) - 1
    roles = _roles(model, network.domain.names)
    pairs = zip(network.domain, roles, strict=True)
    variables = [variable_content(variable, role) for variable, role in pairs]
    tree = compiled_tree(network)
    content: Content = {
        "kind": "network",
        "variables": variables,
        "class": class_index,
        "question": class_index,
        "map": map_content(variables, informed_arcs(tree, class_index), class_index),
        "weights": "nats shared by their ends",
        "order": list(term.order),
        "remarks": list(model.remarks),
        "network": tree_content(tree),
    }
    if program.base.any():
        content["class_weight"] = packed(np.exp(program.base))
    has_rows = support is not None and len(support.rows) == len(network.cpds)
    own = support if has_rows and model.cpds else None
    _add_distributions(variables, network, own)
    rules = {r.name: _rules(r) for r in model.latent_reports or ()}
    n_features = len(model.domain) - 1
    for variable in variables[n_features:-1]:
        if variable["name"] in rules:
            variable["rules"] = rules[variable["name"]]
    _add_shapes(variables, model)
    return content


def _add_distributions(
    variables: list[Content], network: BayesianNetwork, support: SupportCounts | None
) -> None:
    """Rows behind the tables, and those distributions in words that are no tables."""
    for place, (variable, cpd) in enumerate(zip(variables, network.cpds, strict=True)):
        variable["parents"] = list(cpd.parents)
        if not isinstance(cpd, TableCPD):
            lines = network.describe(network.domain[place].name).splitlines()
            variable["distribution"] = lines[:_LINES_SHOWN]
        elif support is not None:
            variable["rows"] = packed(support.rows[place])
        elif cpd.experience is not None:
            variable["rows"] = packed(cpd.experience)


def _add_shapes(variables: list[Content], model: ClassModel) -> None:
    """What each state of a feature says alone, nats for each class, and its rows."""
    classes = tuple(range(model.domain.cards[-1]))
    for feature in range(len(model.domain) - 1):
        shape = model.feature_shape(feature, classes)
        variables[feature]["shape"] = {
            "nats": packed(shape.contributions),
            "rows": packed(np.asarray(shape.row_counts, dtype=np.float64)),
        }


def _rules(report: LatentReport) -> list[list[str]]:
    """The first rules of each state of a latent variable."""
    return [
        [str(rule) for rule in state.rules[:_RULES_SHOWN]]
        + _more(len(state.rules) - _RULES_SHOWN)
        for state in report.states
    ]


def _more(n_hidden: int) -> list[str]:
    """A line that says how many rules are left out."""
    if n_hidden <= 0:
        return []
    return ["and 1 more rule" if n_hidden == 1 else f"and {n_hidden} more rules"]


def _program_content(model: ClassModel, program: ScoringProgram) -> Content:
    """A model whose scores of known states are those of its program."""
    *features, class_variable = model.domain.variables
    variables = [
        *(variable_content(variable, "feature") for variable in features),
        variable_content(class_variable, "class"),
    ]
    _add_shapes(variables, model)
    is_joint = model.feature_marginals is None
    content: Content = {
        "kind": "networks" if _averages_networks(program) else "program",
        "drawing_note": model.picture.note,
        "weights": model.picture.weights,
        "variables": variables,
        "class": len(features),
        "question": len(features),
        "map": map_content(variables, list(model.picture.arcs), len(features)),
        "order": list(range(len(features))),
        "remarks": [*([] if is_joint else [_CLASS_ONLY]), *model.remarks],
        "is_joint": is_joint,
        "program": program_content(program, is_script=True)[0],
    }
    if not is_joint:
        content["states"] = _state_log_probabilities(model)
    return content


def _averages_networks(program: ScoringProgram) -> bool:
    """Whether scores are the mean of joint distributions of networks."""
    (term, *others) = program.terms or (None,)
    of_networks = isinstance(term, LogSum) and not (term.paths or term.fallback)
    return of_networks and not (others or program.base.any())


def _roles(model: ClassModel, names: Sequence[Any]) -> list[str]:
    """What each variable of a network is; cells of latent variables are not shown."""
    n_features, reports = len(model.domain) - 1, model.latent_reports
    known = None if reports is None else {report.name for report in reports}
    latents = ["latent" if known is None or n in known else "cells" for n in names]
    return [*["feature"] * n_features, *latents[n_features:-1], "class"]


def _state_log_probabilities(model: ClassModel) -> list[Content]:
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
