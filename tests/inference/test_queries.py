"""Answers to questions equal sums over the whole joint distribution."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given as given_cases
from hypothesis import settings
from hypothesis import strategies as st

from bayleaf.inference.evidence import ImpossibleEvidenceError, Not
from bayleaf.inference.queries import Inference
from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.joint_table import joint_table, marginal
from oracles.small_networks import random_network, smoking
from property.queried_networks import (
    LIMITS,
    queries,
    random_evidence,
    sparse_networks,
    within_limit,
)


@settings(deadline=None, max_examples=60)
@given_cases(queries(), LIMITS)
def test_posteriors_equal_enumeration(case: Any, limit: int) -> None:
    network, evidence, likelihoods = case
    joint = joint_table(network, likelihoods)
    inference = Inference(network, max_table_cells=limit)
    for position, variable in enumerate(network.domain):
        found = within_limit(partial(inference.query, evidence, variable.name), limit)
        if found is None:
            continue
        expected = marginal(joint, position) / joint.sum()
        np.testing.assert_allclose(
            found[variable.name].probabilities, expected, rtol=0, atol=1e-12
        )
        assert found.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-11)


@settings(deadline=None, max_examples=40)
@given_cases(queries())
def test_the_most_probable_explanation_equals_enumeration(case: Any) -> None:
    network, evidence, likelihoods = case
    joint = joint_table(network, likelihoods)
    best = Inference(network).most_probable_explanation(evidence)
    states, log_probability, log_evidence = best
    assert log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-11)
    assert best.probability == pytest.approx(joint.max() / joint.sum(), rel=1e-9)
    assert best.probability == pytest.approx(np.exp(log_probability))
    codes = tuple(v.state_index[states[v.name]] for v in network.domain)
    assert joint[codes] == pytest.approx(joint.max(), rel=1e-12)


@settings(deadline=None, max_examples=40)
@given_cases(sparse_networks(), st.integers(0, 2**32 - 1))
def test_the_conflict_that_is_named_is_impossible_and_minimal(
    network: BayesianNetwork, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    evidence, likelihoods = random_evidence(rng, network, share=1.0)
    inference = Inference(network)
    if joint_table(network, likelihoods).sum() > 0:
        assert inference.query(evidence).log_evidence > -np.inf
        return
    with pytest.raises(ImpossibleEvidenceError) as raised:
        inference.query(evidence)
    named = {network.domain.index(name) for name in raised.value.variables}
    kept = {v: likelihood for v, likelihood in likelihoods.items() if v in named}
    assert joint_table(network, kept).sum() == 0
    for variable in named:
        rest = {v: likelihood for v, likelihood in kept.items() if v != variable}
        assert joint_table(network, rest).sum() > 0


def test_items_that_keep_a_network_small_are_named_in_a_conflict() -> None:
    causes = [f"c{i}" for i in range(4)]
    never = np.zeros((2, 2, 2, 2, 2))
    never[..., 0] = 1.0
    network = BayesianNetwork.from_tables(
        states={name: ["no", "yes"] for name in [*causes, "effect", "other"]},
        parents={"effect": causes},
        tables={
            **{name: [0.5, 0.5] for name in [*causes, "other"]},
            "effect": never,
        },
    )
    known = {**dict.fromkeys(causes, "no"), "effect": "yes", "other": "yes"}
    with pytest.raises(ImpossibleEvidenceError) as alone:
        Inference(network).query(known)
    assert alone.value.variables == ("effect",)
    with pytest.raises(ImpossibleEvidenceError) as small:
        Inference(network, max_table_cells=8).query(known)
    assert small.value.variables == ("c0", "c1", "effect")


def test_impossible_evidence_is_named_in_a_sentence() -> None:
    inference = Inference(smoking())
    with pytest.raises(ImpossibleEvidenceError) as raised:
        inference.query({"cough": "yes", "cancer": ["no", "yes"], "smoker": "no"})
    assert str(raised.value) == (
        "smoker = no and cough = yes cannot be together under this network"
    )


def test_the_probability_of_impossible_evidence_is_zero() -> None:
    inference = Inference(smoking())
    assert inference.probability_of_evidence({"smoker": "no", "cough": "yes"}) == 0.0
    assert inference.log_probability_of_evidence(
        {"smoker": "no", "cough": "yes"}
    ) == float("-inf")


@pytest.mark.parametrize("ask", ["most_probable_explanation", "conflict", "query"])
def test_questions_under_impossible_evidence_are_refused(ask: str) -> None:
    inference = Inference(smoking())
    with pytest.raises(ImpossibleEvidenceError, match="cannot be together"):
        getattr(inference, ask)({"smoker": "no", "cough": "yes"})


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300, 8e307])
def test_the_scale_of_likelihoods_changes_nothing_but_the_evidence(
    scale: float,
) -> None:
    network = smoking()
    likelihoods = {name: np.array([1.0, 2.0]) for name in network.domain.names}
    scaled = {name: likelihood * scale for name, likelihood in likelihoods.items()}
    found, expected = network.query(scaled), network.query(likelihoods)
    for name in network.domain.names:
        np.testing.assert_allclose(
            found[name].probabilities, expected[name].probabilities, atol=1e-12
        )
    shift = 3 * np.log(scale)
    assert found.log_evidence == pytest.approx(expected.log_evidence + shift)
    assert network.log_probability_of_evidence(scaled) == found.log_evidence
    best = network.most_probable_explanation(scaled)
    other = network.most_probable_explanation(likelihoods)
    assert best.states == other.states
    assert best.log_probability == pytest.approx(other.log_probability)
    assert best.log_evidence == pytest.approx(other.log_evidence + shift)
    assert network.conflict(scaled) == pytest.approx(network.conflict(likelihoods))
    drawn = [network.sample(50, e, random_state=0) for e in (scaled, likelihoods)]
    assert drawn[0].equals(drawn[1])


def test_a_network_without_variables_is_told_apart() -> None:
    with pytest.raises(ValueError, match="the network has no variables; give it some"):
        BayesianNetwork.from_tables(states={}, tables={}).query()


def test_wrong_arguments_are_refused_in_a_sentence() -> None:
    network = smoking()
    with pytest.raises(TypeError, match="a name or several names, got float"):
        network.query(targets=5.5)
    with pytest.raises(TypeError, match="given must be a mapping from names"):
        network.sensitivity({"cough": "yes"}, "cancer", "yes", ["smoker"])  # type: ignore[arg-type]
    for limit in (0, "x"):
        with pytest.raises(ValueError, match="max_table_cells must be an integer"):
            network.compile(max_table_cells=limit)  # type: ignore[arg-type]


def test_a_single_impossible_item_is_named_alone() -> None:
    network = smoking().with_table(0, np.array([1.0, 0.0]))
    with pytest.raises(ImpossibleEvidenceError) as raised:
        Inference(network).query({"smoker": "yes", "cough": "no"})
    assert str(raised.value) == "smoker = yes has probability 0 under this network"


def test_no_evidence_gives_priors_and_probability_one() -> None:
    found = Inference(smoking()).query()
    assert list(found) == ["smoker", "cancer", "cough"]
    assert found.log_evidence == pytest.approx(0.0, abs=1e-15)
    assert found["cancer"]["yes"] == pytest.approx(0.125, abs=1e-15)


def test_one_target_may_be_named_without_a_list() -> None:
    assert list(Inference(smoking()).query({"cough": "yes"}, "smoker")) == ["smoker"]


def test_an_unknown_target_is_refused_with_a_near_name() -> None:
    with pytest.raises(ValueError, match="no variable 'smokr'; did you mean smoker"):
        Inference(smoking()).query(targets=["smokr"])


def test_evidence_that_says_nothing_changes_nothing() -> None:
    inference = Inference(smoking())
    empty = {"cough": None, "cancer": ["no", "yes"], "smoker": Not()}
    found = inference.query(empty)
    assert found.to_dict() == inference.query().to_dict()


def test_a_network_too_large_is_answered_from_the_part_that_matters() -> None:
    rng = np.random.default_rng(0)
    n_causes = 8
    causes = [f"c{i}" for i in range(n_causes)]
    table = rng.dirichlet(np.ones(2), size=(2,) * n_causes)
    network = BayesianNetwork.from_tables(
        states={name: ["no", "yes"] for name in [*causes, "effect", "start"]},
        parents={"effect": causes, "c0": ["start"]},
        tables={
            **{name: [0.5, 0.5] for name in causes[1:]},
            "c0": [[0.9, 0.1], [0.2, 0.8]],
            "start": [0.3, 0.7],
            "effect": table,
        },
    )
    inference = Inference(network, max_table_cells=16)
    assert inference.query({"c0": "yes"}, "start")["start"]["yes"] == pytest.approx(
        0.56 / 0.59, abs=1e-12
    )
    known = dict.fromkeys(causes[1:-1], "yes")
    found = inference.query({**known, "effect": "yes"}, "c7")
    joint = marginal(joint_table(network), *range(9))
    slice_ = joint[(slice(None), *[1] * (n_causes - 2))][..., 1].sum(axis=0)
    assert found["c7"]["yes"] == pytest.approx(slice_[1] / slice_.sum(), abs=1e-12)
    with pytest.raises(ValueError, match="max_table_cells"):
        inference.query({"effect": "yes"}, "start")


def test_targets_are_answered_in_groups_where_one_tree_would_be_too_large() -> None:
    # Two effects of four causes each fit within the limit, both together do not.
    causes = [f"c{i}" for i in range(4)]
    rng = np.random.default_rng(0)
    network = BayesianNetwork.from_tables(
        states={name: ["no", "yes"] for name in [*causes, "left", "right", "both"]},
        parents={
            "left": causes[:3],
            "right": causes[1:],
            "both": ["left", "right", "c0", "c3"],
        },
        tables={
            **{name: rng.dirichlet([1, 1]) for name in causes},
            "left": rng.dirichlet([1, 1], size=(2, 2, 2)),
            "right": rng.dirichlet([1, 1], size=(2, 2, 2)),
            "both": rng.dirichlet([1, 1], size=(2, 2, 2, 2)),
        },
    )
    inference = Inference(network, max_table_cells=16)
    names = [*causes, "left", "right"]
    found = inference.query(targets=["right", *names[:-1]])
    assert list(found) == ["right", *names[:-1]]
    joint = joint_table(network)
    for position, name in enumerate(names):
        np.testing.assert_allclose(
            found[name].probabilities, marginal(joint, position), rtol=0, atol=1e-12
        )
    assert inference.log_probability_of_evidence({}) == pytest.approx(0.0, abs=1e-15)
    assert inference.query(targets=[]).log_evidence == pytest.approx(0.0, abs=1e-15)
    with pytest.raises(ValueError, match="max_table_cells=16"):
        inference.query()
    with pytest.raises(ValueError, match="max_table_cells=16"):
        inference.query(targets="both")


_QUESTIONS = """
import sys
from bayleaf import BayesianNetwork, learn_parameters
from bayleaf.inference.queries import Inference

names = [f"v{i}" for i in range(8)]
network = BayesianNetwork.from_tables(
    states={name: ["no", "yes"] for name in names},
    parents={name: names[max(0, i - 2) : i] for i, name in enumerate(names) if i},
    tables={
        "v0": [0.2, 0.8],
        "v1": [[0.9, 0.1], [0.4, 0.6]],
        **{name: [[[0.9, 0.1], [0.4, 0.6]]] * 2 for name in names[2:]},
    },
)
inference = Inference(network)
inference.query({"v0": "yes"})
inference.most_probable_explanation({"v7": "no"})
inference.log_probability_of_evidence({"v7": "no"})
holed = {"v0": ["yes", None, "no"], "v5": ["no", "no", None]}
inference.posterior_table(holed, "v3")
inference.log_likelihood(holed)
inference.sample(20, {"v7": "no"})
learn_parameters(network, holed)
assert "sklearn" not in sys.modules
"""


@pytest.mark.slow
def test_asking_a_network_loads_no_scikit_learn() -> None:
    subprocess.run([sys.executable, "-c", _QUESTIONS], check=True)


def test_posteriors_are_made_when_they_are_looked_at_and_kept() -> None:
    found = smoking().query({"cough": "no"}, ["smoker", "cancer"])
    assert list(found) == ["smoker", "cancer"]
    assert len(found) == 2
    assert found["cancer"] is found["cancer"]
    with pytest.raises(KeyError, match="no posterior of 'cough' was asked for"):
        found["cough"]


def test_pickled_posteriors_are_the_same_numbers_without_the_network() -> None:
    found = smoking().query({"cough": "no"})
    dumped = pickle.dumps(found)
    again = pickle.loads(dumped)
    assert again.to_dict() == found.to_dict()
    assert again.log_evidence == found.log_evidence
    assert b"JunctionTree" not in dumped


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda kept: pickle.loads(pickle.dumps(kept))]
)
def test_what_was_asked_before_can_be_copied_and_asked_on(copied: Any) -> None:
    network = smoking()
    for limit in (20_000_000, 4):
        inference = Inference(network, max_table_cells=limit)
        before = inference.query({"cough": "no"}, "smoker")
        for kept in (copied(inference), copied(network)):
            again = kept.query({"cough": "no"}, "smoker")
            assert again.to_dict() == before.to_dict()


def test_threads_may_ask_one_inference() -> None:
    network = random_network(np.random.default_rng(1), 12, zeros=0.0)
    rng = np.random.default_rng(2)
    questions = [
        {
            variable.name: variable.states[rng.integers(variable.n_states)]
            for variable in network.domain
            if rng.random() < 0.3
        }
        for _ in range(200)
    ]

    def answer(evidence: dict[Any, Any]) -> dict[str, dict[str, float]]:
        return network.query(evidence).to_dict()

    alone = list(map(answer, questions))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(answer, questions * 3)) == alone * 3


def test_equal_evidence_in_other_words_gives_the_same_bits() -> None:
    network = smoking()
    said = ["no", ["no"], Not("yes"), {"no": 1.0, "yes": 0.0}, np.array([1.0, 0.0])]
    found = [network.query({"cough": value}) for value in said]
    for other in found[1:]:
        assert other.to_dict() == found[0].to_dict()
        assert other.log_evidence == found[0].log_evidence


def test_a_row_of_a_frame_is_evidence_as_a_mapping_is() -> None:
    pandas = pytest.importorskip("pandas")
    network = smoking()
    row = {network.names[0]: network.states(network.names[0])[1]}
    series = pandas.Series(row | {network.names[1]: None})
    assert network.query(series).to_dict() == network.query(row).to_dict()
    event = {network.names[2]: network.states(network.names[2])[0]}
    wanted = network.probability(event, row)
    assert network.probability(pandas.Series(event), series) == wanted
    assert network.most_probable([network.names[2]], series).log_evidence < 0
    joint = network.joint(network.names)
    assert joint.given(series)["no", "no"] == joint.given(row)["no", "no"]


def test_names_alone_as_evidence_are_taken_for_targets() -> None:
    network = smoking()
    first, second, _ = network.names
    state = network.states(first)[0]
    for given in (first, [first, second]):
        sentence = (
            f"evidence needs =, such as .*{first} = {state}.*did you mean targets"
        )
        with pytest.raises(ValueError, match=sentence):
            network.query(given)


def test_expressions_stand_for_states_by_name() -> None:
    network = smoking()
    names = network.names
    states = {name: network.states(name)[-1] for name in names[:2]}
    text = " and ".join(f"{name} = {state}" for name, state in states.items())
    assert network.do(text).query().to_dict() == network.do(states).query().to_dict()
    parents = network.parents(names[-1])
    given = {name: network.states(name)[0] for name in parents}
    written = " and ".join(f"{name} = {state}" for name, state in given.items())
    target = names[0], network.states(names[0])[0]
    entry = names[-1], network.states(names[-1])[0]
    by_text = network.sensitivity("{} = {}".format(*target), *entry, written)
    assert by_text == network.sensitivity(dict([target]), *entry, given)
    with pytest.raises(ValueError, match="must give one state to each variable"):
        network.do(f"{names[0]} = {target[1]} or {names[1]} = yes")
