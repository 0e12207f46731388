"""Random networks, models and rows for the property tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.one_dependence_model import AveragedOneDependenceModel

Rows = list[list[int | None]]


def domain_of(cards: Sequence[int]) -> Domain:
    """A domain with variables v0, v1, ... and so many states each."""
    return Domain(
        tuple(Variable(f"v{i}", tuple(range(card))) for i, card in enumerate(cards))
    )


def random_network(
    rng: np.random.Generator, cards: Sequence[int], dag: DAG
) -> BayesianNetwork:
    """A network whose distributions are drawn evenly from all there are."""
    cpds = []
    for family in dag.families:
        *parents, child = (cards[member] for member in family)
        cpds.append(TableCPD(family, rng.dirichlet(np.ones(child), size=parents)))
    return BayesianNetwork(domain_of(cards), dag, tuple(cpds))


def codes_of(rows: Rows, cards: Sequence[int]) -> Codes:
    """Codes of rows in which None is missing."""
    columns = [
        np.array([card if row[i] is None else row[i] for row in rows], dtype=np.int64)
        for i, card in enumerate(cards)
    ]
    return Codes.from_columns(columns, cards)


def rows_of(codes: Codes) -> Rows:
    """The rows that codes stand for."""
    columns = [codes.column(i).tolist() for i in range(codes.n_variables)]
    return [
        [None if code == card else code for code, card in zip(row, codes.cards)]
        for row in zip(*columns, strict=True)
    ]


@st.composite
def seeded_generators(draw: st.DrawFn) -> np.random.Generator:
    """Generators for numbers that need no shrinking."""
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1)))


@st.composite
def network_models(
    draw: st.DrawFn, *, class_everywhere: bool = True, max_features: int = 5
) -> NetworkModel:
    """Models over a random graph; the class is a parent of all or of some features."""
    n_features = draw(st.integers(1, max_features))
    cards = draw(st.lists(st.integers(1, 3), min_size=n_features, max_size=n_features))
    cards.append(draw(st.integers(1, 3)))
    order = draw(st.permutations(range(n_features)))
    parents: list[tuple[int, ...]] = [()] * (n_features + 1)
    for position, node in enumerate(order):
        above = (
            set(draw(st.sets(st.sampled_from(order[:position])))) if position else set()
        )
        if class_everywhere or draw(st.booleans()):
            above.add(n_features)
        parents[node] = tuple(draw(st.permutations(sorted(above))))
    rng = draw(seeded_generators())
    return NetworkModel(random_network(rng, cards, DAG(tuple(parents))))


@st.composite
def one_dependence_models(
    draw: st.DrawFn, *, max_features: int = 4
) -> AveragedOneDependenceModel:
    """Averaged models with random tables, of which some states are unusable."""
    n_features = draw(st.integers(1, max_features))
    cards = draw(st.lists(st.integers(1, 3), min_size=n_features, max_size=n_features))
    n_classes = draw(st.integers(1, 3))
    usable_share = draw(st.sampled_from([0.0, 0.5, 1.0]))
    return random_one_dependence(
        draw(seeded_generators()), cards, n_classes, usable_share
    )


def random_one_dependence(
    rng: np.random.Generator,
    cards: Sequence[int],
    n_classes: int,
    usable_share: float = 1.0,
) -> AveragedOneDependenceModel:
    """An averaged model with random tables."""
    width = sum(cards) + len(cards)
    starts = np.cumsum([0, *(card + 1 for card in cards[:-1])])
    parents = np.ones((n_classes, width))
    children = np.ones((n_classes, width, width))
    for start, card in zip(starts, cards, strict=True):
        states = slice(start, start + card)
        parents[:, states] = rng.dirichlet(np.ones(card), size=n_classes)
        for other, other_card in zip(starts, cards, strict=True):
            if other != start:
                block = rng.dirichlet(np.ones(card), size=(n_classes, other_card))
                children[:, other : other + other_card, states] = block
    return AveragedOneDependenceModel(
        domain_of([*cards, n_classes]),
        rng.dirichlet(np.ones(n_classes)),
        parents,
        children,
        rng.random(width) < usable_share,
    )


@st.composite
def incomplete_rows(draw: st.DrawFn, model: Any, *, max_rows: int = 4) -> Rows:
    """A few rows of a model's features, any of them missing."""
    cells = [
        st.one_of(st.none(), st.integers(0, card - 1))
        for card in model.domain.cards[:-1]
    ]
    row = st.tuples(*cells).map(list)
    return draw(st.lists(row, min_size=1, max_size=max_rows))


def complete_codes(rng: np.random.Generator, model: Any, n_rows: int) -> Codes:
    """Random rows without missing cells."""
    cards = model.domain.cards[:-1]
    return Codes.from_columns([rng.integers(0, c, n_rows) for c in cards], cards)
