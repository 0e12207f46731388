"""What a page holds of a model: variables, numbers, remarks, and the map of its arcs.

A classifier may be published from rounded counts, rare values without names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.rounding import LEAST_BASE, RoundedCounts, SeenCounts
from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable, masked_domain
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.text_forms import MISSING_MARKERS
from bayleaf.explain.row_probability import row_log_probabilities
from bayleaf.inference.arc_information import informed_arcs
from bayleaf.io.exports.feature_cells import feature_cells
from bayleaf.io.exports.packing import packed
from bayleaf.io.exports.scorers.classifier_content import (
    calibration_content,
    compiled_tree,
    number_pattern,
    of_script,
    patterns_content,
    program_content,
    text_of,
    time_of,
    tree_content,
)
from bayleaf.layout.layered import Drawing, with_tops
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel
from bayleaf.models.interval_target import INTEGRATION, IntervalTargetModel, TreeSum
from bayleaf.models.latent_rules import LatentReport
from bayleaf.models.page_model import CLASSIFIER, PageModel
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.support_counts import SupportCounts
from bayleaf.models.texts.picture import WeightedArc
from bayleaf.pictures.svg import letter_width
from bayleaf.scoring.terms import LogSum, ScoringProgram, SumOut, program_of
from bayleaf.wording import counted, quoted

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

Floats = NDArray[np.float64]
# States with bars in a box, and arcs for a variable where arcs have weights.
STATES_SHOWN = 6
_ARCS_A_VARIABLE = 1.5
# Bounds of the width of a box, and heights (CSS pixels) of its edges, the first line of
# its name, further ones, which are larger than the rest where boxes are small, and of a
# line of a value.
_WIDTHS = 130, 280
_EDGES, _LINE, _NEXT_LINE, _VALUE_LINE = 14, 19, 28, 23
# Sizes of letters of names and values where boxes are smallest that show values, room
# around them in a line, that of a value's probability included, and most lines of a
# name.
_NAME_SIZE, _AROUND_NAME = 19.0, 18
_VALUE_SIZE, _AROUND_VALUE = 11 / 0.6, 100
_LINES = 6
# Letters of names where maps are smallest, in those of 19 pixels.
_FAR_NAME = 1.5
# Fonts of systems that have wide ones, in the letters of drawings; bold ones.
_WIDE, _BOLD = 1.15, 1.3
# Where names are broken, as on the page (`breakable` of elements.js).
_PARTS = re.compile(r"(?<=[\s_/])|(?<=[^\W\d_][.-])|(?<=[a-z])(?=[A-Z])")
_GAP = (20.0, 30.0)
# Widths of drawings in their heights: for windows of a desk and of a hand.
_SHAPES = {"wide": 1.35, "tall": 0.7}
# A class with more arcs than this is a mark on its children, not a bundle of arcs.
_MOST_CLASS_ARCS = 3
# Graphs above this have one drawing, without the arcs of the class.
_MOST_FOR_CLASS_ARCS = 150
Mask = NDArray[np.bool_]
Rows = NDArray[np.float64]
# Tables that count the same rows whose average tells hardly more than one of them.
_SAFE_LOOKS = 12


def page_content(explored: PageModel, min_count: int) -> Content:
    """A model with all that turns its scores into answers.

    Above a `min_count` of 1, its counts of training rows are rounded. ValueError if the
    model is too large for a page or does not have these counts, or a variable has no
    states.
    """
    is_classifier = explored.task == CLASSIFIER
    if min_count != 1 and not is_classifier:
        raise ValueError(
            f"min_count needs a classifier, which knows the rows behind its "
            f"distributions; this is a {explored.name}"
        )
    if is_classifier:
        scorer = replace(explored.scorer, support=explored.support())
        return published_content(scorer, min_count)
    if explored.has_target:
        return target_content(explored.scorer)
    return network_content(explored.scorer)


def add_texts(content: Content, encoder: TableEncoder | None) -> None:
    """Add how the texts of a pasted case are read: as those of a table."""
    cells = () if encoder is None else feature_cells(encoder)
    # States of networks, which have no columns, may be numbers too.
    patterns = {"number": of_script(number_pattern())}
    content |= patterns_content(cells, is_script=True)
    content["patterns"] = patterns | content.get("patterns", {})
    variables = {variable["name"]: variable for variable in content["variables"]}
    for cell in cells:
        variable, form = variables[str(cell.variable.name)], text_of(cell)
        # Other words occur in few rows, which a page may have to hide.
        missing = form.get("text", {}).get("missing", ())
        missing = [word for word in missing if word in MISSING_MARKERS]
        if form:
            form = {"text": {**form["text"], "missing": missing}}
        if cell.reading.form in ("date", "duration"):
            hidden = variable.get("unnamed", ())
            variable["time"] = {
                "column": str(cell.column),
                "form": cell.reading.form,
                "text": {},
                **form,
                **time_of(cell),
                "codes": [[k, v] for k, v in cell.codes.items() if v not in hidden],
            }
        elif form:
            variable |= form


def quality_content(explored: PageModel, min_count: int) -> Content:
    """How often left-out training rows were predicted right, by class and probability.

    Above a `min_count` of 1 shares are rounded, and bins left out that have fewer rows,
    or fewer rows of the class or without it.
    """
    content: Content = {}
    if explored.fitted is not None:
        content["fitted"] = explored.fitted.date[:10]
    scores = explored.quality()
    if scores is None or scores.calibration is None:
        return content
    bins = scores.calibration
    rows, expected, observed = bins.rows, bins.expected, bins.observed
    n, error, shares = rows[0].sum(), scores.error, observed.sum(axis=1)
    shares = shares / n
    if min_count > 1:
        is_shown = np.minimum(observed, rows - observed) >= min_count
        hidden = np.zeros_like(rows)
        means = np.divide(expected, rows, out=hidden.copy(), where=rows > 0)
        rows, observed = (
            np.where(is_shown, np.round(counts / min_count) * min_count, 0.0)
            for counts in (rows, observed)
        )
        expected = np.round(means, 2) * rows
        n, error, shares = n // min_count * min_count, round(error, 2), shares.round(2)
    parts = {"rows": rows, "expected": expected, "observed": observed}
    return content | {
        "n": float(n),
        "error": error,
        "shares": shares.tolist(),
        **{name: packed(part) for name, part in parts.items()},
    }


def about_content(explored: PageModel) -> list[str]:
    """Sentences on where a network comes from and how good it is."""
    network = explored.model
    variables = counted(len(network.domain), "variable")
    arrows = counted(len(network.edges), "arrow")
    numbers = counted(network.n_parameters, "number")
    fitted, rows = explored.fitted, explored.rows
    if fitted or rows:
        source = f" from {counted(round(rows), 'row')}" if rows else ""
        stamp = f" on {fitted.date[:10]} by bayleaf {fitted.version}" if fitted else ""
        origin = f"Learned{source}{stamp}."
    else:
        origin = (
            "The file has no record of its origin: who or what set the probabilities, "
            "the rows it was learned from, if any, and its date are not known."
        )
    return [
        "How well it predicts new cases has not been measured. All numbers here are "
        "exact for this model; they do not show whether it is right about the case in "
        "front of you.",
        "You can try it on cases whose outcome you know: enter each under Cases "
        "without its outcome, and compare the answer with it.",
        origin,
        f"A Bayesian network of {variables} and {arrows} between them, with {numbers} "
        "(free parameters) for how likely their values are.",
    ]


def network_content(network: BayesianNetwork) -> Content:
    """A network without a class: any variable can be the question.

    ValueError if the network is too large for a page, or a variable has no states.
    """
    roles = ["variable"] * len(network.domain)
    return _network_part(network, roles, None, network.dag.order)


def _network_part(
    network: BayesianNetwork,
    roles: Sequence[str],
    class_index: int | None,
    order: Iterable[int],
    support: SupportCounts | None = None,
) -> Content:
    """Variables, distributions and junction tree of a network."""
    pairs = zip(network.domain, roles, strict=True)
    variables = [variable_content(variable, role) for variable, role in pairs]
    tree = compiled_tree(network)
    _add_distributions(variables, network, support)
    return {
        "kind": "network",
        "variables": variables,
        "class": class_index,
        "question": len(network.domain) - 1,
        "map": map_content(variables, informed_arcs(tree, class_index), class_index),
        "weights": "information shared by their ends",
        "order": list(order),
        "remarks": [],
        "network": tree_content(tree),
        "terms": ["SumOut"],
    }


def predictor_content(predictor: Predictor) -> Content:
    """A classifier's model with all that turns its scores into probabilities.

    ValueError if the model is too large for a page, or a variable has no states.
    """
    model = predictor.model
    content = _model_content(model, predictor.support)
    content |= calibration_content(predictor)
    content["has_intervals"] = model.has_normal_scores and predictor.support is not None
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
    if members := _members(variable):
        content["members"] = members
    return content | _numbers(variable)


def _numbers(variable: Variable) -> Content:
    """Cut points, or the numbers that are the states, for bounds as evidence."""
    if variable.kind == "numeric" and variable.categories is None:
        cuts: Content = {"cuts": list(variable.cut_points)}
        if variable.numbers and (numbers := [*chain(*variable.numbers.quantiles)]):
            cuts["range"] = [min(numbers), max(numbers)]
        return cuts
    states = variable.known_states
    if states and all(type(state) in (int, float) for state in states):
        return {"numbers": list(states)}
    return {}


def _members(variable: Variable) -> list[tuple[str, int]]:
    """Ordered categories that have no state of their own, and the codes of theirs."""
    members = []
    for category in variable.categories or ():
        code = variable.state_of_category(category)
        if code is not None and variable.label(code) != str(category):
            members.append((str(category), code))
    return members


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
    has_rows = support is not None and len(support.rows) == len(network.cpds)
    content = _network_part(
        network,
        _roles(model, network.domain.names),
        len(network.domain) - 1,
        term.order,
        support if has_rows and model.cpds else None,
    )
    content["remarks"] = list(model.remarks)
    variables = content["variables"]
    if program.base.any():
        content["class_weight"] = packed(np.exp(program.base))
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
    rules = []
    for state in report.states:
        lines = [str(rule) for rule in state.rules[:_RULES_SHOWN]]
        if n_hidden := len(state.rules[_RULES_SHOWN:]):
            lines.append(f"and {n_hidden} more rule{'s' if n_hidden > 1 else ''}")
        rules.append(lines)
    return rules


def _program_content(model: ClassModel, program: ScoringProgram) -> Content:
    """A model whose scores of known states are those of its program."""
    *features, class_variable = model.domain.variables
    variables = [
        *(variable_content(variable, "feature") for variable in features),
        variable_content(class_variable, "class"),
    ]
    _add_shapes(variables, model)
    is_joint = model.feature_marginals is None
    has_networks = _averages_networks(program)
    terms, kinds = program_content(program, is_script=True)
    content: Content = {
        "kind": "networks" if has_networks else "program",
        "drawing_note": model.picture.note,
        "weights": model.picture.weights,
        "variables": variables,
        "class": len(features),
        "question": len(features),
        "map": map_content(variables, list(model.picture.arcs), len(features)),
        "order": list(range(len(features))),
        "remarks": [*([] if is_joint else [_CLASS_ONLY]), *model.remarks],
        "is_joint": is_joint,
        "program": terms,
        "terms": ["SumOut"] if has_networks else sorted(kinds),
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


def map_content(
    variables: Sequence[Content], arcs: Sequence[WeightedArc], top: int | None
) -> Content:
    """Places of all variables, computed ahead for the page; the class `top` is above.

    `variables` have name, states and role; arcs pass through "cells". `arcs` are
    (parent, child, weight or None), from 0 to 1 in the result. ``marked`` are children
    of the class whose arcs from it are marks, ``left_out`` is the number of light arcs,
    ``wrapped`` the states with names of two lines;
    ``drawings`` are for "wide" and "tall" windows, and "wide+class" and "tall+class"
    where the arcs of the class can be drawn as well.
    """
    drawn = _without_cells(variables, arcs)
    shown, left_out = _heaviest(drawn, len(variables), top)
    of_class = [arc for arc in shown if arc[0] == top]
    others = [arc for arc in shown if arc[0] != top]
    has_marks = len(of_class) > _MOST_CLASS_ARCS
    plain = others if has_marks else shown
    everything = [*plain, *of_class] if has_marks else plain
    nodes = [v for v, own in enumerate(variables) if own["role"] != "cells"]
    boxes = {node: _box(variables[node]) for node in nodes}
    sizes = [(width, height) for width, height, _ in boxes.values()]
    drawings = {}
    for form, shape in _SHAPES.items():
        drawings[form] = _drawing(nodes, sizes, plain, top, shape)
        if has_marks and len(nodes) <= _MOST_FOR_CLASS_ARCS:
            drawings[f"{form}+class"] = _drawing(nodes, sizes, everything, top, shape)
    return {
        "nodes": nodes,
        "arcs": _shares(plain) + (_shares(of_class) if has_marks else []),
        "marked": [child for _, child, _ in of_class] if has_marks else [],
        "left_out": left_out,
        "wrapped": {node: states for node, (*_, states) in boxes.items() if states},
        "drawings": drawings,
    }


def _without_cells(
    variables: Sequence[Content], arcs: Sequence[WeightedArc]
) -> list[WeightedArc]:
    """Arcs between variables that are drawn, past those that are not."""
    hidden = {v for v, own in enumerate(variables) if own["role"] == "cells"}
    above: dict[int, list[WeightedArc]] = {}
    for arc in arcs:
        above.setdefault(arc[1], []).append(arc)

    def ends(arc: WeightedArc) -> list[int]:
        if arc[0] not in hidden:
            return [arc[0]]
        return [end for upper in above.get(arc[0], []) for end in ends(upper)]

    found = {
        (parent, arc[1]): arc[2]
        for arc in arcs
        if arc[1] not in hidden
        for parent in ends(arc)
    }
    return [(parent, child, weight) for (parent, child), weight in found.items()]


def _heaviest(
    arcs: Sequence[WeightedArc], n_variables: int, top: int | None
) -> tuple[list[WeightedArc], int]:
    """Arcs by falling weight, and how many light ones a drawing had to leave out."""
    ordered = sorted(arcs, key=lambda arc: -(arc[2] or 0.0))
    light = [arc for arc in ordered if arc[0] != top and arc[2] is not None]
    most = int(_ARCS_A_VARIABLE * n_variables)
    if len(light) <= 2 * most:
        return ordered, 0
    dropped = set(light[most:])
    return [arc for arc in ordered if arc not in dropped], len(dropped)


def _shares(arcs: Sequence[WeightedArc]) -> list[list[int | float | None]]:
    """Arcs with their weights as shares of the largest."""
    heaviest = max((arc[2] or 0.0 for arc in arcs), default=0.0) or 1.0
    return [
        [p, c, None if weight is None else round(weight / heaviest, 4)]
        for p, c, weight in arcs
    ]


def _box(variable: Content) -> tuple[int, int, list[int]]:
    """Width and height of a variable's box, and the states with names of two lines."""
    name, half = _lengths(variable["name"], _BOLD * _NAME_SIZE)
    states: Sequence[str] = variable["states"]
    # A histogram takes the place of many intervals.
    is_drawn = len(variable.get("cuts", ())) >= STATES_SHOWN
    written = () if is_drawn else states
    labels = [_lengths(label, _WIDE * _VALUE_SIZE) for label in written]
    least, most = _WIDTHS
    room = most - _AROUND_VALUE
    longest = max((line if line <= room else part for line, part in labels), default=0)
    # A histogram has no names of values that make room for a name far off.
    far = _FAR_NAME * half if is_drawn else half
    width = max(least, far + _AROUND_NAME, longest + _AROUND_VALUE)
    width = min(most, math.ceil(width))
    room = width - _AROUND_NAME
    lines = 1 if name <= room else 2 if half <= room else math.ceil(name / room) + 1
    wrapped = [s for s, (line, _) in enumerate(labels) if line > width - _AROUND_VALUE]
    rows = min(len(states), STATES_SHOWN) + (len(states) > STATES_SHOWN)
    rows += min(len(wrapped), STATES_SHOWN)
    height = _EDGES + _LINE + (min(lines, _LINES) - 1) * _NEXT_LINE + rows * _VALUE_LINE
    return width, height, wrapped


def _lengths(text: str, size: float) -> tuple[float, float]:
    """Length of a text in letters of a size, and its least length in two lines."""
    parts = [sum(map(letter_width, part)) for part in _PARTS.split(text)]
    ends = [size / 12 * end for end in accumulate(parts)]
    return ends[-1], min(max(end, ends[-1] - end) for end in ends)


def _drawing(
    nodes: Sequence[int],
    sizes: Sequence[tuple[int, int]],
    arcs: Sequence[WeightedArc],
    top: int | None,
    shape: float,
) -> Content:
    """One layered drawing in whole pixels."""
    place = {node: i for i, node in enumerate(nodes)}
    pairs = [(place[parent], place[child]) for parent, child, _ in arcs]
    tops = [] if top is None else [place[top]]
    drawing: Drawing = with_tops(sizes, pairs, tops, gap=_GAP, shape=shape)
    boxes = np.column_stack([drawing.centres - drawing.sizes / 2, drawing.sizes])
    return {
        "boxes": np.rint(boxes).astype(int).tolist(),
        "ways": [np.rint(way).astype(int).ravel().tolist() for way in drawing.curves],
        "width": int(np.ceil(drawing.width)),
        "height": int(np.ceil(drawing.height)),
    }


def published_content(predictor: Predictor, min_count: int) -> Content:
    """Page content of a classifier that does not reveal counts below `min_count`.

    1 hides nothing; errors are those of `published_predictor` and `predictor_content`.
    Many cut points between single rows would reveal the numbers themselves. So a cut
    point is shown if it is an end of a named interval, or if at least `min_count` rows
    lie between it and the next one; a number between two such cut points that has
    several states gets the middle one. Numbers that are states stay if they have names.
    """
    if min_count == 1:
        return predictor_content(predictor)
    published, base = published_predictor(predictor, min_count)
    content = predictor_content(published)
    # They tell of single values.
    for variable in content["variables"]:
        for part in ("rules", "distribution", "shape", "range", "members"):
            variable.pop(part, None)
    domain = predictor.model.domain
    unnamed, rows = _known_states(predictor, min_count)
    for v, variable in enumerate(domain):
        shown = content["variables"][v if v + 1 < len(domain) else content["class"]]
        shown |= _entered(variable, unnamed[v], rows[v], min_count)
    content["is_rounded"] = True
    content["remarks"] = [
        "This page differs from the model: its probabilities come from counts of "
        f"training rows rounded to multiples of {base}, and are less exact where there "
        f"are few rows. Values that fewer than {min_count} training rows have, or may "
        "have, are numbered, not named."
    ]
    return content


def _entered(variable: Variable, unnamed: Mask, rows: Rows, min_count: int) -> Content:
    """How numbers are entered for a variable, and which of its states are unnamed."""
    entries: Content = {"unnamed": np.flatnonzero(unnamed).tolist()}
    plain = variable_content(variable, "")
    if "numbers" in plain:
        pairs = zip(plain["numbers"], unnamed, strict=False)
        entries["numbers"] = [None if rare else number for number, rare in pairs]
    if "cuts" in plain:
        spans = _spans(unnamed[: len(plain["cuts"]) + 1], rows, min_count)
        entries["cuts"] = [plain["cuts"][last] for _, _, last in spans[:-1]]
        if len(spans) < variable.n_known_states:
            entries["spans"] = spans
    return entries


def _spans(unnamed: Mask, rows: Rows, min_count: int) -> list[tuple[int, int, int]]:
    """First, middle and last state of intervals that may be told apart.

    Unnamed neighbours are joined until they have enough rows; what is left over at the
    next named one is joined to those before.
    """
    spans: list[list[int]] = []
    for state, rare in enumerate(unnamed.tolist()):
        follows = rare and state > 0 and unnamed[state - 1]
        if follows and rows[spans[-1]].sum() < min_count:
            spans[-1].append(state)
        else:
            spans.append([state])
        ends = state + 1 == len(unnamed) or not unnamed[state + 1]
        few = rare and ends and rows[spans[-1]].sum() < min_count
        if few and len(spans) > 1 and unnamed[spans[-2][0]]:
            spans[-2:] = [spans[-2] + spans[-1]]
    intervals = []
    for span in spans:
        # The state with the middle row.
        totals = np.cumsum(rows[span])
        middle = span[int(np.searchsorted(totals, totals[-1] / 2.0))]
        intervals.append((span[0], middle, span[-1]))
    return intervals


def published_predictor(predictor: Predictor, min_count: int) -> tuple[Predictor, int]:
    """The same classifier from rounded counts, states of few rows without names.

    Also returns the base: counts are rounded to multiples of it, at least 5. The result
    has no support, its temperature one decimal; rounding is deterministic. ValueError
    if `min_count` is below 2, or the model has no support.
    """
    if min_count < 2:
        raise ValueError(f"min_count must be at least 1, got {min_count}")
    support = predictor.support
    if support is None:
        raise ValueError(
            "min_count needs the numbers of training rows behind a model, which this "
            "one does not keep; explore a classifier that was fitted and saved here"
        )
    unnamed, rows = _known_states(predictor, min_count)
    if min_count > (n_rows := round(float(rows[-1].sum()))):
        raise ValueError(
            f"min_count must be at most {n_rows}, the number of training rows, got "
            f"{min_count}"
        )
    base, rounding = _rounding(predictor.model, support, min_count)
    rounded = predictor.model.drawn(_unsmoothed(support), rounding)
    domain = masked_domain(rounded.domain, unnamed)
    model: Any = rounded
    if any(field.name == "domain" for field in fields(model)):
        model = replace(model, domain=domain)
    else:
        model = replace(model, network=replace(model.network, domain=domain))
    published = replace(
        predictor,
        model=model,
        temperature=max(0.1, round(predictor.temperature, 1)),
        support=None,
    )
    return published, base


def _known_states(
    predictor: Predictor, min_count: int
) -> tuple[list[Mask], Sequence[Rows]]:
    """Which states of each variable are unnamed, and training rows with each state.

    Fewer rows than a least count have them, or may have. "Missing" names no value.
    """
    support = predictor.support
    if support is None or support.state_rows is None:
        raise ValueError(
            "min_count needs the number of training rows with each value, which this "
            "model does not keep: its file was written by an earlier version, or the "
            "weights of its rows, added up in batches, are not integers; fit the "
            "classifier and save it again"
        )
    pairs = zip(predictor.model.domain, support.state_rows, strict=True)
    unnamed = [_few_rows(variable, rows < min_count) for variable, rows in pairs]
    return unnamed, support.state_rows


def _few_rows(variable: Variable, few: Mask) -> Mask:
    """States to leave unnamed where those in `few` have too few rows.

    Intervals of ordered categories are named by the last category of each, the rows of
    which are known only where it is alone in its interval.
    """
    unnamed = few & (np.arange(len(few)) < variable.n_known_states)
    if variable.categories is not None:
        ends = [-0.5, *variable.cut_points, len(variable.categories) - 0.5]
        doubtful = few[: variable.n_known_states] | (np.diff(ends) > 1)
        # Each bound is the last category of the interval below it.
        unnamed[: len(doubtful) - 1] |= doubtful[:-1]
        unnamed[1 : len(doubtful)] |= doubtful[:-1]
    return unnamed


def _rounding(
    model: ClassModel, support: SupportCounts, min_count: int
) -> tuple[int, RoundedCounts]:
    """What counts of a model are rounded to multiples of, and their rounding.

    The average over several tables that count the same rows is nearer to the truth
    than one of them is; from a dozen on, larger steps make up for it.
    """
    seen = SeenCounts()
    model.drawn(_unsmoothed(support), seen)
    rows = max(model.n_training_rows(support), 1.0)
    looks = seen.total / (rows * len(model.domain))
    least = max(min_count, LEAST_BASE)
    base = math.ceil(least * max(1.0, math.sqrt(looks / _SAFE_LOOKS)))
    return base, RoundedCounts(base, seen.key())


def _unsmoothed(support: SupportCounts) -> SupportCounts:
    """Rows alone, so that tables of the same rows have the same sums."""
    return replace(support, pseudo_rows=(0.0,) * len(support.pseudo_rows))
