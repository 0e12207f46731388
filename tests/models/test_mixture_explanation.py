"""What an explanation tells of gates and experts, against the bare distributions."""

from __future__ import annotations

import json
from typing import cast

import numpy as np
import pytest

from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.explanation import explain_rows
from bayleaf.models.hierarchical_mixture_model import (
    HierarchicalMixtureModel,
    MixtureExplanation,
)
from bayleaf.models.mixture_banks import node_path, path_name
from oracles.coded_tables import random_codes

CARDS = (2, 3, 4)
CODES = random_codes((*CARDS, 2), 20, missing=0.3).without_last()
LABELS = np.array(["a", "b", "c"])


def _bank(rng: np.random.Generator, n_nodes: int, n_outputs: int) -> NaiveBayesBank:
    tables = [rng.dirichlet(np.ones(card), (n_nodes, n_outputs)) for card in CARDS]
    stacked = np.concatenate([np.moveaxis(table, 2, 0) for table in tables])
    prior = rng.dirichlet(np.ones(n_outputs), n_nodes)
    offsets = np.cumsum([0, *CARDS]).astype(np.int64)
    return NaiveBayesBank(np.log(prior), np.log(stacked), offsets)


def _model(
    architecture: tuple[int, ...], n_starts: int = 1
) -> HierarchicalMixtureModel:
    rng = np.random.default_rng(0)
    sizes = np.cumprod([1, *architecture]).tolist()
    outputs = (*architecture, 3)
    starts = tuple(
        tuple(_bank(rng, size, n) for size, n in zip(sizes, outputs, strict=True))
        for _ in range(n_starts)
    )
    variables = [
        Variable(f"f{i}", tuple("stuv"[:card])) for i, card in enumerate(CARDS)
    ]
    domain = Domain((*variables, Variable("class", tuple(LABELS.tolist()))))
    return HierarchicalMixtureModel(domain, architecture, starts)


def _explained(
    model: HierarchicalMixtureModel, codes: Codes
) -> tuple[list[MixtureExplanation], np.ndarray, np.ndarray]:
    order = np.argsort(-model.class_log_scores(codes), axis=1)
    target, against = order[:, 0], order[:, 1]
    found = explain_rows(model, codes, LABELS, predicted=target, against=against)
    return cast(list[MixtureExplanation], found), target, against


@pytest.mark.parametrize("architecture", [(), (3,), (2, 2), (2, 1, 3)])
def test_shares_of_the_experts_log_odds_add_up_to_the_terms(
    architecture: tuple[int, ...],
) -> None:
    model, codes = _model(architecture, n_starts=2), CODES
    for explanation in _explained(model, codes)[0]:
        experts = explanation.experts
        prior = sum(e.share * e.prior for e in experts)
        assert prior == pytest.approx(explanation.prior, abs=1e-12)
        for feature, term in enumerate(explanation.terms):
            total = sum(e.share * e.contributions[feature] for e in experts)
            assert total == pytest.approx(term.contribution, abs=1e-12)


def test_an_expert_tells_its_own_posterior_and_log_odds() -> None:
    model, codes = _model((2, 2)), CODES
    posteriors = np.exp(model.starts[0][-1].log_posteriors(codes))
    explained, target, against = _explained(model, codes)
    for row, explanation in enumerate(explained):
        for node, expert in enumerate(explanation.experts):
            own = posteriors[row, node]
            assert expert.probability == pytest.approx(own[target[row]], rel=1e-12)
            odds = np.log(own[target[row]] / own[against[row]])
            total = expert.prior + sum(expert.contributions)
            assert total == pytest.approx(odds, abs=1e-12)
            assert expert.path == (1 + node // 2, 1 + node % 2)


def test_weights_of_experts_are_products_of_their_gates_weights() -> None:
    model, codes = _model((2, 3), n_starts=2), CODES
    for explanation in _explained(model, codes)[0]:
        gates = {(gate.start, gate.path): gate for gate in explanation.gates}
        for expert in explanation.experts:
            weight = 1.0
            for depth, child in enumerate(expert.path):
                gate = gates[expert.start, expert.path[:depth]]
                weight *= gate.weights[child - 1]
            assert expert.weight == pytest.approx(weight, rel=1e-12)


def test_a_gate_tells_why_it_favours_a_child() -> None:
    model, codes = _model((2, 3)), CODES
    for explanation in _explained(model, codes)[0]:
        for gate in explanation.gates:
            weights = gate.weights
            assert weights[gate.favoured - 1] == max(weights)
            assert weights[gate.against - 1] == sorted(weights)[-2]
            odds = np.log(weights[gate.favoured - 1] / weights[gate.against - 1])
            total = gate.prior + sum(gate.contributions)
            assert total == pytest.approx(odds, abs=1e-12)


def test_a_missing_feature_tells_neither_gates_nor_experts_anything() -> None:
    model, codes = _model((2, 2)), CODES
    for row, explanation in enumerate(_explained(model, codes)[0]):
        for feature in range(3):
            if codes.missing(feature)[row]:
                assert not any(g.contributions[feature] for g in explanation.gates)
                assert not any(e.contributions[feature] for e in explanation.experts)


def test_the_text_names_the_heaviest_experts_and_the_gates_above_the_first() -> None:
    explanation = _explained(_model((2, 3)), CODES)[0][0]
    text = str(explanation)
    first = max(explanation.experts, key=lambda expert: expert.weight)
    heading, line, *_ = text[text.index("experts by the weight") :].splitlines()
    assert heading == "experts by the weight the gates give them"
    assert f"{first.weight:8.3f}  expert {path_name(first.path)}: " in line
    assert f"{explanation.target} with probability {first.probability:.3f}" in line
    assert "2 more together" in text
    tail = text[text.index("gates on the way") :].splitlines()
    assert len(tail) == 3
    assert "gate root to " in tail[1]
    assert f"gate {first.path[0]} to {first.path[0]}." in tail[2]


def test_the_text_names_the_mixture_where_there_are_several() -> None:
    text = str(_explained(_model((2,), n_starts=2), CODES)[0][0])
    assert "experts by their weight in the mean of 2 mixtures" in text
    weights = [float(line[:10]) for line in text.splitlines() if ": " in line[10:]]
    assert sum(weights[-4:]) == pytest.approx(1.0, abs=0.003)
    assert "of mixture 1" in text
    assert "of mixture 2" in text


def test_one_expert_has_no_gate_to_tell_of() -> None:
    explanation = _explained(_model(()), CODES)[0][0]
    assert explanation.gates == ()
    assert explanation.experts[0].weight == 1.0
    assert explanation.experts[0].share == pytest.approx(1.0, rel=1e-12)
    assert "gates on the way" not in str(explanation)


def test_the_explanation_goes_into_json() -> None:
    explanation = _explained(_model((2, 2)), CODES)[0][3]
    read = json.loads(json.dumps(explanation.to_dict()))
    assert len(read["gates"]) == 3
    assert read["experts"][2]["path"] == [2, 1]
    assert read["terms"][0]["feature"] == "f0"


def test_paths_number_children_from_one() -> None:
    assert [node_path((2, 3), 2, node) for node in range(6)] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 1),
        (2, 2),
        (2, 3),
    ]
    assert node_path((2, 3), 1, 1) == (2,)
    assert [path_name(path) for path in ((), (3,), (1, 2))] == ["root", "3", "1.2"]
