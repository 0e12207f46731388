"""Rows with holes as weighted complete rows, against the definition."""

from __future__ import annotations

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
