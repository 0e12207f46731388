"""Questions about several variables equal sums over the whole joint distribution."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given as given_cases
from hypothesis import settings
from hypothesis import strategies as st

from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.inference.family_decomposition import ProductBuilder
from bayleaf.inference.queries import Inference
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each
from oracles.context_networks import random_context_network, random_forms
from oracles.joint_table import joint_table, marginal
from property.networks import seeded_generators
from property.queried_networks import (
    LIMITS,
    possible_evidence,
    within_limit,
)
from property.spoken_events import happens, mixed_networks, random_event


@st.composite
def cases(draw: st.DrawFn) -> Any:
    """A network, evidence, a text that may be known too, and a joint table of both."""
    network = draw(mixed_networks())
    rng = draw(seeded_generators())
    evidence, likelihoods = possible_evidence(rng, network)
    joint = joint_table(network, likelihoods)
    known: Any = evidence
    if rng.random() < 0.4:
        text, says = random_event(rng, network.domain, 2)
        within = joint * happens(says, network.domain.cards)
        if within.sum() > 0:
            known, joint = [evidence, text], within
    return network, rng, known, joint


def some(rng: np.random.Generator, network: BayesianNetwork) -> list[int]:
    """Up to four variables, in any order."""
    n = len(network.domain)
    return rng.permutation(n)[: int(rng.integers(1, min(n, 4) + 1))].tolist()


def names(network: BayesianNetwork, variables: list[int]) -> list[Any]:
    """Their names."""
    return [network.domain[v].name for v in variables]


@settings(deadline=None, max_examples=60)
@given_cases(cases(), LIMITS)
def test_joints_equal_enumeration(case: Any, limit: int) -> None:
    check_joint(case, limit)


def check_joint(case: Any, limit: int) -> None:
    """Compare the joint table of some variables with sums of the whole one."""
    network, rng, known, joint = case
    wanted = some(rng, network)
    ask = Inference(network, max_table_cells=limit).joint
    found = within_limit(partial(ask, names(network, wanted), known), limit)
    if found is None:
        return
    expected = marginal(joint, *wanted) / joint.sum()
    np.testing.assert_allclose(found.probabilities, expected, rtol=0, atol=1e-12)
    assert found.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-11)


@settings(deadline=None, max_examples=60)
@given_cases(cases(), LIMITS)
def test_events_equal_enumeration(case: Any, limit: int) -> None:
    check_event(case, limit)


def check_event(case: Any, limit: int) -> None:
    """Compare the probability of a random event with a sum of the whole joint table."""
    network, rng, known, joint = case
    text, says = random_event(rng, network.domain)
    inference = Inference(network, max_table_cells=limit)
    found = within_limit(partial(inference.probability, text, known), limit)
    if found is None:
        return
    expected = joint[happens(says, network.domain.cards)].sum() / joint.sum()
    assert found == pytest.approx(expected, abs=1e-12)
    log_found = inference.log_probability(text, known)
    assert math.exp(log_found) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given_cases(cases())
def test_the_most_probable_states_of_some_equal_enumeration(case: Any) -> None:
    check_most_probable(case)


def check_most_probable(case: Any) -> None:
    """Compare the most probable states of some variables with those of the joint."""
    network, rng, known, joint = case
    wanted = some(rng, network)
    found = network.most_probable(names(network, wanted), known)
    states, ordered = found.states, sorted(wanted)
    summed = marginal(joint, *ordered) / joint.sum()
    assert found.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-11)
    assert found.probability == pytest.approx(summed.max(), abs=1e-12)
    best = np.flatnonzero(summed >= summed.max() * (1 - 1e-10))
    codes = tuple(
        network.domain[v].state_index[states[network.domain[v].name]] for v in ordered
    )
    assert np.ravel_multi_index(codes, summed.shape) == best[0]


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given_cases(cases(), LIMITS)
def test_questions_to_many_networks_equal_enumeration(case: Any, limit: int) -> None:
    check_joint(case, limit)
    check_event(case, limit)
    check_most_probable(case)


def test_trees_and_grouped_tables_taken_apart_equal_enumeration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        network = random_context_network(rng, 6, zeros=0.1)

        def apart(cards: Any, cpds: Any, max_table_cells: int) -> Any:
            forms = random_forms(rng, SimpleNamespace(cpds=cpds))
            return ProductBuilder(cards, cpds).product(forms)

        monkeypatch.setattr("bayleaf.inference.exact_query.small_product", apart)
        evidence, likelihoods = possible_evidence(rng, network)
        joint = joint_table(network, likelihoods)
        wanted = sorted(some(rng, network))
        expected = marginal(joint, *wanted) / joint.sum()
        found = network.joint(names(network, wanted), evidence)
        np.testing.assert_allclose(found.probabilities, expected, rtol=0, atol=1e-12)
        best = network.most_probable(names(network, wanted), evidence)
        assert best.probability == pytest.approx(expected.max(), abs=1e-12)
        text, says = random_event(rng, network.domain)
        happening = joint[happens(says, network.domain.cards)].sum() / joint.sum()
        assert network.probability(text, evidence) == pytest.approx(
            happening, abs=1e-12
        )

    check_each(range(25), check)


@settings(deadline=None, max_examples=60)
@given_cases(mixed_networks(), seeded_generators())
def test_a_conjunction_is_the_same_evidence_as_a_mapping(
    network: BayesianNetwork, rng: np.random.Generator
) -> None:
    joint = joint_table(network)
    codes = np.unravel_index(int(joint.argmax()), joint.shape)
    chosen = some(rng, network)
    domain = network.domain
    mapping = {domain[v].name: domain[v].states[codes[v]] for v in chosen}
    text = " and ".join(
        f'{domain[v].name} = "{domain[v].label(codes[v])}"' for v in chosen
    )
    by_text, by_mapping = network.query(text), network.query(mapping)
    assert by_text.to_dict() == by_mapping.to_dict()
    assert by_text.log_evidence == by_mapping.log_evidence
    explanation = network.most_probable_explanation(text)
    assert explanation == network.most_probable_explanation(mapping)


@settings(deadline=None, max_examples=40)
@given_cases(cases())
def test_a_joint_does_not_depend_on_the_order_of_its_variables(case: Any) -> None:
    network, rng, known, _ = case
    wanted = names(network, some(rng, network))
    one = network.joint(wanted, known)
    other = network.joint(wanted[::-1], known)
    assert (one.probabilities == other.probabilities.T).all()


def chain(n: int, card: int = 2) -> BayesianNetwork:
    """Variables x0, x1, ... that keep their state with probability 0.9."""
    table = np.full((card, card), 0.1 / (card - 1))
    np.fill_diagonal(table, 0.9)
    states = {f"x{i}": [f"s{code}" for code in range(card)] for i in range(n)}
    return BayesianNetwork.from_tables(
        states=states,
        parents={f"x{i}": [f"x{i - 1}"] for i in range(1, n)},
        tables={f"x{i}": table if i else np.full(card, 1 / card) for i in range(n)},
    )


def test_an_event_over_many_variables_needs_no_table_over_all_of_them() -> None:
    network = chain(200).compile(max_table_cells=1000)
    text = " or ".join(f"x{i} = s1" for i in range(200))
    expected = 200 * math.log(0.9) + math.log(0.5 / 0.9)
    assert network.log_probability(f"not ({text})") == pytest.approx(expected)
    assert network.probability(text) == pytest.approx(-math.expm1(expected), abs=1e-14)


def test_tiny_probabilities_are_told_by_their_logarithm() -> None:
    network = chain(400)
    text = " and ".join(f"x{i} = s{i % 2}" for i in range(400))
    assert network.probability(text) == 0.0
    expected = math.log(0.5) + 399 * math.log(0.1)
    assert network.log_probability(text) == pytest.approx(expected, rel=1e-12)
    either = f"({text}) or ({text.replace('x0 = s0', 'x0 = s1')})"
    more = math.log(0.5) + 398 * math.log(0.1)
    assert network.log_probability(either) == pytest.approx(more, rel=1e-12)


def test_the_best_states_of_many_variables_need_no_table_over_all_of_them() -> None:
    network = chain(60, 3).compile(max_table_cells=1000)
    wanted = [f"x{i}" for i in range(0, 60, 2)]
    best = network.most_probable(wanted, {"x0": "s1"})
    assert best.states == dict.fromkeys(wanted, "s1")
    stays = 0.9**2 + 2 * 0.05**2
    assert best.probability == pytest.approx(stays**29, rel=1e-12)


def test_a_joint_that_is_too_large_is_refused_with_its_size() -> None:
    network = chain(40).compile(max_table_cells=10_000)
    sentence = (
        r"1\.1e\+12 cells over x0, x1, .*max_table_cells=10000; .*fewer variables"
    )
    with pytest.raises(ValueError, match=sentence):
        network.joint([f"x{i}" for i in range(40)])


def test_thousands_of_observed_children_do_not_underflow() -> None:
    n = 700
    network = BayesianNetwork.from_tables(
        states={"c": ["a", "b"], **{f"x{i}": ["0", "1"] for i in range(n)}},
        parents={f"x{i}": ["c"] for i in range(n)},
        tables={
            "c": [0.5, 0.5],
            **{f"x{i}": [[0.9, 0.1], [0.1, 0.9]] for i in range(n)},
        },
    )
    evidence = {f"x{i}": str(i % 2) for i in range(n)}
    assert network.joint("c", evidence)["a"] == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("x0 = s0 and x0 = s1", "x0 = s0 and x0 = s1 can never hold"),
        ([{"x0": "s0"}, "x0 = s1"], "x0 = s0 and x0 = s1 cannot be together"),
    ],
)
def test_what_contradicts_itself_is_impossible(given: Any, sentence: str) -> None:
    with pytest.raises(ImpossibleEvidenceError, match=sentence):
        chain(3).probability("x1 = s0", given)


def test_impossible_conditions_are_named() -> None:
    network = BayesianNetwork.from_tables(
        states={"a": ["no", "yes"], "b": ["no", "yes"]},
        parents={"b": ["a"]},
        tables={"a": [0.5, 0.5], "b": [[1, 0], [0, 1]]},
    )
    sentence = "a = no and b = yes cannot be together under this network"
    for ask in (network.joint, network.most_probable):
        with pytest.raises(ImpossibleEvidenceError, match=sentence) as caught:
            ask(["a"], "a = no and b = yes")
        assert caught.value.variables == ("a", "b")
    exclusive = "(a = no or b = no) and (a = yes or b = yes)"
    with pytest.raises(ImpossibleEvidenceError, match="cannot hold under this network"):
        network.probability("a = yes", exclusive)
    assert network.probability(exclusive) == 0.0
    assert network.log_probability(exclusive) == -math.inf


def test_other_questions_refuse_conditions_that_join_variables_by_or() -> None:
    with pytest.raises(ValueError, match="'or' joins conditions on x0 and x1, but"):
        chain(3).query("x0 = s1 or x1 = s1")


def test_likelihoods_are_no_event() -> None:
    with pytest.raises(ValueError, match="an event must be a set of states"):
        chain(2).probability({"x0": {"s0": 0.2, "s1": 0.8}})
    with pytest.raises(TypeError, match="an event must be a text such as"):
        chain(2).probability(3)  # type: ignore[arg-type]


def test_events_may_be_mappings() -> None:
    network = chain(3)
    by_text = network.probability("x0 = s0 and x2 = s1", "x1 = s0")
    assert network.probability({"x0": "s0", "x2": "s1"}, {"x1": "s0"}) == by_text
    assert by_text == pytest.approx(0.9 * 0.1, abs=1e-15)


def test_no_variable_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="name at least one variable"):
        chain(2).joint([])
    with pytest.raises(ValueError, match="there is no variable 'x9'"):
        chain(2).most_probable(["x9"])


def test_constant_events_are_certain_or_impossible() -> None:
    network = chain(2)
    assert network.probability("x0 = s0 or not x0 = s0") == 1.0
    assert network.probability("x0 = s0 and x0 = s1") == 0.0
    assert network.log_probability("x0 in {s0, s1}") == 0.0
