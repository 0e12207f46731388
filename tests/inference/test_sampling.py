"""Rows are drawn from the very distribution that the network and evidence define."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.graph.dag import DAG
from bayleaf.inference.encoded_rows import read_rows
from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.inference.queries import Inference
from bayleaf.inference.sampling import Draw, decode
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each
from oracles.joint_table import joint_table, marginal
from property.queried_networks import possible_evidence, sparse_network

# Parents in no order, and before or after their children.
ARCS = DAG(((4, 2), (), (1,), (2, 0), (1,), (3, 0), (5, 4)))
CARDS = [2, 3, 2, 3, 2, 4, 2]


def p_value(counts: Any, probabilities: Any) -> float:
    """Chance of counts at least as far from what is expected, by chi-square."""
    counts, probabilities = np.ravel(counts), np.ravel(probabilities)
    assert counts[probabilities == 0].sum() == 0
    expected = probabilities * counts.sum()
    # Rare cells count as one, because the statistic is only nearly chi-square.
    rare = expected < 5
    cells = np.append(expected[~rare], expected[rare].sum())
    found = np.append(counts[~rare], counts[rare].sum())
    cells, found = cells[cells > 0], found[cells > 0]
    if len(cells) < 2:
        return 1.0
    statistic = ((found - cells) ** 2 / cells).sum()
    return float(chi2.sf(statistic, len(cells) - 1))


def counted(codes: Codes, *variables: int) -> Any:
    """How often each joint state of some variables occurs."""
    cards = [codes.cards[v] for v in variables]
    index = np.ravel_multi_index([codes.column(v) for v in variables], cards)
    return np.bincount(index, minlength=int(np.prod(cards))).reshape(cards)


def assert_drawn_from(codes: Codes, joint: Any) -> None:
    """Marginals, pairs and the whole joint distribution agree with the rows."""
    joint = joint / joint.sum()
    everything = range(joint.ndim)
    sets = [
        *itertools.combinations(everything, 1),
        *itertools.combinations(everything, 2),
    ]
    lowest = 0.001 / len(sets)
    for variables in [*sets, tuple(everything)]:
        found = counted(codes, *variables)
        assert p_value(found, marginal(joint, *variables)) > lowest, variables


@pytest.mark.parametrize("seed", range(3))
def test_rows_without_evidence_follow_the_joint_distribution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = sparse_network(rng, CARDS, ARCS)
    codes = Inference(network).sample_codes(20_000, random_state=seed)
    assert_drawn_from(codes, joint_table(network))


def test_rows_under_evidence_follow_the_posterior_distribution() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        network = sparse_network(rng, CARDS, ARCS, zeros=0.15)
        evidence, likelihoods = possible_evidence(rng, network)
        joint = joint_table(network, likelihoods)
        codes = Inference(network).sample_codes(20_000, evidence, random_state=seed)
        assert_drawn_from(codes, joint)

    check_each(range(12), check)


def test_very_rare_evidence_costs_no_more_rows() -> None:
    network = BayesianNetwork.from_tables(
        states={"cause": ["no", "yes"], "effect": ["no", "yes"]},
        parents={"effect": ["cause"]},
        tables={
            "cause": [1 - 1e-12, 1e-12],
            "effect": [[1.0, 0.0], [0.25, 0.75]],
        },
    )
    rows = Inference(network).sample(5, {"effect": "yes"}, random_state=0)
    assert rows.to_pydict() == {"cause": ["yes"] * 5, "effect": ["yes"] * 5}


def test_a_seed_means_the_same_rows_bit_for_bit() -> None:
    network = sparse_network(np.random.default_rng(0), CARDS, ARCS)
    first, again, other = (
        Inference(network).sample_codes(40_000, random_state=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.narrow, again.narrow)
    assert (first.narrow != other.narrow).any()


def test_more_rows_begin_with_the_same_blocks() -> None:
    network = sparse_network(np.random.default_rng(0), CARDS, ARCS)
    few, many = (
        Inference(network).sample_codes(n, random_state=1) for n in (1 << 14, 20_000)
    )
    np.testing.assert_array_equal(few.narrow, many.narrow[:, : 1 << 14])


def test_a_state_is_the_first_whose_cumulative_exceeds_the_uniform() -> None:
    cases: list[int] = [1, 2, 3, 5, 8, 300]

    def check(n_states: int) -> None:
        rng = np.random.default_rng(n_states)
        table = rng.random((4, n_states)) * (rng.random((4, n_states)) > 0.5)
        table[:, rng.integers(n_states)] = 0.5
        draw = Draw.from_table((0,), (1,), table)
        rows = rng.integers(0, 4, 2000)
        uniforms = np.append(rng.random(1996), [0.0, np.nextafter(1.0, 0.0), 0.5, 0.25])
        found = draw.joint_states([rows], uniforms)
        expected = [
            int(np.flatnonzero(draw.cumulative[row] > uniform)[0])
            for row, uniform in zip(rows, uniforms, strict=True)
        ]
        np.testing.assert_array_equal(found, expected)
        assert (table[rows, found] > 0).all()

    check_each(cases, check)


def test_known_variables_stand_in_every_row() -> None:
    network = sparse_network(np.random.default_rng(0), CARDS, ARCS, zeros=0.0)
    codes = Inference(network).sample_codes(100, {"v5": "high"}, random_state=0)
    assert set(codes.column(5).tolist()) == {2}


def test_impossible_evidence_is_refused() -> None:
    network = BayesianNetwork.from_tables(
        states={"a": ["x", "y"], "b": ["x", "y"]},
        parents={"b": ["a"]},
        tables={"a": [0.5, 0.5], "b": [[1.0, 0.0], [0.0, 1.0]]},
    )
    for evidence in ({"a": "x", "b": "y"}, {"a": np.array([0.2, 0.0]), "b": ["y"]}):
        with pytest.raises(ImpossibleEvidenceError, match="cannot be together"):
            Inference(network).sample(3, evidence)


def test_a_table_that_is_too_large_is_refused_with_its_variables() -> None:
    causes = [f"c{i}" for i in range(4)]
    network = BayesianNetwork.from_tables(
        states={name: ["x", "y"] for name in [*causes, "e"]},
        parents={"e": causes},
        tables={
            **{name: [0.5, 0.5] for name in causes},
            "e": np.full((2, 2, 2, 2, 2), 0.5),
        },
    )
    inference = Inference(network, max_table_cells=8)
    with pytest.raises(ValueError, match=r"32 cells over c0, c1, c2, c3, e, more than"):
        inference.sample(3, {"e": "x"})
    assert inference.sample(3, {"c1": "x"}).num_rows == 3


def test_a_wrong_number_of_rows_is_refused() -> None:
    cases: list[Any] = [0, -1, 1.5, True, "3"]

    def check(n: Any) -> None:
        network = sparse_network(np.random.default_rng(0), CARDS, ARCS)
        with pytest.raises(ValueError, match="must be an integer of at least 1, got"):
            Inference(network).sample(n)

    check_each(cases, check)


def test_more_rows_than_any_memory_holds_are_refused() -> None:
    network = BayesianNetwork.from_tables({"n": ["a", "b"]}, {"n": [1, 0]})
    with pytest.raises(ValueError, match="do not fit into memory; draw fewer rows"):
        network.sample(10**30)


def test_whole_numbers_of_more_than_64_bits_are_drawn_as_text() -> None:
    network = BayesianNetwork.from_tables({"n": [2**70, 1]}, {"n": [1, 0]})
    assert network.sample(1).to_pylist() == [{"n": str(2**70)}]


@pytest.mark.parametrize("random_state", [-1, 1.5, "seed"])
def test_a_wrong_seed_is_refused(random_state: Any) -> None:
    network = BayesianNetwork.from_tables({"n": ["a", "b"]}, {"n": [1, 0]})
    with pytest.raises(ValueError, match="random_state must be None, an integer"):
        network.sample(1, random_state=random_state)


def test_rows_are_decoded_to_states_and_holes_to_nulls() -> None:
    domain = Domain(
        (
            Variable("text", ("no", "yes")),
            Variable("count", (0, 5)),
            Variable("flag", (False, True)),
            Variable("mixed", ("a", 1)),
            Variable("part", ("a", None)),
            numeric_variable("age", (40.0,)),
            Variable(3, tuple(f"s{i}" for i in range(300))),
            Variable("200", tuple(f"s{i}" for i in range(200))),
        )
    )
    columns = [np.array([0, 1, 2])] * 6
    columns += [np.array([0, 299, 300]), np.array([127, 199, 200])]
    table = decode(domain, Codes.from_columns(columns, domain.cards))
    assert table.to_pydict() == {
        "text": ["no", "yes", None],
        "count": [0, 5, None],
        "flag": [False, True, None],
        "mixed": ["a", "1", None],
        "part": ["a", None, None],
        "age": ["<= 40", "> 40", None],
        "3": ["s0", "s299", None],
        "200": ["s127", "s199", None],
    }
    assert pa.types.is_dictionary(table.schema.field("text").type)
    assert pa.types.is_integer(table.schema.field("count").type)


def test_drawn_tables_are_read_back_as_the_same_codes() -> None:
    domain = Domain((numeric_variable("age", (40.0, 60.0)), Variable("n", (1, 2))))
    codes = Codes.from_columns([np.array([0, 2, 1]), np.array([1, 0, 1])], domain.cards)
    again = read_rows(domain, decode(domain, codes))
    np.testing.assert_array_equal(again.narrow, codes.narrow)


@pytest.mark.slow
def test_a_million_rows_of_alarm_follow_its_priors(
    data_folder: Path,
) -> None:
    from bayleaf.io import read_network

    network = read_network(data_folder / "networks" / "alarm.bif")
    inference = Inference(network)
    table = inference.sample(1_000_000, random_state=0)
    codes = read_rows(network.domain, table)
    priors = inference.query()
    lowest = 0.001 / len(network.domain)
    for position, variable in enumerate(network.domain):
        counts = counted(codes, position)
        assert p_value(counts, priors[variable.name].probabilities) > lowest
