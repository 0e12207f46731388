"""Structures learned from rows with holes: expectation maximisation and its end."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds.smoothing import Lidstone
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.partial_values import PartialValues
from bayleaf.data.value_hierarchy import ValueHierarchy, flat_hierarchy
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.row_propagation import log_densities
from bayleaf.latent import structure_learning
from bayleaf.latent.completed_rows import CompletedRows
from bayleaf.latent.structure_learning import StructureOptions, learn_structure
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks.structured_network import network_from_structures
from bayleaf.scores.local_scores import MDL
from bayleaf.search.constraints import Constraints
from bayleaf.search.structure import SearchResult
from bayleaf.search.table_climbing import climb_tables
from offenders import check_each
from oracles.table_networks import naive_score, small_table

NO_SETS = PartialValues.none()
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


def counted(codes: Codes) -> RowCounts:
    """Counts of rows in memory."""
    return RowCounts(codes, has_class=False)


def log_prior(network: BayesianNetwork) -> float:
    """Logarithm of the prior that Laplace's rule stands for, up to a constant."""
    return sum(ALPHA * float(cpd.log_probabilities().sum()) for cpd in network.cpds)


def test_expectation_maximisation_climbs_and_has_ended() -> None:
    def check(seed: int) -> None:
        codes = holed_codes(seed)
        learned = learn_structure(counted(codes), NO_SETS, DOMAIN, options("table"))
        assert list(learned.network.dag.arcs)
        found, rule = learned.found, Lidstone(ALPHA)
        rows = CompletedRows.of_rows(codes, NO_SETS, 0)
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

    check_each(range(3), check)


@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_a_set_of_states_counts_as_its_states_only(
    local_structure: Literal["table", "tree"],
) -> None:
    first = np.repeat([0, 1, 3], [20, 20, 60])
    other = np.zeros(100, dtype=np.intp)
    codes = Codes.from_columns([first, other, other], CARDS)
    sets = PartialValues.from_cells([(np.arange(40, 100), 0, (0, 1))])
    learned = learn_structure(counted(codes), sets, DOMAIN, options(local_structure))
    # All 100 rows hold one of the first two states.
    np.testing.assert_allclose(
        learned.network.cpds[0].probabilities, np.array([51, 51, 1]) / 103, atol=1e-6
    )


# ---- rounds of searches


def rows_of_network(seed: int, n_rows: int = 400) -> tuple[Codes, Domain]:
    """Rows of a random network over six variables, a fifth of the cells missing."""
    rng = np.random.default_rng(seed)
    card, columns = 3, []
    for variable in range(6):
        n_parents = min(variable, int(rng.integers(0, 3)))
        key = np.zeros(n_rows, dtype=np.intp)
        for parent in rng.choice(6, 6, replace=False):
            if parent < variable and n_parents:
                n_parents -= 1
                key = key * card + columns[parent]
        table = rng.dirichlet(np.full(card, 0.5), 9).cumsum(axis=1)[key]
        above = (rng.random(n_rows)[:, None] > table).sum(axis=1)
        columns.append(np.minimum(above, card - 1))
    for column in columns:
        column[rng.random(n_rows) < 0.2] = card
    states = tuple(range(card))
    domain = Domain(tuple(Variable(f"v{i}", states) for i in range(6)))
    return Codes.from_columns(columns, (card,) * 6), domain


def penalty(found: SearchResult, codes: Codes) -> float:
    """Bits of a structure of tables without hierarchies, by the definition."""
    return sum(
        0.5 * (card - 1) * shape.n_rows * math.log2(codes.weights.sum())
        + len(shape.parents) * math.log2(codes.n_variables)
        for card, shape in zip(codes.cards, found.cpd_structures, strict=True)
    )


def observed_score(
    network: BayesianNetwork, found: SearchResult, codes: Codes
) -> float:
    """Log-likelihood of what the rows hold less the penalty, in bits."""
    logs = log_densities(NetworkTrees(network), codes)
    return float(codes.weights @ logs) / math.log(2) - penalty(found, codes)


def searched(codes: Codes, domain: Domain) -> tuple[BayesianNetwork, SearchResult]:
    """What one search finds in rows as they are, counted there."""
    flat = [flat_hierarchy(variable.states) for variable in domain]
    found = climb_tables(
        RowCounts(codes, has_class=False), domain, MDL(), flat, refine=False
    )
    network = network_from_structures(
        domain, found.dag, found.cpd_structures, codes, Lidstone(ALPHA)
    )
    return network, found


def fitted(
    network: BayesianNetwork, found: SearchResult, codes: Codes
) -> BayesianNetwork:
    """The network after fifty steps of expectation maximisation."""
    rows = CompletedRows.of_rows(codes, NO_SETS, 0)
    for _ in range(50):
        rows, _ = rows.weighted(network)
        network = network_from_structures(
            network.domain, found.dag, found.cpd_structures, rows.codes, Lidstone(ALPHA)
        )
    return network


def assert_same(one: BayesianNetwork, two: BayesianNetwork) -> None:
    """The same distributions, bit for bit."""
    for own, other in zip(one.cpds, two.cpds, strict=True):
        np.testing.assert_array_equal(
            own.log_probabilities(), other.log_probabilities()
        )


@pytest.mark.parametrize("seed", [0, 2, 7, 13, 20])
def test_rounds_score_no_less_than_available_cells_or_one_refresh(seed: int) -> None:
    codes, domain = rows_of_network(seed)
    learned = learn_structure(counted(codes), NO_SETS, domain, options("table"))
    score = observed_score(learned.network, learned.found, codes)
    assert learned.observed_score == pytest.approx(score, abs=1e-6)
    first, available = searched(codes, domain)
    assert score >= observed_score(first, available, codes)
    rows, _ = CompletedRows.of_rows(codes, NO_SETS, 0).weighted(first)
    refreshed = searched(rows.codes, domain)
    once = observed_score(fitted(*refreshed, codes), refreshed[1], codes)
    assert score >= once - 0.01


@pytest.mark.parametrize("seed", [3, 26])
def test_the_search_ends_where_its_own_counts_lead_to_nothing_better(
    seed: int,
) -> None:
    codes, domain = rows_of_network(seed)
    learned = learn_structure(counted(codes), NO_SETS, domain, options("table"))
    rows, _ = CompletedRows.of_rows(codes, NO_SETS, 0).weighted(learned.network)
    again = searched(rows.codes, domain)
    score = observed_score(fitted(*again, codes), again[1], codes)
    assert score <= learned.observed_score + 0.01


def test_counts_under_the_best_network_lead_to_better_ones() -> None:
    # Here the counts of available cells mislead the first search.
    codes, domain = rows_of_network(26)
    learned = learn_structure(counted(codes), NO_SETS, domain, options("table"))
    rows, _ = CompletedRows.of_rows(codes, NO_SETS, 0).weighted(
        searched(codes, domain)[0]
    )
    refreshed = searched(rows.codes, domain)
    once = observed_score(fitted(*refreshed, codes), refreshed[1], codes)
    assert learned.observed_score > once + 1.0


def test_further_restarts_find_better_networks() -> None:
    codes, domain = rows_of_network(10)
    one = learn_structure(counted(codes), NO_SETS, domain, options("table"))
    five = learn_structure(
        counted(codes), NO_SETS, domain, options("table", n_restarts=5)
    )
    assert five.observed_score > one.observed_score + 1.0
    assert 0 < five.found.restart < 5


def test_each_restart_refreshes_the_expected_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[int, list[Codes]] = {}
    search = structure_learning._learn_from_counts

    def watched(counts: RowCounts, domain: Domain, asked: StructureOptions) -> Any:
        number = asked.skipped_restarts + asked.n_restarts - 1
        seen.setdefault(number, []).append(counts.codes)
        return search(counts, domain, asked)

    monkeypatch.setattr(structure_learning, "_learn_from_counts", watched)
    codes, domain = rows_of_network(7)
    learned = learn_structure(
        counted(codes), NO_SETS, domain, options("table", n_restarts=3)
    )
    assert list(seen) == [0, 1, 2]
    for first, second, *others in seen.values():
        # Rows as they are, then completed under what the restart found in these.
        assert first is codes
        assert others
        assert second.n_rows > codes.n_rows
        assert not np.array_equal(second.weights, others[0].weights)
    rows, _ = CompletedRows.of_rows(codes, NO_SETS, 0).weighted(learned.network)
    np.testing.assert_array_equal(seen[2][-1].weights, rows.codes.weights)


@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_restarts_do_not_depend_on_threads(
    local_structure: Literal["table", "tree"],
) -> None:
    codes, domain = rows_of_network(5, 200)
    one, two = (
        learn_structure(
            counted(codes),
            NO_SETS,
            domain,
            options(local_structure, n_restarts=3, n_jobs=jobs),
        )
        for jobs in (1, 2)
    )
    assert one.found.trace == two.found.trace
    assert one.observed_score == two.observed_score
    assert_same(one.network, two.network)


@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_a_weight_of_two_is_a_row_twice_with_holes(
    local_structure: Literal["table", "tree"],
) -> None:
    codes, domain = rows_of_network(2, 120)
    counts = np.random.default_rng(2).integers(0, 3, codes.n_rows)
    columns = [codes.column(v) for v in range(codes.n_variables)]
    kept = counts > 0
    weighted = Codes.from_columns(
        [column[kept] for column in columns], codes.cards, counts[kept].astype(float)
    )
    repeated = Codes.from_columns(
        [np.repeat(column, counts) for column in columns], codes.cards
    )
    one, two = (
        learn_structure(
            counted(rows), NO_SETS, domain, options(local_structure, n_restarts=2)
        )
        for rows in (weighted, repeated)
    )
    assert one.observed_score == two.observed_score
    assert_same(one.network, two.network)


def test_a_complete_table_is_searched_once() -> None:
    codes, domain = rows_of_network(0)
    rows, _ = CompletedRows.of_rows(codes, NO_SETS, 0).weighted(
        searched(codes, domain)[0]
    )
    network, found = searched(rows.codes, domain)
    learned = learn_structure(counted(rows.codes), NO_SETS, domain, options("table"))
    assert learned.found.trace == found.trace
    assert learned.observed_score == found.score
    assert_same(learned.network, network)


@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_groups_of_a_hierarchy_in_rows_are_scored_as_sets(
    local_structure: Literal["table", "tree"],
) -> None:
    hierarchy = ValueHierarchy.from_nested({"any": {"low": [0, 1], "high": [2, 3]}})
    own = Variable("v", (0, 1, 2, 3), hierarchy=hierarchy)
    domain = Domain((own, Variable("w", (0, 1))))
    rng = np.random.default_rng(4)
    value = rng.integers(0, 4, 300)
    # Only the group of the first variable tells of the second.
    other = np.where(rng.random(300) < 0.9, value > 1, rng.integers(0, 2, 300))
    vague = np.flatnonzero(rng.random(300) < 0.3)
    low, high = vague[value[vague] < 2], vague[value[vague] > 1]
    sets = PartialValues.from_cells([(low, 0, (0, 1)), (high, 0, (2, 3))])
    value[vague] = 4
    codes = Codes.from_columns([value, other.astype(np.intp)], (4, 2))
    given = StructureOptions(
        local_structure, "given", MDL(), Constraints(), Lidstone(ALPHA)
    )
    learned = learn_structure(counted(codes), sets, domain, given)
    assert len(list(learned.network.dag.arcs)) == 1
    logs = log_densities(NetworkTrees(learned.network), codes, None, sets)
    costs = learned.observed_score - logs.sum() / math.log(2)
    # Free probabilities, and on top of them what names parents, cuts and splits.
    n_parameters = learned.network.n_parameters
    assert -8.0 < costs + 0.5 * n_parameters * math.log2(300) < 0.0
    joint = np.exp(log_densities(NetworkTrees(learned.network), _cells_of((4, 2))))
    groups = joint.reshape(2, 2, 2).sum(axis=1)
    # Groups are known in every row, so that their counts need no expectation.
    seen = np.zeros((2, 2))
    whole = np.where(value == 4, np.isin(np.arange(300), high) * 2, value)
    np.add.at(seen, (whole // 2, codes.column(1).astype(np.intp)), 1)
    np.testing.assert_allclose(groups, seen / 300, atol=0.01)


def _cells_of(cards: tuple[int, ...]) -> Codes:
    """All joint states, the last variable fastest."""
    return Codes.from_columns(list(np.indices(cards).reshape(len(cards), -1)), cards)


def test_rounds_share_the_time_limit_and_warn_of_it() -> None:
    codes, domain = rows_of_network(1)
    limited = StructureOptions(
        "table",
        None,
        MDL(),
        Constraints(time_limit=1e-6),
        Lidstone(ALPHA),
        n_restarts=3,
    )
    with pytest.warns(RuntimeWarning, match="time_limit=1e-06 seconds"):
        learned = learn_structure(counted(codes), NO_SETS, domain, limited)
    assert learned.found.stopped_early
    assert not learned.found.trace
    ample = replace(limited, constraints=Constraints(time_limit=1e3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned = learn_structure(counted(codes), NO_SETS, domain, ample)
    assert not learned.found.stopped_early


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_code_lengths_with_given_and_learned_hierarchies_equal_direct_computation(
    seed: int, refine: bool
) -> None:
    codes, domain, trees = small_table(seed, 400)
    wide = max(range(4), key=lambda v: domain[v].n_states)
    given = trees[wide]
    domain = Domain(
        tuple(
            replace(variable, hierarchy=given) if v == wide else variable
            for v, variable in enumerate(domain)
        )
    )
    asked = replace(options("table"), abstraction="global", refine_hierarchies=refine)
    learned = learn_structure(counted(codes), NO_SETS, domain, asked)
    used = [variable.hierarchy for variable in learned.network.domain]
    assert set(given.nodes) <= set(used[wide].nodes)
    assert refine or used[wide] == given
    structure = tuple(
        dict(zip(shape.parents, shape.cuts, strict=True))
        for shape in learned.found.cpd_structures
    )
    bits = naive_score(structure, codes, domain, used, MDL())
    assert learned.found.score == pytest.approx(bits, abs=1e-6)
