"""A distribution with local structure: splits, groups of values and leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.network_parts import Name
from bayleaf.models.texts.network_text import hierarchy_node
from bayleaf.plot import style
from bayleaf.plot.distributions import head_of, network_of
from bayleaf.wording import quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


@dataclass
class _Node:
    """A question or a leaf with its place."""

    node: Leaf | Split
    depth: int
    label: str
    y: float = 0.0
    below: list[_Node] = field(default_factory=list)


def tree_cpd(network: Any, variable: Name, *, ax: Axes | None = None) -> Axes:
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
    ImportError
        If matplotlib is not installed.

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
    style.no_frame(ax)
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
