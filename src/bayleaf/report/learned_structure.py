"""What a model has learned, in names and words: graph, rules, contexts, groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD, GroupedTableCPD
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.describe.local_structure_text import membership, tree_nodes
from bayleaf.evaluation.privacy import Privacy
from bayleaf.models.latent_rules import LatentReport
from bayleaf.models.texts.picture import SHARED
from bayleaf.pictures.svg import graph_values
from bayleaf.plot.network_graphs import pictured_graph
from bayleaf.wording import shown_name

Values = dict[str, Any]

# Longer lists are cut, and say so.
_RULES = 12
_LINES = 60
_STATES = 6
_ARCS = 1000


def structure_values(
    source: Any, domain: Domain, remarks: Sequence[str], privacy: Privacy
) -> Values:
    """Graph, latent variables and distributions with structure.

    `domain` has the variables, the class included, under the names to be shown.
    """
    graph = pictured_graph(source)
    arcs = list(graph.arcs)
    if privacy.withholds and graph.weights == SHARED:
        # Without their weights these are all pairs, which says nothing.
        arcs = [arc for arc in arcs if arc[2] is None]
    values = graph_values(graph.names, graph.kinds, arcs, _ARCS)
    if privacy.withholds:
        for arc in values["arcs"]:
            arc["weight"] = None
    return {
        **values,
        "note": graph.note,
        "weights": "" if privacy.withholds else graph.weights,
        "remarks": [] if privacy.withholds else list(remarks),
        "latents": _latents(source, domain, privacy),
        "distributions": list(_distributions(source.cpds, domain, privacy)),
    }


def _latents(source: Any, domain: Domain, privacy: Privacy) -> list[Values]:
    """Latent variables of a tree, each state with its rules."""
    if not getattr(source, "latent_reports", None):
        return []
    reports = replace(source, domain=domain).latent_reports
    labels = [domain[-1].label(code) for code in range(domain[-1].n_states)]
    return [_latent(report, labels, privacy) for report in reports]


def _latent(report: LatentReport, labels: list[str], privacy: Privacy) -> Values:
    """One latent variable; no counts of rows where counts are withheld."""
    states = []
    for state in report.states:
        best = int(np.argmax(state.lift))
        rules = [str(rule) for rule in state.rules]
        told: Values = {
            "rules": rules[:_RULES],
            "n_rules_left_out": max(0, len(rules) - _RULES),
            "raises": labels[best],
            "n": None,
            "class_probabilities": None,
        }
        if not privacy.withholds:
            told["n"] = float(state.n)
            told["class_probabilities"] = dict(
                zip(labels, state.class_probabilities.tolist(), strict=True)
            )
        states.append(told)
    return {
        "name": report.name,
        "children": [str(child) for child in report.children],
        "irrelevant": report.is_irrelevant,
        "states": states,
    }


def _distributions(
    cpds: Sequence[CPD], domain: Domain, privacy: Privacy
) -> Iterator[Values]:
    """Trees and tables over groups, line by line."""
    for cpd in cpds:
        if isinstance(cpd, TreeCPD) and isinstance(cpd.root, Split):
            form, lines = "tree", list(_tree_lines(domain, cpd, privacy))
        elif isinstance(cpd, GroupedTableCPD) and any(
            len(group) > 1 for groups in cpd.groups for group in groups
        ):
            form, lines = "groups", list(_group_lines(domain, cpd))
        else:
            continue
        yield {
            "variable": str(domain[cpd.child].name),
            "parents": [str(domain[parent].name) for parent in cpd.parents],
            "form": form,
            "lines": lines[:_LINES],
            "n_lines_left_out": max(0, len(lines) - _LINES),
        }


def _tree_lines(domain: Domain, cpd: TreeCPD, privacy: Privacy) -> Iterator[Values]:
    """A line for each branch, leaves with their probabilities unless withheld."""
    for node, where, depth in tree_nodes(domain, cpd):
        shown = None
        if isinstance(node, Leaf) and not privacy.withholds:
            shown = _likeliest(domain[cpd.child], node.probabilities)
        if where is not None:
            text = membership(*where)
            yield {"depth": depth - 1, "text": text, "probabilities": shown}


def _group_lines(domain: Domain, cpd: GroupedTableCPD) -> Iterator[Values]:
    """The groups of each parent's states that count as one."""
    for parent, groups in zip(cpd.parents, cpd.groups, strict=True):
        variable = domain[parent]
        for group in groups:
            if len(group) > 1:
                states = [variable.label(code) for code in sorted(group)]
                shown = ", ".join(states[:_STATES])
                more = len(states) - _STATES
                rest = f" and {more} more" if more > 0 else ""
                text = f"{shown_name(variable.name)}: {shown}{rest} count as one"
                yield {"depth": 0, "text": text, "probabilities": None}


def _likeliest(
    variable: Variable, probabilities: NDArray[np.float64]
) -> list[list[Any]]:
    """The most probable states with their probabilities."""
    order = np.argsort(-probabilities, kind="stable")[:_STATES]
    return [[variable.label(int(c)), float(probabilities[c])] for c in order]
