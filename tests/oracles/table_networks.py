"""Networks of grouped tables, scored and changed without any shortcut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import (
    ValueHierarchy,
    abstract,
    abstractable,
    cut_groups,
    n_cuts_below_root,
    refinable,
    refine,
    top_cut,
)
from bayleaf.graph.dag import DAG, CycleError
from bayleaf.scores.local_scores import LocalScore

# For each variable, its parents and the cut through the hierarchy of each.
Structure = tuple[dict[int, tuple], ...]


def small_table(
    seed: int, n_rows: int = 150, n_variables: int = 4
) -> tuple[Codes, Domain, list[ValueHierarchy]]:
    """Variables of two to five states that depend on each other, with hierarchies."""
    rng = np.random.default_rng(seed)
    cards = [int(card) for card in rng.choice([2, 3, 5], n_variables)]
    columns: list[np.ndarray] = []
    for card in cards:
        column = rng.integers(0, card, n_rows)
        if columns:
            other = columns[int(rng.integers(len(columns)))]
            column = np.where(rng.random(n_rows) < 0.6, other % card, column)
        columns.append(column)
    variables = [
        Variable(f"v{i}", tuple("abcde"[:card])) for i, card in enumerate(cards)
    ]
    codes = Codes.from_columns(columns, cards)
    return codes, Domain(tuple(variables)), [tree(v.states) for v in variables]


def tree(states: Sequence) -> ValueHierarchy:
    """A hierarchy with groups below the root, as far as there are states."""
    nested = {
        2: {"any": ["a", "b"]},
        3: {"any": [{"low": ["a", "b"]}, "c"]},
        5: {"any": [{"warm": ["a", "b"]}, {"cold": [{"cool": ["c", "d"]}, "e"]}]},
    }
    return ValueHierarchy.from_nested(nested[len(states)])


def naive_score(
    structure: Structure,
    codes: Codes,
    domain: Domain,
    trees: Sequence[ValueHierarchy],
    score: LocalScore,
) -> float:
    """Score of a network, every table filled row by row of the data.

    A table of incomplete rows is scaled up to the weight of all.
    """
    total, weight = 0.0, float(codes.weights.sum())
    for child, parents in enumerate(structure):
        groups = [cut_groups(trees[p], c, domain[p].states) for p, c in parents.items()]
        table = np.zeros((*map(len, groups), codes.cards[child]))
        for row in range(codes.n_rows):
            if any(codes.missing(v)[row] for v in (child, *parents)):
                continue
            place = [
                next(k for k, group in enumerate(own) if codes.column(p)[row] in group)
                for p, own in zip(parents, groups, strict=True)
            ]
            table[*place, codes.column(child)[row]] += codes.weights[row]
        rows = table.reshape(-1, codes.cards[child])
        if rows.sum() != weight:
            rows = rows * (weight / rows.sum())
        total += float(score.rows_score(rows, len(rows), weight))
        total += score.parents_score(len(parents), len(structure))
        total += score.cuts_score(n_cuts_below_root(trees[p]) for p in parents)
    return total


def is_legal(
    structure: Structure, required: set, forbidden: set, max_parents: int | None
) -> bool:
    """Whether a structure has no cycle and keeps to its constraints."""
    edges = {(p, child) for child, parents in enumerate(structure) for p in parents}
    try:
        DAG.from_arcs(len(structure), sorted(edges))
    except CycleError:
        return False
    most = max(map(len, structure))
    fits = max_parents is None or most <= max_parents
    return fits and required <= edges and not forbidden & edges


def neighbours(
    structure: Structure, trees: Sequence[ValueHierarchy], *, regroup: bool
) -> Iterator[tuple[tuple, Structure]]:
    """All structures one move away, legal or not, each with the move's name."""
    for child, own in enumerate(structure):
        for parent in set(range(len(structure))) - {child, *own}:
            cut = top_cut(trees[parent])
            yield (
                ("add_edge", child, parent, None),
                changed(structure, child, {**own, parent: cut}),
            )
        for parent, cut in own.items():
            less = {p: c for p, c in own.items() if p != parent}
            fewer = changed(structure, child, less)
            yield ("delete_edge", child, parent, None), fewer
            turned = {**structure[parent], child: top_cut(trees[child])}
            yield (
                ("reverse_edge", child, parent, None),
                changed(fewer, parent, turned),
            )
            for kind, step, nodes in (
                ("refine", refine, refinable(trees[parent], cut)),
                ("abstract", abstract, abstractable(trees[parent], cut)),
            ):
                for node in nodes if regroup else ():
                    other = {**own, parent: step(trees[parent], cut, node)}
                    yield (kind, child, parent, node), changed(structure, child, other)


def changed(structure: Structure, child: int, parents: dict[int, tuple]) -> Structure:
    """The structure with other parents of one variable."""
    return (*structure[:child], parents, *structure[child + 1 :])
