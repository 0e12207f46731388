"""Distributions with structure for a reader: trees indented, cuts as named sets."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.grouped_table import GroupedTableCPD
from bayleaf.cpds.tree import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.wording import format_number, name_list, shown_name

# Longer texts are cut, and say so.
_MOST_LINES = 200
_MOST_STATES = 12
_MOST_MEMBERS = 6


def describe_distribution(network: BayesianNetwork, name: str | int) -> str:
    """One variable's distribution as text.

    A tree is indented, one line a branch, and its branches are named after the nodes
    of value hierarchies where they stand for such; a table over groups of states says
    which states each group holds. Any other distribution is shown by
    `BayesianNetwork.describe`.

    Raises
    ------
    ValueError
        If there is no such variable.
    """
    cpd = network.cpd(name)
    if isinstance(cpd, TreeCPD):
        lines = _tree_lines(network.domain, cpd)
    elif isinstance(cpd, GroupedTableCPD):
        lines = _grouped_lines(network.domain, cpd)
    else:
        return network.describe(name)
    hidden = len(lines) - _MOST_LINES
    more = [f"  and {hidden} lines more"] if hidden > 0 else []
    return "\n".join([_head(network.domain, cpd), *lines[:_MOST_LINES], *more])


def group_name(variable: Variable, states: Sequence[int]) -> str:
    """What a group of states is called.

    Returns
    -------
    str
        The state's own name; the name of the hierarchy's node over just these states;
        otherwise the states in braces.
    """
    if len(states) == 1:
        return variable.label(states[0])
    members = {variable.states[code] for code in states}
    tree = variable.hierarchy
    if tree is not None:
        for node in tree.inner_nodes:
            if set(tree.states_under(node)) == members:
                return str(node)
    return f"{{{_members(variable, states)}}}"


def _members(variable: Variable, states: Sequence[int]) -> str:
    """States of a group by name."""
    labels = [variable.label(code) for code in states]
    return name_list(labels, limit=_MOST_MEMBERS)


def _head(domain: Domain, cpd: CPD) -> str:
    """What is distributed, given what."""
    given = ", ".join(shown_name(domain[parent].name) for parent in cpd.parents)
    child = shown_name(domain[cpd.child].name)
    return f"P({child} | {given})" if given else f"P({child})"


def _tree_lines(domain: Domain, cpd: TreeCPD) -> list[str]:
    """A line for each branch, indented by its depth; leaves end with probabilities."""
    if isinstance(cpd.root, Leaf):
        return [f"  {_distribution(domain[cpd.child], cpd.root.probabilities)}"]
    lines: list[str] = []
    first_line: dict[int, int] = {}
    open_nodes: list[tuple[Leaf | Split, str, int]] = [(cpd.root, "", 0)]
    while open_nodes:
        node, condition, depth = open_nodes.pop()
        if isinstance(node, Leaf):
            if id(node) in first_line:
                text = f"as in line {first_line[id(node)]}"
            else:
                first_line[id(node)] = len(lines) + 1
                text = _distribution(domain[cpd.child], node.probabilities)
            lines.append(f"{'  ' * depth}{condition}: {text}")
            continue
        if condition:
            lines.append(f"{'  ' * depth}{condition}")
        variable = domain[node.variable]
        below = [
            (branch, f"{shown_name(variable.name)} = {group_name(variable, g)}")
            for branch, g in zip(node.branches, node.groups, strict=True)
        ]
        open_nodes += [(b, text, depth + 1) for b, text in reversed(below)]
    return lines


def _grouped_lines(domain: Domain, cpd: GroupedTableCPD) -> list[str]:
    """Groups that are no single states, then a line for each row of the table."""
    lines = []
    for parent, groups in zip(cpd.parents, cpd.groups, strict=True):
        variable = domain[parent]
        for group in groups:
            name = group_name(variable, group)
            if len(group) > 1 and not name.startswith("{"):
                members = _members(variable, group)
                lines.append(f"  {shown_name(variable.name)} {name}: {{{members}}}")
    rows = itertools.product(*(range(len(groups)) for groups in cpd.groups))
    for where in rows:
        names = [
            f"{shown_name(domain[parent].name)} = {group_name(domain[parent], g[at])}"
            for parent, g, at in zip(cpd.parents, cpd.groups, where, strict=True)
        ]
        text = _distribution(domain[cpd.child], cpd.table[where])
        lines.append(f"  {', '.join(names)}: {text}")
    return lines


def _distribution(variable: Variable, probabilities: NDArray[np.float64]) -> str:
    """States with their probabilities."""
    shown = [
        f"{variable.label(code)} {format_number(round(float(value), 4))}"
        for code, value in enumerate(probabilities)
    ]
    hidden = len(shown) - _MOST_STATES
    more = [f"and {hidden} more"] if hidden > 0 else []
    return ", ".join([*shown[:_MOST_STATES], *more])
