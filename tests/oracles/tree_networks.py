"""Networks of trees scored from their rows alone, and all that one move can make."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.search.trees.shape import LeafShape, SplitShape

Node = LeafShape | SplitShape
Context = Mapping[int, tuple[int, ...]]


def random_domain(
    rng: np.random.Generator, n_variables: int
) -> tuple[Domain, list[ValueHierarchy]]:
    """Variables of one to six states, with random value hierarchies."""
    variables, hierarchies = [], []
    for v in range(n_variables):
        states = tuple(f"{v}{i}" for i in range(int(rng.integers(1, 7))))
        variables.append(Variable(f"v{v}", states))
        hierarchies.append(random_hierarchy(rng, states))
    return Domain(tuple(variables)), hierarchies


def random_hierarchy(rng: np.random.Generator, states: Sequence[str]) -> ValueHierarchy:
    """Join two or three clusters at a time until one is left."""
    clusters: list[object] = [*rng.permutation(list(states)).tolist()]
    number = 0
    while len(clusters) > 1:
        size = int(rng.integers(2, 4))
        joined, clusters = clusters[:size], clusters[size:]
        below = {k: v for c in joined for k, v in _named(c).items()}
        clusters.append({f"group{number}": below})
        number += 1
    top = clusters[0]
    if isinstance(top, str):
        return ValueHierarchy((top,), (-1,))
    assert isinstance(top, dict)
    return ValueHierarchy.from_nested(top)


def _named(cluster: object) -> dict[str, object]:
    """A cluster as a mapping from its name to what is below it."""
    return cluster if isinstance(cluster, dict) else {str(cluster): None}


def random_codes(
    rng: np.random.Generator, domain: Domain, n_rows: int, *, weighted: bool = False
) -> Codes:
    """Rows in which each variable depends on the one before it, and at times on two."""
    columns: list[np.ndarray] = []
    for v, variable in enumerate(domain):
        column = rng.integers(variable.n_states, size=n_rows)
        if v:
            last, other = columns[-1], columns[max(v - 2, 0)]
            copied = np.where(last % 2, last, 2 * other + 1) % variable.n_states
            column = np.where(rng.random(n_rows) < 0.8, copied, column)
        columns.append(column)
    weights = rng.integers(0, 4, size=n_rows).astype(float) if weighted else None
    return Codes.from_columns(columns, domain.cards, weights)


def used_variables(node: Node) -> set[int]:
    """Variables that splits ask for."""
    if isinstance(node, LeafShape):
        return set()
    return {node.variable}.union(*(used_variables(branch) for branch in node.branches))


def tree_score(name: str, child: int, root: Node, codes: Codes) -> float:
    """Score of one variable's tree, each leaf a distribution of its own."""
    used = used_variables(root)
    n = codes.n_variables
    total = float(codes.weights.sum())
    card = codes.cards[child]
    columns = [codes.column(v) for v in range(n)]

    def visit(node: Node, rows: np.ndarray, context: Context) -> float:
        if isinstance(node, LeafShape):
            counts = [
                float(codes.weights[rows & (columns[child] == x)].sum())
                for x in range(card)
            ]
            share = math.prod(len(s) / codes.cards[v] for v, s in context.items())
            bit = 1.0 if name == "mdl" else 0.0
            return leaf_term(name, counts, share, total) - bit
        open_variables = [
            v for v in used if len(context.get(v, range(codes.cards[v]))) > 1
        ]
        value = -1.0 - math.log2(len(open_variables)) if name == "mdl" else 0.0
        for group, branch in zip(node.groups, node.branches, strict=True):
            inside = rows & np.isin(columns[node.variable], group)
            value += visit(branch, inside, {**context, node.variable: group})
        return value

    names = -len(used) * math.log2(n) if name == "mdl" else 0.0
    return names + visit(root, np.ones(codes.n_rows, dtype=bool), {})


def leaf_term(name: str, counts: Sequence[float], share: float, total: float) -> float:
    """Score of the data and parameters of one leaf, or of one row of a table.

    `share` is that of all configurations that it stands for, `total` the weight of the
    whole table.
    """
    n, r = sum(counts), len(counts)

    def marginal(prior: float) -> float:
        value = math.lgamma(r * prior) - math.lgamma(n + r * prior)
        return value + sum(math.lgamma(c + prior) - math.lgamma(prior) for c in counts)

    likelihood = sum(c * math.log(c / n) for c in counts if c)
    formulas = {
        "mdl": lambda: likelihood / math.log(2) - 0.5 * (r - 1) * math.log2(total),
        "bic": lambda: likelihood - 0.5 * (r - 1) * math.log(total),
        "aic": lambda: likelihood - (r - 1),
        "bdeu": lambda: marginal(share / r),
        "k2": lambda: marginal(1.0),
    }
    return formulas[name]()


def children_groups(
    hierarchy: ValueHierarchy, states: Sequence[object], inside: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Groups of states below the node that stands for some states."""
    for name in hierarchy.nodes:
        if {states.index(s) for s in hierarchy.states_under(name)} == set(inside):
            return tuple(
                tuple(sorted(states.index(s) for s in hierarchy.states_under(below)))
                for below in hierarchy.children_of(name)
            )
    raise AssertionError(f"no node stands for {inside}")


def with_one_split(
    node: Node,
    child: int,
    domain: Domain,
    hierarchies: Sequence[ValueHierarchy],
    context: Context | None = None,
) -> Iterator[tuple[int, Node]]:
    """Every tree with one split more, and the variable that it asks for."""
    context = context or {}
    if isinstance(node, LeafShape):
        for v, variable in enumerate(domain):
            inside = context.get(v, tuple(range(variable.n_states)))
            if v == child or len(inside) < 2:
                continue
            groups = children_groups(hierarchies[v], variable.states, inside)
            yield v, SplitShape(v, groups, tuple(LeafShape(0) for _ in groups))
        return
    for place, branch in enumerate(node.branches):
        below = {**context, node.variable: node.groups[place]}
        for v, other in with_one_split(branch, child, domain, hierarchies, below):
            branches = (*node.branches[:place], other, *node.branches[place + 1 :])
            yield v, SplitShape(node.variable, node.groups, branches)


def with_one_collapse(node: Node) -> Iterator[Node]:
    """Every tree in which one split, with all below it, is a leaf."""
    if isinstance(node, LeafShape):
        return
    yield LeafShape(0)
    for place, branch in enumerate(node.branches):
        for other in with_one_collapse(branch):
            branches = (*node.branches[:place], other, *node.branches[place + 1 :])
            yield SplitShape(node.variable, node.groups, branches)
