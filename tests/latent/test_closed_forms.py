"""Maxima that are known, whatever the number of rows.

Where columns are seen in a nested way (a row with the second has the first), and which
are seen depends on those seen alone, the maximum of a saturated network is the product
of the shares of each column given those before it, among the rows that have it.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.latent.network_parameters import learn_parameters
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each

# States of the columns in the order in which they are seen, how often the next one is
# seen by the state of the first, and the order of a saturated network's arcs.
PATTERNS = {
    "univariate": ((4,), (0.1,), (0,)),
    "x given y": ((2, 2), (0.1, 0.02), (1, 0)),
    "y given x": ((2, 2), (0.1, 0.5), (0, 1)),
    "class of three": ((4, 3), (0.3, 0.1, 0.05, 0.5), (1, 0)),
    "x given y and z": ((2, 2, 3), (1.0, 1.0, 0.2, 0.05), (2, 0, 1)),
    "two columns": ((3, 2, 2), (0.4, 0.1, 0.2), (2, 1, 0)),
}


def _rows(cards: tuple[int, ...], shares: tuple[float, ...], n: int) -> Codes:
    """Rows of a joint that is drawn, with cells missing at random."""
    rng = np.random.default_rng(len(cards) + n)
    joint = rng.dirichlet(np.full(np.prod(cards), 2.0))
    cells = np.array(np.unravel_index(rng.choice(len(joint), n, p=joint), cards))
    seen = np.ones(n, dtype=bool)
    first = 0 if len(cards) == 1 else 1
    by_state = np.resize(shares, cards[0])
    if shares[0] == 1.0:  # all have the second column, and both decide on the third
        first, by_state = 2, np.resize(shares[2:], cards[0])
    for place in range(first, len(cards)):
        seen &= rng.random(n) < (shares[0] if not first else by_state[cells[0]])
        cells[place, ~seen] = cards[place]
    return Codes.from_columns(list(cells), cards)


def _maximum(codes: Codes) -> NDArray[np.float64]:
    """The joint distribution of the largest likelihood."""
    joint = np.ones(())
    columns = [codes.column(v).astype(np.intp) for v in range(codes.n_variables)]
    for place, card in enumerate(codes.cards):
        has = columns[place] < card
        counts = np.zeros(codes.cards[: place + 1])
        np.add.at(counts, tuple(column[has] for column in columns[: place + 1]), 1.0)
        joint = joint[..., None] * counts / counts.sum(axis=-1, keepdims=True)
    return joint


def _saturated(cards: tuple[int, ...], order: tuple[int, ...]) -> BayesianNetwork:
    """Every variable given all before it; tables are even."""
    parents: list[tuple[int, ...]] = [()] * len(cards)
    for place, node in enumerate(order):
        parents[node] = tuple(sorted(order[:place]))
    cpds = tuple(
        TableCPD(
            (*own, node), np.full([cards[v] for v in (*own, node)], 1 / cards[node])
        )
        for node, own in enumerate(parents)
    )
    domain = Domain(
        tuple(Variable(f"v{i}", tuple(range(c))) for i, c in enumerate(cards))
    )
    return BayesianNetwork(domain, DAG(tuple(parents)), cpds)


def _joint(network: BayesianNetwork) -> NDArray[np.float64]:
    """Probabilities of all joint states."""
    every = range(len(network.domain))
    joint = np.ones(network.domain.cards)
    for cpd in network.cpds:
        axes = sorted(range(len(cpd.family)), key=lambda axis: cpd.family[axis])
        absent = [v for v in every if v not in cpd.family]
        joint = joint * np.expand_dims(cpd.probabilities.transpose(axes), absent)
    return joint


def _check_patterns(n_rows: int) -> None:
    def check(case: tuple[str, float]) -> None:
        (cards, shares, order), error = PATTERNS[case[0]], case[1]
        codes = _rows(cards, shares, n_rows)
        options = {"tol": 1e-8} if error < 1e-5 else {}
        learned = learn_parameters(_saturated(cards, order), codes, **options)
        assert learned.converged
        np.testing.assert_allclose(
            _joint(learned.network), _maximum(codes), rtol=0, atol=error
        )

    # The default ends steps within its own size of the maximum.
    check_each(product(PATTERNS, [1e-5, 1e-6]), check)


def test_maxima_of_a_thousand_rows_are_found() -> None:
    _check_patterns(1_000)


@pytest.mark.slow
def test_maxima_of_a_hundred_thousand_rows_are_found() -> None:
    _check_patterns(100_000)


@pytest.mark.long
def test_maxima_of_a_million_rows_are_found() -> None:
    _check_patterns(1_000_000)
