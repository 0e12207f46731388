"""Rows with holes as weighted complete rows, against the definition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import PartialValues
from bayleaf.latent import completed_rows
from bayleaf.latent.completed_rows import CompletedRows
from bayleaf.models.bayesian_network import BayesianNetwork

NETWORK = BayesianNetwork.from_tables(
    states={"a": [0, 1, 2], "b": [0, 1]},
    parents={"b": ["a"]},
    tables={"a": [0.5, 0.3, 0.2], "b": [[0.9, 0.1], [0.4, 0.6], [0.0, 1.0]]},
)


def test_completions_weigh_as_much_as_they_are_probable() -> None:
    codes = Codes.from_columns([[3, 3, 1, 3], [1, 1, 2, 0]], (3, 2))
    partial = PartialValues.from_cells([(np.array([3]), 0, (1, 2))])
    found, log_likelihood = CompletedRows.of_rows(codes, partial, 0).weighted(NETWORK)
    weights = np.zeros((3, 2))
    np.add.at(
        weights,
        (found.codes.column(0), found.codes.column(1)),
        found.codes.weights,
    )
    # P(b=1) = 0.05 + 0.18 + 0.2; the set {1, 2} with b=0 can only be 1.
    expected = [
        [0, 2 * 0.05 / 0.43],
        [0.4 + 1.0, 0.6 + 2 * 0.18 / 0.43],
        [0, 0.4 / 0.43],
    ]
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    exact = 2 * np.log(0.43) + np.log(0.3) + np.log(0.12)
    assert log_likelihood == pytest.approx(exact, abs=1e-12)


def test_complete_rows_are_merged_and_keep_their_weights() -> None:
    codes = Codes.from_columns(
        [[0, 0, 2], [1, 1, 0]], (3, 2), np.array([1.0, 2.0, 4.0])
    )
    found = CompletedRows.of_rows(codes, PartialValues.none(), 0)
    assert sorted(found.codes.weights) == [3.0, 4.0]


def test_too_many_completions_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completed_rows, "MOST_COMPLETIONS", 64)
    codes = Codes.from_columns([np.full(1, 3)] * 9, (3,) * 9)
    one = CompletedRows.of_rows(codes, PartialValues.none(), 5)
    assert one.codes.n_rows <= 64
    assert one.codes.weights.sum() == pytest.approx(1.0, abs=1e-12)
    again = CompletedRows.of_rows(codes, PartialValues.none(), 5)
    assert (again.codes.narrow == one.codes.narrow).all()


def test_expected_counts_are_those_of_enumeration() -> None:
    network = BayesianNetwork.from_tables(
        states={"a": [0, 1, 2], "b": [0, 1], "c": [0, 1, 2]},
        parents={"b": ["a"], "c": ["a", "b"]},
        tables={
            "a": [0.2, 0.5, 0.3],
            "b": [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]],
            "c": np.random.default_rng(0).dirichlet(np.ones(3), (3, 2)),
        },
    )
    cards = (3, 2, 3)
    rng = np.random.default_rng(1)
    cells = [rng.integers(0, card + 1, 40) for card in cards]
    weights = rng.random(40)
    codes = Codes.from_columns(cells, cards, weights)
    sets = PartialValues.from_cells([(np.flatnonzero(cells[2] == 3)[::2], 2, (0, 2))])
    found, log_likelihood = CompletedRows.of_rows(codes, sets, 0).weighted(network)
    expected, total = np.zeros(cards), 0.0
    for row in range(40):
        allowed = [
            range(card) if cell[row] == card else [cell[row]]
            for cell, card in zip(cells, cards, strict=True)
        ]
        for group in sets.states if row in sets.rows else ():
            allowed[2] = group
        joint = {
            ways: np.prod(
                [
                    network.cpds[0].probabilities[ways[0]],
                    network.cpds[1].probabilities[ways[:2]],
                    network.cpds[2].probabilities[ways],
                ]
            )
            for ways in product(*allowed)
        }
        for ways, probability in joint.items():
            expected[ways] += weights[row] * probability / sum(joint.values())
        total += weights[row] * np.log(sum(joint.values()))
    counts = np.zeros(cards)
    where = tuple(found.codes.column(v) for v in range(3))
    np.add.at(counts, where, found.codes.weights)
    np.testing.assert_allclose(counts, expected, atol=1e-12)
    assert log_likelihood == pytest.approx(total, abs=1e-10)


def test_drawn_completions_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completed_rows, "MOST_COMPLETIONS", 64)
    names = [f"v{i}" for i in range(9)]
    network = BayesianNetwork.from_tables(
        states={name: [0, 1, 2] for name in names},
        parents={},
        tables={name: [1 / 3] * 3 for name in names},
    )
    holes = [np.array([3, 0])] * 8 + [np.array([1, 3])]
    codes = Codes.from_columns(holes, (3,) * 9)
    rows = CompletedRows.of_rows(codes, PartialValues.none(), 5)
    assert 64 / 2 < rows.codes.n_rows <= 64 + 3
    # The first row has one cell, the second eight: the other cells may be anything.
    _, log_likelihood = rows.weighted(network)
    assert log_likelihood == pytest.approx(-9 * np.log(3), abs=1e-12)


def test_rows_with_most_holes_are_cut_short_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(completed_rows, "_MOST_ROWS", 600)
    cells = np.array([[3] * 6, *([0, 1, 2, 0, 1, 3] for _ in range(1))]).T
    codes = Codes.from_columns(list(cells), (3,) * 6)
    rows = CompletedRows.of_rows(codes, PartialValues.none(), 0)
    numbers = np.bincount(rows.listed.source)
    assert sorted(numbers)[0] == 3
    assert 256 < sorted(numbers)[1] <= 512
