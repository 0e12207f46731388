"""Small random influence diagrams, and their best strategies by trying all."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from bayleaf.decisions import InfluenceDiagram

Floats = NDArray[np.float64]
# Strategies of two decisions that are tried at once.
MAX_STRATEGIES = 1 << 17


def random_diagram(
    rng: np.random.Generator, n_decisions: int, *, linked: bool = True
) -> InfluenceDiagram:
    """Three to five chance variables and some decisions in a random order.

    Decisions are `linked` in a row by arcs. Tables have zeros, and utilities are
    integers, so that impossible observations and ties occur.
    """
    n = int(rng.integers(3, 6)) + n_decisions
    names = [f"v{i}" for i in range(n)]
    chosen = np.sort(rng.choice(n, n_decisions, replace=False))
    decisions = [names[i] for i in chosen]
    cards = dict(zip(names, rng.choice([2, 2, 2, 3], n).tolist(), strict=True))
    parents: dict[str | int, list[str | int]] = {}
    for i, name in enumerate(names):
        most = 1 if name in decisions else 3
        n_parents = int(rng.integers(0, min(i, most) + 1))
        parents[name] = [names[j] for j in rng.choice(i, n_parents, replace=False)]
    for first, second in pairwise(decisions):
        if linked and first not in parents[second]:
            parents[second].append(first)
    tables = {}
    for name in names:
        if name not in decisions:
            shape = tuple(cards[str(p)] for p in parents[name])
            table = rng.dirichlet(np.ones(cards[name]), shape)
            sparse = np.where(table < 0.15, 0.0, table)
            tables[name] = sparse / sparse.sum(axis=-1, keepdims=True)
    utilities = {}
    for k in range(int(rng.integers(1, 4))):
        parents[f"u{k}"] = rng.choice(names, rng.integers(1, 4), replace=False).tolist()
        shape = tuple(cards[str(p)] for p in parents[f"u{k}"])
        utilities[f"u{k}"] = rng.integers(-9, 10, shape)
    states = {name: [f"s{code}" for code in range(cards[name])] for name in names}
    return InfluenceDiagram.from_tables(states, tables, decisions, utilities, parents)


def observed_by(diagram: InfluenceDiagram, *, forgets: bool) -> dict[int, list[int]]:
    """What each decision observes."""
    observed: dict[int, list[int]] = {}
    known: list[int] = []
    for name in diagram.decisions:
        node = diagram.domain.index(name)
        seen = set(diagram.dag.parents[node]) | (set() if forgets else set(known))
        observed[node] = sorted(seen)
        known = [*observed[node], node]
    return observed


def n_strategies(diagram: InfluenceDiagram, observed: dict[int, list[int]]) -> int:
    """How many strategies there are."""
    cards = diagram.domain.cards
    return int(
        np.prod(
            [
                float(cards[d]) ** float(np.prod([cards[v] for v in seen]))
                for d, seen in observed.items()
            ]
        )
    )


def joint_utility(
    diagram: InfluenceDiagram, weights: dict[int, Floats] | None = None
) -> tuple[Floats, Floats]:
    """P(chance | decisions), and it times the sum of utilities, over all variables."""
    n, cards = len(diagram.domain), diagram.domain.cards
    axes = list(range(n))
    tables = [
        (cpd.family, cpd.probabilities) for cpd in diagram.cpds if cpd is not None
    ]
    tables += [((v,), weight) for v, weight in (weights or {}).items()]
    operands = [part for family, table in tables for part in (table, list(family))]
    ones = np.ones(cards)
    joint = np.einsum(ones, axes, *operands, axes)
    total = np.zeros(cards)
    for node, utility in enumerate(diagram.utilities, start=n):
        total += np.einsum(
            ones, axes, utility.values, list(diagram.dag.parents[node]), axes
        )
    return joint, joint * total


def best_by_trying(
    diagram: InfluenceDiagram,
    *,
    forgets: bool = False,
    weights: dict[int, Floats] | None = None,
) -> float:
    """The highest expected utility of all strategies of one or two decisions."""
    joint, worth = joint_utility(diagram, weights)
    observed = observed_by(diagram, forgets=forgets)
    n = worth.ndim
    axes = list(range(n))
    policies = []
    for decision, seen in observed.items():
        shape = [worth.shape[v] for v in seen]
        options = np.eye(worth.shape[decision])
        choices = np.array(
            list(product(range(len(options)), repeat=int(np.prod(shape)))), dtype=int
        )
        policies.append((options[choices].reshape(len(choices), *shape, -1), decision))
    # Every strategy has the same probability of the evidence.
    uniform = np.prod([worth.shape[d] for d in observed], initial=1.0)
    evidence = joint.sum() / uniform
    if not policies:
        return float(worth.sum() / evidence)
    (*rest, (last, decision)) = policies
    seen = observed[decision]
    # Strategies of the last decision by what it is summed over with the others'.
    kept = sorted(
        {v for d, own in observed.items() if d != decision for v in (d, *own)}
    )
    table = np.einsum(last, [n, *seen, decision], worth, axes, [n, *kept])
    if not rest:
        return float(table.max() / evidence)
    ((first, decision),) = rest
    values = np.einsum(first, [n + 1, *observed[decision], decision], table, [n, *kept])
    return float(values.max() / evidence)


def best_by_backward_induction(diagram: InfluenceDiagram) -> float:
    """The highest expected utility by summing and maximising the whole joint."""
    _, worth = joint_utility(diagram)
    observed = observed_by(diagram, forgets=False)
    for decision in reversed(observed):
        seen = {*observed[decision], decision}
        unseen = tuple(v for v in range(worth.ndim) if v not in seen)
        worth = worth.sum(axis=unseen, keepdims=True)
        worth = worth.max(axis=decision, keepdims=True)
    return float(worth.sum())
