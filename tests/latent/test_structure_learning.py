"""Structures learned from rows with holes: expectation maximisation and its end."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from bayleaf.cpds.smoothing import Lidstone
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.partial_values import PartialValues
from bayleaf.latent.completed_rows import CompletedRows
from bayleaf.latent.structure_learning import (
    StructureOptions,
    learn_structure,
    named_edges,
)
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.structured_network import network_from_structures
from bayleaf.scores.mdl import MDL
from bayleaf.search.structure import Constraints

CARDS = (3, 2, 3)
DOMAIN = Domain(
    tuple(Variable(f"v{i}", tuple(range(card))) for i, card in enumerate(CARDS))
)
ALPHA = 1.0


def options(local_structure: Literal["table", "tree"], **more: Any) -> StructureOptions:
    """Options of a search without hierarchies."""
    return StructureOptions(
        local_structure, None, MDL(), Constraints(), Lidstone(ALPHA), **more
    )


def holed_codes(seed: int) -> Codes:
    """Rows in a chain, a fifth of the cells missing."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, 300)
    second = np.where(rng.random(300) < 0.9, first > 0, rng.integers(0, 2, 300))
    third = np.where(rng.random(300) < 0.8, first, rng.integers(0, 3, 300))
    columns = [first, second.astype(np.intp), third]
    for column, card in zip(columns, CARDS, strict=True):
        column[rng.random(300) < 0.2] = card
    return Codes.from_columns(columns, CARDS)


def log_prior(network: BayesianNetwork) -> float:
    """Logarithm of the prior that Laplace's rule stands for, up to a constant."""
    return sum(ALPHA * float(cpd.log_probabilities().sum()) for cpd in network.cpds)


@pytest.mark.parametrize("seed", range(3))
def test_expectation_maximisation_climbs_and_has_ended(seed: int) -> None:
    codes = holed_codes(seed)
    learned = learn_structure(codes, PartialValues.none(), DOMAIN, options("table"))
    assert list(learned.network.dag.arcs)
    found, rule = learned.found, Lidstone(ALPHA)
    rows = CompletedRows.of_rows(codes, PartialValues.none(), 0)
    network = network_from_structures(
        DOMAIN, found.dag, found.cpd_structures, rows.codes, rule
    )
    heights = []
    for _ in range(60):
        rows, log_likelihood = rows.weighted(network)
        heights.append(log_likelihood + log_prior(network))
        network = network_from_structures(
            DOMAIN, found.dag, found.cpd_structures, rows.codes, rule
        )
    assert (np.diff(heights) >= -1e-9).all()
    _, end = rows.weighted(learned.network)
    assert end == pytest.approx(log_likelihood, abs=0.01)


@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_a_set_of_states_counts_as_its_states_only(
    local_structure: Literal["table", "tree"],
) -> None:
    first = np.repeat([0, 1, 3], [20, 20, 60])
    other = np.zeros(100, dtype=np.intp)
    codes = Codes.from_columns([first, other, other], CARDS)
    sets = PartialValues.from_cells([(np.arange(40, 100), 0, (0, 1))])
    learned = learn_structure(codes, sets, DOMAIN, options(local_structure))
    # All 100 rows hold one of the first two states.
    np.testing.assert_allclose(
        learned.network.cpds[0].probabilities, np.array([51, 51, 1]) / 103, atol=1e-6
    )


def test_names_of_edges_become_indices() -> None:
    assert named_edges("required_edges", [("b", "a")], ["a", "b"]) == {(1, 0)}
    with pytest.raises(ValueError, match="forbidden_edges names 'age_', which is no"):
        named_edges("forbidden_edges", [("age_", "sex")], ["age", "sex"])
