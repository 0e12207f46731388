"""Networks and their distributions in words."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from bayleaf.cpds.distribution import CPD, DeterministicCPD
from bayleaf.cpds.tree_cpd import TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.wording import counted, name_list, shown_name, stated, visible

# Longer networks and tables are cut, and say so.
MAX_NODES = 60
MAX_ROWS = 40
MAX_STATES = 12


def network_text(domain: Domain, dag: DAG, cpds: Sequence[CPD]) -> str:
    """What a network consists of: a head line, then one line a variable."""
    n_arcs = sum(1 for _ in dag.arcs)
    n_parameters = sum(cpd.n_parameters for cpd in cpds)
    lines = [
        f"Bayesian network: {counted(len(domain), 'variable')}, "
        f"{counted(n_arcs, 'arc')}, {counted(n_parameters, 'free parameter')}"
    ]
    shown = dag.order[:MAX_NODES]
    heads = [head_text(domain, cpds[node]) for node in shown]
    width = max((len(head) for head in heads if len(head) <= 50), default=0)
    for node, head in zip(shown, heads, strict=True):
        labels = [domain[node].label(code) for code in range(domain[node].n_states)]
        states = f"{counted(len(labels), 'state')}: {name_list(labels, limit=6)}"
        lines.append(f"  {head:<{width}}  {states}{_form(cpds[node])}")
    hidden = len(domain) - len(shown)
    if hidden:
        lines.append(f"  and {counted(hidden, 'variable')} more")
    return "\n".join(lines)


def distribution_text(domain: Domain, cpd: CPD) -> str:
    """One distribution: a table, a tree of conditions, or a value map."""
    head = head_text(domain, cpd)
    if isinstance(cpd, TreeCPD):
        return "\n".join([head, *_tree_lines(domain, cpd)])
    if isinstance(cpd, DeterministicCPD):
        return "\n".join([head, *_map_lines(domain, cpd)])
    return "\n".join([head, *_table_lines(domain, cpd)])


def head_text(domain: Domain, cpd: CPD) -> str:
    """What is distributed, given what."""
    names = [shown_name(domain[parent].name) for parent in cpd.parents]
    condition = f" | {', '.join(names)}" if names else ""
    return f"P({shown_name(domain[cpd.child].name)}{condition})"


def _form(cpd: CPD) -> str:
    """The form of a distribution that is no table."""
    if isinstance(cpd, TreeCPD):
        n_leaves = cpd.n_leaves
        return f" (tree with {n_leaves} {'leaf' if n_leaves == 1 else 'leaves'})"
    return " (value map)" if isinstance(cpd, DeterministicCPD) else ""


def _labels(variable: Variable) -> list[str]:
    """All states as a reader sees them, cut where there are many."""
    labels = [visible(variable.label(code)) for code in range(variable.n_states)]
    if len(labels) > MAX_STATES:
        return [*labels[: MAX_STATES - 1], "..."]
    return labels


def _grid(rows: list[list[str]], n_left: int, n_lines: int) -> list[str]:
    """Rows in columns, the first ones left of a bar; how many of `n_lines` are left.

    The first row is the heading.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        left = [f"{cell:<{width}}" for cell, width in zip(row, widths)][:n_left]
        right = [f"{cell:>{width}}" for cell, width in zip(row, widths)][n_left:]
        bar = f"{'  '.join(left)} | " if left else ""
        lines.append(f"  {bar}{'  '.join(right)}".rstrip())
    hidden = n_lines - (len(rows) - 1)
    return lines + [f"  and {counted(hidden, 'line')} more"] * (hidden > 0)


def _configurations(domain: Domain, cpd: CPD) -> Iterable[tuple[int, ...]]:
    """Parent configurations in the order of the table, the last parent fastest."""
    return itertools.product(*(range(domain[p].n_states) for p in cpd.parents))


def _given(domain: Domain, cpd: CPD, where: Sequence[int]) -> list[str]:
    """The states of the parents in one configuration."""
    return [
        visible(domain[p].label(k)) for p, k in zip(cpd.parents, where, strict=True)
    ]


def _table_lines(domain: Domain, cpd: CPD) -> list[str]:
    """A table with a line for each parent configuration."""
    labels = _labels(domain[cpd.child])
    names = [shown_name(domain[parent].name) for parent in cpd.parents]
    rows = [[*names, *labels]]
    table = cpd.probabilities
    configurations = _configurations(domain, cpd)
    for where in itertools.islice(configurations, MAX_ROWS):
        given = _given(domain, cpd, where)
        shown = table[where][: MAX_STATES - 1 if labels[-1:] == ["..."] else None]
        numbers = [probability_text(value) for value in shown]
        rows.append([*given, *numbers, *[""] * (len(labels) - len(numbers))])
    return _grid(rows, len(names), table[..., 0].size if table.size else 0)


def probability_text(value: float) -> str:
    """A probability with two digits, or as many as tell it from zero and one."""
    for digits in (2, 4):
        text = f"{value:.{digits}f}"
        if value == float(text) or (digits == 4 and 0 < float(text) < 1):
            return text
    return f"{value:.3g}"


def _tree_lines(domain: Domain, cpd: TreeCPD) -> list[str]:
    """One line a leaf: its conditions, then its distribution."""
    rows = [["", *_labels(domain[cpd.child])]]
    cards = dict(zip(cpd.parents, cpd.cards[:-1], strict=True))
    for leaf, context in itertools.islice(cpd.leaves(), MAX_ROWS):
        conditions = [
            _condition(domain[parent], states)
            for parent, states in context.items()
            if len(states) < cards[parent]
        ]
        shown = leaf.probabilities[: len(rows[0]) - 1].tolist()
        numbers = [probability_text(value) for value in shown]
        rows.append([" and ".join(conditions) or "always", *numbers])
    return _grid(rows, 1, cpd.n_leaves)


def _condition(variable: Variable, states: Sequence[int]) -> str:
    """That a variable is in one of some states; a group of states by its name."""
    if len(states) == 1:
        return stated(shown_name(variable.name), variable.label(states[0]))
    node = hierarchy_node(variable, states)
    if node is not None:
        return stated(shown_name(variable.name), node)
    labels = [variable.label(code) for code in states]
    return f"{shown_name(variable.name)} in {{{name_list(labels)}}}"


def hierarchy_node(variable: Variable, states: Sequence[int]) -> str | None:
    """The node of a variable's hierarchy over just these states, if there is one."""
    members = {variable.states[code] for code in states}
    tree = variable.hierarchy
    if tree is not None:
        for node in tree.inner_nodes:
            if set(tree.states_under(node)) == members:
                return str(node)
    return None


def _map_lines(domain: Domain, cpd: DeterministicCPD) -> list[str]:
    """One line a parent configuration: the child's state."""
    child = domain[cpd.child]
    names = [shown_name(domain[parent].name) for parent in cpd.parents]
    rows = [[*names, shown_name(child.name)]]
    for where in itertools.islice(_configurations(domain, cpd), MAX_ROWS):
        given = _given(domain, cpd, where)
        rows.append([*given, visible(child.label(int(cpd.values[where])))])
    return _grid(rows, len(names), cpd.values.size)
