"""Distributions of a network: tables as heat maps, trees as trees."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.inference.states import StateReader
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel
from bayleaf.models.network_structure import Name
from bayleaf.models.texts.network_text import hierarchy_node
from bayleaf.models.wrappers import model_inside
from bayleaf.plot import style
from bayleaf.typing import ByName, Estimator
from bayleaf.wording import name_list, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# A network, or what contains one.
NetworkLike = BayesianNetwork | ClassModel | Estimator
# Larger tables leave no room for labels.
MAX_ROWS, MAX_COLUMNS = 60, 30
# Cells up to which each has its number.
_MOST_NUMBERS = 150

MAX_LEAVES = 60
# Fills of states: grey levels and hatches that differ on any printer.
_FILLS = (
    ("#0072B2", ""),
    ("#F0E442", ""),
    ("#8C8C8C", ""),
    ("#FFFFFF", ""),
    ("#56B4E9", "////"),
    ("#E69F00", "...."),
    ("#D9D9D9", "xxxx"),
    ("#222222", ""),
)
# Widths in columns: a question's box, then where its branches part.
_BOX, _FORK = 0.44, 0.48
_BAR = 1.0


def network_of(source: Any) -> BayesianNetwork:
    """The network itself, or that of a fitted estimator or a model, else TypeError.

    AttributeError if the estimator is an average of networks.
    """
    source = model_inside(source, same_scores=False)
    if isinstance(source, BayesianNetwork):
        return source
    if hasattr(source, "fit"):
        found = source.network_
    else:
        found = getattr(source, "network", None)
    if not isinstance(found, BayesianNetwork):
        raise TypeError(
            "network must be a Bayesian network or a fitted estimator that has one, "
            f"got a {type(source).__name__}"
        )
    return found


def cpt(
    network: NetworkLike,
    variable: Name,
    *,
    given: ByName[Hashable] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability table of a variable as a heat map.

    Parameters
    ----------
    network : BayesianNetwork or fitted estimator
        Where the table stands.
    variable : str or int
        Whose table; a tree or a value map is written out as a table.
    given : mapping of name to state, optional
        Parents held at a state, so that fewer rows remain.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        A row a parent configuration, the last parent fastest, and a column a state;
        dark cells are probable. The label of the left axis names the parents in the
        order of their states. Up to 150 cells have their number.

    Raises
    ------
    ValueError
        If there is no such variable, parent or state, or the table has more than 60
        rows or 30 columns.
    TypeError
        If there is no network.
    """
    found = network_of(network)
    cpd = found.cpd(variable)
    domain = found.domain
    codes = _codes_shown(domain, cpd, dict(given or {}))
    table = np.asarray(cpd.probabilities)[np.ix_(*codes, range(cpd.cards[-1]))]
    table = table.reshape(-1, table.shape[-1])
    if len(table) > MAX_ROWS or table.shape[1] > MAX_COLUMNS:
        free = [domain[p].name for p, c in zip(cpd.parents, codes) if len(c) > 1]
        remedy = (
            f"; hold some of {name_list(free)} at a state by given=" if free else ""
        )
        raise ValueError(
            f"the table of {quoted(variable)} has {len(table)} rows and "
            f"{table.shape[1]} columns, but a picture shows up to {MAX_ROWS} and "
            f"{MAX_COLUMNS}{remedy}"
        )
    rows = _row_names(domain, cpd, codes)
    longest = max(map(style.text_width, rows)) / 72
    ax = style.axes_for(
        ax, 0.7 + longest + max(2.0, 0.5 * table.shape[1]), 1.1 + 0.24 * len(table)
    )
    ax.imshow(table, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    child = domain[cpd.child]
    states = [style.shortened(child.label(code), 16) for code in range(child.n_states)]
    style.name_ticks(ax, "y", rows)
    style.name_ticks(ax, "x", states)
    ax.tick_params(length=0)
    if table.size <= _MOST_NUMBERS:
        _write_numbers(ax, table)
    room = int(14 * max(2.0, 0.5 * table.shape[1]))
    style.title(ax, head_of(domain, cpd, room))
    parents = ", ".join(style.shortened(domain[p].name, 28) for p in cpd.parents)
    style.label_axes(ax, y=style.shortened(parents, max(24, 4 * len(table))))
    return ax


def head_of(domain: Domain, cpd: CPD, room: int) -> str:
    """What is distributed, given what; how many parents if names take too much room."""
    child = style.shortened(domain[cpd.child].name)
    if not cpd.parents:
        return f"P({child})"
    text = f"P({child} | {', '.join(style.clean(domain[p].name) for p in cpd.parents)})"
    if len(text) <= room:
        return text
    count = "1 parent" if len(cpd.parents) == 1 else f"{len(cpd.parents)} parents"
    return f"P({child} | {count})"


def _codes_shown(domain: Domain, cpd: CPD, given: dict[Name, Any]) -> list[list[int]]:
    """For each parent the states whose rows are drawn."""
    shown = []
    for parent in cpd.parents:
        variable = domain[parent]
        if variable.name not in given:
            shown.append(list(range(variable.n_states)))
            continue
        value = given.pop(variable.name)
        reader = StateReader(variable)
        code = reader.code(value)
        if code is None:
            raise reader.unknown(value)
        shown.append([code])
    if given:
        raise ValueError(
            f"given holds {quoted(next(iter(given)))}, which is no parent of "
            f"{quoted(domain[cpd.child].name)}; "
            f"its parents are {name_list([domain[p].name for p in cpd.parents])}"
            if cpd.parents
            else f"{quoted(domain[cpd.child].name)} has no parents that could be given"
        )
    return shown


def _row_names(domain: Domain, cpd: CPD, codes: list[list[int]]) -> list[str]:
    """The parents' states of each row."""
    length = max(8, 48 // max(len(codes), 1))
    return [
        ", ".join(
            style.shortened(domain[p].label(code), length)
            for p, code in zip(cpd.parents, where, strict=True)
        )
        for where in itertools.product(*codes)
    ]


def _write_numbers(ax: Axes, table: NDArray[np.float64]) -> None:
    """The probability in each cell, light on dark."""
    for (row, column), value in np.ndenumerate(table):
        style.write(
            ax,
            column,
            row,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=style.FONT_SIZE - 1,
            color=style.PAPER if value > 0.55 else style.INK,
        )


@dataclass
class _Node:
    """A question or a leaf with its place."""

    node: Leaf | Split
    depth: int
    label: str
    y: float = 0.0
    below: list[_Node] = field(default_factory=list)


def tree_cpd(network: NetworkLike, variable: Name, *, ax: Axes | None = None) -> Axes:
    """Draw a tree of questions with the distribution at each leaf.

    Parameters
    ----------
    network : BayesianNetwork or fitted estimator
        Where the tree stands.
    variable : str or int
        Whose distribution.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        From the root on the left to the leaves on the right: a box a question, its
        branches with their groups of values (a node of the hierarchy by its name), and
        a bar from 0 to 1 a leaf. Leaves that share a distribution have one number.

    Raises
    ------
    ValueError
        If there is no such variable, its distribution is no tree, or has more than 60
        leaves.
    TypeError
        If there is no network.

    References
    ----------
    desJardins, M., Rathod, P., Getoor, L. (2008). Learning structured Bayesian
    networks: combining abstraction hierarchies and tree-structured conditional
    probability tables. Computational Intelligence 24.
    """
    found = network_of(network)
    cpd = found.cpd(variable)
    if not isinstance(cpd, TreeCPD):
        raise ValueError(
            f"variable {quoted(variable)} has a {type(cpd).__name__}, no tree; "
            "bayleaf.plot.cpt draws it as a table"
        )
    if cpd.n_leaves > MAX_LEAVES:
        raise ValueError(
            f"the tree of {quoted(variable)} has {cpd.n_leaves} leaves, but a picture "
            f"shows up to {MAX_LEAVES}; its network's describe writes it as text"
        )
    root, leaves = _placed_tree(found.domain, cpd)
    depth = max(leaf.depth for leaf in leaves)
    ax = style.axes_for(
        ax,
        max(4.4, 1.75 * (depth + _BAR) + 0.3),
        0.9 + 0.19 * min(cpd.cards[-1], len(_FILLS)) / 3 + 0.3 * max(len(leaves), 2),
    )
    ax.set_xlim(-0.02, depth + _BAR + 0.12)
    ax.set_ylim(len(leaves) - 0.4, -0.6)
    ax.set_axis_off()
    _draw_question(ax, found.domain, root, depth)
    child = found.domain[cpd.child]
    _draw_leaves(ax, child, leaves, depth)
    leaf_count = "1 leaf" if len(leaves) == 1 else f"{len(leaves)} leaves"
    style.title(ax, f"{head_of(found.domain, cpd, 40)}, {leaf_count}")
    return ax


def _placed_tree(domain: Domain, cpd: TreeCPD) -> tuple[_Node, list[_Node]]:
    """The root and the leaves from top to bottom, all with their heights."""
    leaves: list[_Node] = []

    def add(node: Leaf | Split, depth: int, label: str) -> _Node:
        """Place a node below all before it; a question amid its branches."""
        placed = _Node(node, depth, label)
        if isinstance(node, Leaf):
            placed.y = float(len(leaves))
            leaves.append(placed)
            return placed
        variable = domain[node.variable]
        for group, branch in zip(node.groups, node.branches, strict=True):
            placed.below.append(add(branch, depth + 1, group_label(variable, group)))
        placed.y = (placed.below[0].y + placed.below[-1].y) / 2
        return placed

    return add(cpd.root, 0, ""), leaves


def group_label(variable: Variable, states: tuple[int, ...]) -> str:
    """A group of states by its node of the hierarchy, or by its members."""
    if len(states) > 1:
        node = hierarchy_node(variable, states)
        if node is not None:
            return node
    return ", ".join(variable.label(code) for code in states)


def _draw_question(ax: Axes, domain: Domain, node: _Node, depth: int) -> None:
    """A box with the parent's name, and its branches below and to the right."""
    if isinstance(node.node, Leaf):
        return
    column = style.axes_inches(ax)[0] * 72 / (depth + _BAR + 0.14)
    size = style.FONT_SIZE - 0.5
    middle = _BOX / 2
    ax.plot([node.depth + middle, node.depth + _FORK], [node.y, node.y], **_line())
    ends = [branch.y for branch in node.below]
    ax.plot([node.depth + _FORK] * 2, [min(ends), max(ends)], **_line())
    for branch in node.below:
        end = branch.depth + (middle if branch.below else 0.0)
        ax.plot([node.depth + _FORK, end], [branch.y] * 2, **_line())
        style.write(
            ax,
            node.depth + _FORK + 0.02,
            branch.y - 0.06,
            style.fitted(branch.label, (0.96 - _FORK) * column * 0.92, size),
            va="bottom",
            fontsize=size,
        )
        _draw_question(ax, domain, branch, depth)
    assert isinstance(node.node, Split)
    name = domain[node.node.variable].name
    style.write(
        ax,
        node.depth + middle,
        node.y,
        style.in_lines(name, _BOX * column * 0.86, 2, size),
        ha="center",
        va="center",
        fontsize=size,
        linespacing=1.0,
        bbox={
            "boxstyle": "round,pad=0.25",
            "facecolor": style.PAPER,
            "edgecolor": style.INK,
            "linewidth": 0.8,
        },
        zorder=3,
    )


def _line() -> dict[str, Any]:
    """How branches look."""
    return {"color": style.FAINT, "linewidth": 0.9, "zorder": 1}


def _draw_leaves(ax: Axes, child: Variable, leaves: list[_Node], depth: int) -> None:
    """A bar a leaf, cut into the child's states, and a legend of these."""
    n_shown = min(child.n_states, len(_FILLS))
    handles: list[Any] = [None] * n_shown
    places = _distribution_numbers(leaves)
    for leaf in leaves:
        assert isinstance(leaf.node, Leaf)
        ax.plot([leaf.depth, depth], [leaf.y, leaf.y], **(_line() | {"linestyle": ":"}))
        values = leaf.node.probabilities.tolist()
        # States beyond the fills share the last one.
        values = [*values[: n_shown - 1], sum(values[n_shown - 1 :])]
        left = float(depth)
        for state, value in enumerate(values):
            colour, hatch = _FILLS[state]
            (bar,) = ax.barh(
                leaf.y,
                value * _BAR,
                0.62,
                left=left,
                color=colour,
                hatch=hatch,
                edgecolor=style.INK,
                linewidth=0.5,
                zorder=2,
            )
            handles[state] = bar
            left += value * _BAR
        number = places.get(id(leaf.node))
        if number is not None:
            style.write(ax, depth + _BAR + 0.02, leaf.y, f"{number}", va="center")
    names = [style.shortened(child.label(code), 16) for code in range(n_shown)]
    if child.n_states > n_shown:
        names[-1] = f"{child.n_states - n_shown + 1} others"
    style.legend(
        ax,
        handles,
        names,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=min(n_shown, 3),
        frameon=False,
    )


def _distribution_numbers(leaves: list[_Node]) -> dict[int, int]:
    """Numbers of distributions, by identity, where several leaves share one."""
    seen = [id(leaf.node) for leaf in leaves]
    shared = [key for key in dict.fromkeys(seen) if seen.count(key) > 1]
    return {key: number for number, key in enumerate(shared, start=1)}
