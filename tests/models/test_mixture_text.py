"""The tree of gates and experts in words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.hierarchical_mixture_model import (
    HierarchicalMixtureModel,
    deciding_attributes,
    mixture_text,
)

DOMAIN = Domain(
    (
        Variable("sky", ("sun", "fog", "rain")),
        Variable("coin", ("head", "tail")),
        Variable("class", ("in", "out")),
    )
)


def _bank(prior: list[list[float]], tables: list[list[list[float]]]) -> NaiveBayesBank:
    """One node; `tables` by feature, output and state."""
    stacked = np.concatenate([np.array(table).T for table in tables])
    return NaiveBayesBank(
        np.log(prior), np.log(stacked)[:, None, :], np.array([0, 3, 5], dtype=np.int64)
    )


def _gate() -> NaiveBayesBank:
    return _bank(
        [[0.25, 0.75]],
        [[[0.8, 0.1, 0.1], [0.1, 0.2, 0.7]], [[0.5, 0.5], [0.5, 0.5]]],
    )


def _experts() -> NaiveBayesBank:
    rng = np.random.default_rng(0)
    tables = [rng.dirichlet(np.ones(card), (2, 2)) for card in (3, 2)]
    stacked = np.concatenate([np.moveaxis(table, 2, 0) for table in tables])
    prior = np.array([[0.9, 0.1], [0.3, 0.7]])
    offsets = np.array([0, 3, 5], dtype=np.int64)
    return NaiveBayesBank(np.log(prior), np.log(stacked), offsets)


def test_attributes_decide_by_their_mutual_information_with_the_output() -> None:
    expected = 0.0
    prior, table = [0.25, 0.75], [[0.8, 0.1, 0.1], [0.1, 0.2, 0.7]]
    for output, state in np.ndindex(2, 3):
        joint = prior[output] * table[output][state]
        total = sum(prior[o] * table[o][state] for o in range(2))
        expected += joint * math.log(joint / (prior[output] * total))
    found = deciding_attributes(_gate(), 0)
    np.testing.assert_allclose(found, [expected, 0.0], atol=1e-12)


def test_shares_of_all_rows_are_made_distributions_first() -> None:
    gate = _gate()
    scaled = NaiveBayesBank(gate.log_prior, gate.log_table - 0.5, gate.offsets)
    expected = deciding_attributes(gate, 0)
    np.testing.assert_allclose(deciding_attributes(scaled, 0), expected, atol=1e-12)


def test_the_tree_tells_what_decides_each_gate() -> None:
    model = HierarchicalMixtureModel(DOMAIN, (2,), ((_gate(), _experts()),))
    lines = mixture_text(model).splitlines()
    assert lines[:2] == ["1.00 gate root", "     by sky: sun to 1; fog, rain to 2"]
    assert lines[2].startswith("  0.25 expert 1: in 0.90, out 0.10, by ")
    assert lines[3].startswith("  0.75 expert 2: in 0.30, out 0.70, by ")
    assert len(lines) == 4
    assert model.remarks == tuple(lines)


def test_further_mixtures_are_counted() -> None:
    start = (_gate(), _experts())
    text = mixture_text(HierarchicalMixtureModel(DOMAIN, (2,), (start,) * 3))
    assert [line for line in text.splitlines() if "mixture" in line] == [
        "mixture 1 of 3",
        "mixture 2 of 3",
    ]


@pytest.mark.parametrize("depth", [4, 9])
def test_large_trees_are_cut_short(depth: int) -> None:
    gate, experts = _gate(), _experts()
    banks = []
    for level in range(depth + 1):
        bank, n_nodes = (experts, 2**level // 2) if level == depth else (gate, 2**level)
        banks.append(
            NaiveBayesBank(
                np.tile(bank.log_prior, (n_nodes, 1)),
                np.tile(bank.log_table, (1, n_nodes, 1)),
                bank.offsets,
            )
        )
    model = HierarchicalMixtureModel(DOMAIN, (2,) * depth, (tuple(banks),))
    lines = mixture_text(model).splitlines()
    n_lines = 2 * (2**depth - 1) + 2**depth
    assert len(lines) == min(n_lines, 61)
    if n_lines > 60:
        assert lines[-1] == f"and {n_lines - 60} more lines on gates and experts"
