"""Banks of naive Bayes classifiers against the product written out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from offenders import check_each

CARDS = (2, 3, 4)


def random_bank(
    rng: np.random.Generator, n_nodes: int, n_outputs: int, cards: tuple[int, ...]
) -> NaiveBayesBank:
    """A bank of random distributions."""
    tables = [rng.dirichlet(np.ones(card), (n_nodes, n_outputs)) for card in cards]
    stacked = np.concatenate([np.moveaxis(table, 2, 0) for table in tables])
    prior = rng.dirichlet(np.ones(n_outputs), n_nodes)
    offsets = np.cumsum([0, *cards]).astype(np.int64)
    return NaiveBayesBank(np.log(prior), np.log(stacked), offsets)


def random_codes(rng: np.random.Generator, n_rows: int) -> Codes:
    """Rows with missing cells."""
    columns = [rng.integers(card + 1, size=n_rows) for card in CARDS]
    return Codes.from_columns(columns, CARDS)


def literal_score(
    bank: NaiveBayesBank, codes: Codes, row: int, at: tuple[int, int]
) -> float:
    """P(output) times P(state | output) of the cells that are known."""
    node, output = at
    product = math.exp(bank.log_prior[node, output])
    for feature, card in enumerate(codes.cards):
        state = int(codes.column(feature)[row])
        if state != card:
            entry = bank.offsets[feature] + state
            product *= math.exp(bank.log_table[entry, node, output])
    return product


def test_scores_are_prior_times_entries_of_the_known_cells() -> None:
    def check(case: tuple[int, int]) -> None:
        n_nodes, n_outputs = case
        rng = np.random.default_rng(0)
        bank, codes = random_bank(rng, n_nodes, n_outputs, CARDS), random_codes(rng, 40)
        scores = np.exp(bank.log_scores(codes))
        for row in range(40):
            for at in np.ndindex(n_nodes, n_outputs):
                expected = literal_score(bank, codes, row, at)
                assert scores[(row, *at)] == pytest.approx(expected, rel=1e-12)

    check_each([(1, 2), (4, 3), (3, 1)], check)


def test_posteriors_are_scores_over_their_sum() -> None:
    rng = np.random.default_rng(1)
    bank, codes = random_bank(rng, 4, 3, CARDS), random_codes(rng, 40)
    scores = np.exp(bank.log_scores(codes))
    np.testing.assert_allclose(
        np.exp(bank.log_posteriors(codes)),
        scores / scores.sum(axis=2, keepdims=True),
        rtol=1e-12,
    )


def test_terms_and_prior_add_up_to_the_score() -> None:
    rng = np.random.default_rng(2)
    bank, codes = random_bank(rng, 4, 3, CARDS), random_codes(rng, 40)
    output = rng.integers(3, size=40)
    terms = bank.terms(codes, output)
    found = bank.log_prior[:, output].T + terms.sum(axis=0)
    expected = bank.log_scores(codes)[np.arange(40), :, output]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    for feature in range(3):
        assert not terms[feature][codes.missing(feature)].any()


def test_rows_are_scored_alike_in_tables_of_any_length() -> None:
    rng = np.random.default_rng(3)
    bank, codes = random_bank(rng, 64, 64, CARDS), random_codes(rng, 30)
    together = bank.log_scores(codes)
    one_by_one = [bank.log_scores(codes.rows(slice(i, i + 1)))[0] for i in range(30)]
    np.testing.assert_array_equal(together, np.stack(one_by_one))


def test_free_parameters_are_counted() -> None:
    bank = random_bank(np.random.default_rng(4), 4, 3, CARDS)
    assert bank.n_parameters == 4 * (2 + 3 * (1 + 2 + 3))
