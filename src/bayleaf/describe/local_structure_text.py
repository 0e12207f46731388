"""Distributions with structure for a reader: trees indented, cuts as named sets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import GroupedTableCPD
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.texts.network_text import head_text, hierarchy_node
from bayleaf.wording import format_number, name_list, shown_name, stated, visible

# Longer texts are cut, and say so.
_MOST_LINES = 200
_WIDTH = 80
_MOST_STATES = 12
_MOST_MEMBERS = 6


def describe_distribution(network: BayesianNetwork, name: str | int) -> str:
    """One variable's distribution as text.

    A tree is indented, one line per branch, and its branches are named after the nodes
    of value hierarchies where they stand for such; leaves that were merged point to the
    line, counted from the head on, of the first of them. A table over groups of states
    lists the states of each group. Lines go on in the next one from 80 columns on. Any
    other distribution is shown by `BayesianNetwork.describe`. ValueError for an unknown
    variable.
    """
    cpd = network.cpd(name)
    lines = _wrapped(0, head_text(network.domain, cpd))
    if isinstance(cpd, TreeCPD):
        _add_tree(lines, network.domain, cpd)
    elif isinstance(cpd, GroupedTableCPD):
        _add_groups(lines, network.domain, cpd)
    else:
        return network.describe(name)
    hidden = len(lines) - _MOST_LINES
    more = [f"  and {hidden} lines more"] if hidden > 0 else []
    return "\n".join([*lines[:_MOST_LINES], *more])


def group_name(variable: Variable, states: Sequence[int]) -> str:
    """Name a group of states.

    The state's own name; the name of the hierarchy's node over just these states;
    otherwise the states in braces.
    """
    if len(states) == 1:
        return visible(variable.label(states[0]))
    node = hierarchy_node(variable, states)
    return f"{{{_members(variable, states)}}}" if node is None else visible(node)


def _members(variable: Variable, states: Sequence[int]) -> str:
    """States of a group by name."""
    labels = [variable.label(code) for code in states]
    return name_list(labels, limit=_MOST_MEMBERS)


def _wrapped(depth: int, text: str) -> list[str]:
    """A line as one or more, broken behind commas and indented by its depth."""
    lines: list[str] = []
    for piece in text.split(", "):
        if lines and len(lines[-1]) + len(piece) < _WIDTH - 2:
            lines[-1] += f", {piece}"
            continue
        if lines:
            lines[-1] += ","
        # What goes on stands deeper than the lines of the next depth.
        lines.append("  " * (depth + 2 if lines else depth) + piece)
    return lines


def _add_tree(lines: list[str], domain: Domain, cpd: TreeCPD) -> None:
    """A line for each branch, indented by its depth; leaves end with probabilities."""
    first_line: dict[int, int] = {}
    for node, where, depth in tree_nodes(domain, cpd):
        condition = "" if where is None else " = ".join(where)
        if isinstance(node, Leaf):
            text = _distribution(domain[cpd.child], node.probabilities)
            if id(node) in first_line:
                text = f"as in line {first_line[id(node)]}"
            first_line.setdefault(id(node), len(lines) + 1)
            text = f"{condition}: {text}" if condition else text
            lines += _wrapped(max(depth, 1), text)
        elif condition:
            lines += _wrapped(depth, condition)


def tree_nodes(
    domain: Domain, cpd: TreeCPD
) -> Iterator[tuple[Leaf | Split, tuple[str, str] | None, int]]:
    """Nodes of a tree from the root on, each before those below it, with their depth.

    The branch to a node is named by a variable and a group of its states; None for the
    root.
    """
    waiting: list[tuple[Leaf | Split, tuple[str, str] | None, int]] = [
        (cpd.root, None, 0)
    ]
    while waiting:
        node, where, depth = waiting.pop()
        yield node, where, depth
        if isinstance(node, Split):
            variable = domain[node.variable]
            name = shown_name(variable.name)
            below = [
                (branch, (name, group_name(variable, sorted(group))), depth + 1)
                for branch, group in zip(node.branches, node.groups, strict=True)
            ]
            waiting += reversed(below)


def membership(name: str, group: str) -> str:
    """That a variable has one of a group of states, both by their names."""
    return f"{name} in {group}" if group.startswith("{") else stated(name, group)


def _add_groups(lines: list[str], domain: Domain, cpd: GroupedTableCPD) -> None:
    """Groups that are no single states, then a line for each row of the table."""
    for parent, groups in zip(cpd.parents, cpd.groups, strict=True):
        variable = domain[parent]
        for group in groups:
            name = group_name(variable, group)
            if len(group) > 1 and not name.startswith("{"):
                members = _members(variable, group)
                text = f"{shown_name(variable.name)} {name}: {{{members}}}"
                lines += _wrapped(1, text)
    rows = itertools.product(*(range(len(groups)) for groups in cpd.groups))
    for where in rows:
        names = [
            f"{shown_name(domain[parent].name)} = {group_name(domain[parent], g[at])}"
            for parent, g, at in zip(cpd.parents, cpd.groups, where, strict=True)
        ]
        text = _distribution(domain[cpd.child], cpd.table[where])
        lines += _wrapped(1, f"{', '.join(names)}: {text}" if names else text)


def _distribution(variable: Variable, probabilities: NDArray[np.float64]) -> str:
    """States with their probabilities."""
    shown = [
        f"{visible(variable.label(code))} {format_number(round(float(value), 4))}"
        for code, value in enumerate(probabilities)
    ]
    hidden = len(shown) - _MOST_STATES
    more = [f"and {hidden} more"] if hidden > 0 else []
    return ", ".join([*shown[:_MOST_STATES], *more])
