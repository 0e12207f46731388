"""Scorers run any scoring program as the reference does."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from bayleaf.data.codes import Codes
from bayleaf.io.exports.scorers.classifier_content import program_content
from bayleaf.io.exports.scorers.program.engine import Counts as CountsInFile
from bayleaf.io.exports.scorers.program.engine import Density as DensityInFile
from bayleaf.io.exports.scorers.program.engine import LogSum as LogSumInFile
from bayleaf.io.exports.scorers.program.engine import Look as LookInFile
from bayleaf.io.exports.scorers.program.engine import Program
from bayleaf.io.exports.scorers.program.engine import SumOut as SumOutInFile
from bayleaf.io.exports.scorers.program.engine import Tree as TreeInFile
from bayleaf.scoring.program_scores import contributions, scores
from bayleaf.scoring.terms import (
    PRIOR,
    Bank,
    Counts,
    Density,
    LogSum,
    Look,
    ScoringProgram,
    SumOut,
    Term,
    Tree,
)
from oracles.summed_products import sum_out_of

CARDS, N_CLASSES, N_ROWS = (2, 3, 4), 3, 40
RNG = np.random.default_rng(0)
IN_FILE = [
    LookInFile,
    CountsInFile,
    DensityInFile,
    TreeInFile,
    SumOutInFile,
    LogSumInFile,
]


def nats(*shape: int) -> Any:
    """Random nats."""
    return RNG.normal(size=shape)


def maps(*features: int) -> tuple[Any, ...]:
    """Codings that keep all codes apart."""
    return tuple(np.arange(CARDS[feature] + 1) for feature in features)


def gated_look() -> Look:
    # A joint state without an entry, and a gate that shuts for a missing owner.
    states = np.array([[0, 0], [1, 2], [0, 3], [2, 1], [1, 4]])
    gate = np.array([True, True, True, False])
    return Look(1, (1, 2), maps(1, 2), states, nats(5, N_CLASSES), gate)


def counts() -> Counts:
    cells = RNG.integers((4, 3, 3), size=(30, 3))
    coded = (np.array([0, 1, 1, 2, 3]), *maps(0))
    weights, pseudo = np.array([0.5, 1.5]), (0.5, 1.0, 2.0)
    states = np.minimum(cells[:, :2], (3, 2))
    totals = RNG.integers(1, 9, 30).astype(float)
    return Counts((2, 0), coded, states, cells[:, 2], totals, weights, pseudo, 3)


def density() -> Density:
    positions = tuple(np.sort(nats(CARDS[feature])) for feature in (2, 1))
    squares = np.exp(nats(5, N_CLASSES))
    return Density(
        0.7,
        (2, 1),
        positions,
        nats(2, N_CLASSES),
        squares[:2],
        nats(2, N_CLASSES),
        nats(3, N_CLASSES),
        squares[2],
        squares[3] + 2.0,
        nats(N_CLASSES),
    )


def tree(label: int, *, is_ordered: bool) -> Tree:
    features, states = np.array([2, -1, 1, -1, -1]), np.array([1, 0, 0, 0, 0])
    children, ordered = np.array([1, 0, 3, 0, 0]), np.array([is_ordered] * 5)
    return Tree(label, np.array(CARDS), features, states, children, ordered, nats(5))


def sum_out(weight: float = 1.0) -> SumOut:
    # The class, a latent variable below it, and features below either.
    cards = (*CARDS, 2, N_CLASSES)
    families = [(3, 0), (4, 0, 1), (3, 4, 2), (4, 3), (4,)]
    shapes = [[cards[v] for v in family] for family in families]
    tables = [np.exp(nats(*shape)) for shape in shapes]
    tables = [table / table.sum(axis=-1, keepdims=True) for table in tables]
    return sum_out_of(cards, (2, 0, 1), list(zip(families, tables)), weight)


def bank(n_nodes: int, n_outputs: int, *, has_zeros: bool = False) -> Bank:
    looks = []
    for feature, card in enumerate(CARDS):
        rows = nats(card, n_nodes * n_outputs)
        if has_zeros:
            # Each state leaves some of the nodes.
            rows[:, : 2 * n_outputs] = -np.inf
            rows[0, : 2 * n_outputs] = 0.5
        looks.append(Look.of_states(feature, card, rows))
    missing = np.array([[CARDS[0]]])
    entry = np.zeros((1, n_nodes * n_outputs))
    entry[0, -n_outputs:] = nats(n_outputs)
    looks.append(Look(PRIOR, (0,), maps(0), missing, entry))
    return Bank(nats(n_nodes, n_outputs), tuple(looks))


def impossible() -> LogSum:
    # Known states of the first feature exclude every node.
    rows = np.full((CARDS[0], 2 * N_CLASSES), -np.inf)
    banks = (Bank(nats(2, N_CLASSES), (Look.of_states(0, CARDS[0], rows),)),)
    alone = Look.of_states(1, CARDS[1], nats(CARDS[1], N_CLASSES))
    return LogSum((banks,), fallback=(Look.constant(nats(N_CLASSES)), alone))


TERMS: dict[str, list[Term]] = {
    "a gated table of two features": [gated_look()],
    "counts": [counts()],
    "a density": [density()],
    "trees": [tree(0, is_ordered=True), tree(2, is_ordered=False)],
    "a weighted sum over a latent variable": [sum_out(0.3)],
    "members of which some are impossible": [
        LogSum(((bank(4, N_CLASSES, has_zeros=True),),))
    ],
    "gates over experts": [
        LogSum(((bank(1, 2), bank(2, 2), bank(4, N_CLASSES)),), is_posterior=True)
    ],
    "networks and naive Bayes models": [
        LogSum(((bank(3, N_CLASSES),),), (sum_out(), sum_out(0.5)))
    ],
    "a bank with a gated table of two features": [
        LogSum(((Bank(nats(1, N_CLASSES), (gated_look(),)), bank(3, N_CLASSES)),))
    ],
    "a fallback": [impossible()],
}
TERMS["all of them"] = [term for terms in TERMS.values() for term in terms]


@pytest.mark.parametrize("name", list(TERMS))
def test_a_program_is_run_as_the_reference_runs_it(name: str) -> None:
    terms = [Look.constant(nats(N_CLASSES)), *TERMS[name]]
    program = ScoringProgram.of((*CARDS, N_CLASSES), terms)
    content, kinds = program_content(program)
    assert kinds <= {kind.__name__ for kind in IN_FILE}
    engine = Program(json.loads(json.dumps(content)), IN_FILE)
    table = RNG.integers(np.array(CARDS) + 1, size=(N_ROWS, len(CARDS)))
    codes = Codes.from_columns(list(table.T), CARDS)
    target = RNG.integers(N_CLASSES, size=N_ROWS)
    against = (target + 1) % N_CLASSES
    expected = scores(program, codes)
    prior, odds = contributions(program, codes, target, against)
    for row, own in enumerate(table.tolist()):
        # Scores are defined up to a constant.
        found = np.array(engine.scores(own)) - expected[row]
        np.testing.assert_allclose(found, found[0], rtol=0, atol=1e-12)
        one, others = engine.contributions(own, int(target[row]), int(against[row]))
        np.testing.assert_allclose(others, odds[row], rtol=0, atol=1e-12)
        assert one == pytest.approx(prior[row], abs=1e-12)


def test_families_with_too_many_joint_states_are_refused() -> None:
    coded = tuple(np.array([0, 1 << 32]) for _ in range(2))
    states, one = np.zeros((1, 2), dtype=np.int64), np.ones(1)
    family = Counts((4, 1), coded, states, one.astype(int), one, one, (1, 0, 0), 2)
    with pytest.raises(ValueError, match="feature number 5 and its parents"):
        program_content(ScoringProgram((2,) * 5, np.zeros(2), (family,)))
