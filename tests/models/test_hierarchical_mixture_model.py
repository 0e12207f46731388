"""The mixture's prediction against the formulas of the paper written out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.models import mixture_banks
from bayleaf.models.hierarchical_mixture_model import HierarchicalMixtureModel
from offenders import check_each

CARDS = (2, 3, 4)
N_CLASSES = 3
ARCHITECTURES = [(2,), (4,), (2, 2), (3, 2), (1, 2), (2, 3, 2)]


def random_bank(
    rng: np.random.Generator, n_nodes: int, n_outputs: int
) -> NaiveBayesBank:
    """A bank of random distributions."""
    tables = [rng.dirichlet(np.ones(card), (n_nodes, n_outputs)) for card in CARDS]
    stacked = np.concatenate([np.moveaxis(table, 2, 0) for table in tables])
    prior = rng.dirichlet(np.ones(n_outputs), n_nodes)
    offsets = np.cumsum([0, *CARDS]).astype(np.int64)
    return NaiveBayesBank(np.log(prior), np.log(stacked), offsets)


def random_model(
    architecture: tuple[int, ...], n_starts: int = 1, seed: int = 0
) -> HierarchicalMixtureModel:
    """A mixture of random gates and experts."""
    rng = np.random.default_rng(seed)
    sizes = np.cumprod([1, *architecture])
    outputs = (*architecture, N_CLASSES)
    starts = tuple(
        tuple(
            random_bank(rng, int(size), n)
            for size, n in zip(sizes, outputs, strict=True)
        )
        for _ in range(n_starts)
    )
    variables = [Variable(f"f{i}", tuple(range(card))) for i, card in enumerate(CARDS)]
    domain = Domain((*variables, Variable("class", ("a", "b", "c"))))
    return HierarchicalMixtureModel(domain, architecture, starts)


def random_codes(n_rows: int, seed: int = 1) -> Codes:
    """Rows with missing cells, the first one with nothing else."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(card + 1, size=n_rows) for card in CARDS]
    for column, card in zip(columns, CARDS, strict=True):
        column[0] = card
    return Codes.from_columns(columns, CARDS)


def naive_bayes(bank: NaiveBayesBank, node: int, row: list[int]) -> list[float]:
    """P(output | D) = alpha P(output) prod_k P(f_k | output), one loop a symbol."""
    products = []
    for output in range(bank.n_outputs):
        product = math.exp(bank.log_prior[node, output])
        for k, state in enumerate(row):
            if state != CARDS[k]:
                entry = int(bank.offsets[k]) + state
                product *= math.exp(bank.log_table[entry, node, output])
        products.append(product)
    alpha = 1.0 / sum(products)
    return [alpha * product for product in products]


def literal_mixture(
    banks: tuple[NaiveBayesBank, ...], row: list[int], level: int = 0, node: int = 0
) -> list[float]:
    """mu = sum_i g_i sum_j g_(j|i) mu_ij, by recursion over the tree."""
    own = naive_bayes(banks[level], node, row)
    if level == len(banks) - 1:
        return own
    mu = [0.0] * N_CLASSES
    for child, g in enumerate(own):
        below = literal_mixture(banks, row, level + 1, node * len(own) + child)
        mu = [total + g * m for total, m in zip(mu, below, strict=True)]
    return mu


def literal_two_two(banks: tuple[NaiveBayesBank, ...], row: list[int]) -> list[float]:
    """The same for two levels of two, as section 3.1 writes it."""
    root, gates, experts = banks
    g = naive_bayes(root, 0, row)
    mu = []
    for c in range(N_CLASSES):
        total = 0.0
        for i in range(2):
            g_given = naive_bayes(gates, i, row)
            mu_i = [naive_bayes(experts, 2 * i + j, row)[c] for j in range(2)]
            total += g[i] * (g_given[0] * mu_i[0] + g_given[1] * mu_i[1])
        mu.append(total)
    return mu


def rows_of(codes: Codes) -> list[list[int]]:
    """The codes row by row."""
    columns = [codes.column(k).tolist() for k in range(codes.n_variables)]
    return [list(row) for row in zip(*columns, strict=True)]


def test_two_levels_of_two_predict_as_section_3_1_says() -> None:
    model, codes = random_model((2, 2)), random_codes(60)
    expected = [literal_two_two(model.starts[0], row) for row in rows_of(codes)]
    found = np.exp(model.class_log_scores(codes))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)


def test_any_tree_predicts_by_the_same_recursion() -> None:
    def check(architecture: tuple[int, ...]) -> None:
        model, codes = random_model(architecture), random_codes(60)
        expected = [literal_mixture(model.starts[0], row) for row in rows_of(codes)]
        found = np.exp(model.class_log_scores(codes))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)

    check_each(ARCHITECTURES, check)


def test_several_starts_are_averaged() -> None:
    model, codes = random_model((2, 2), n_starts=3), random_codes(60)
    each = [
        [literal_mixture(banks, row) for row in rows_of(codes)]
        for banks in model.starts
    ]
    found = np.exp(model.class_log_scores(codes))
    np.testing.assert_allclose(found, np.mean(each, axis=0), rtol=1e-12, atol=0)


def test_gate_weights_are_products_along_the_paths() -> None:
    model, codes = random_model((3, 2)), random_codes(40)
    root, gates, _ = model.starts[0]
    weights = model.gate_weights(codes)[0]
    for found, row in zip(weights, rows_of(codes), strict=True):
        for i, g in enumerate(naive_bayes(root, 0, row)):
            given = naive_bayes(gates, i, row)
            expected = [g * share for share in given]
            np.testing.assert_allclose(found[2 * i : 2 * i + 2], expected, rtol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_contributions_add_up_to_the_log_odds(architecture: tuple[int, ...]) -> None:
    model, codes = random_model(architecture, n_starts=2), random_codes(60)
    rng = np.random.default_rng(2)
    target, against = rng.integers(3, size=(2, 60))
    prior, terms = model.contributions(codes, target, against)
    scores, rows = model.class_log_scores(codes), np.arange(60)
    log_odds = scores[rows, target] - scores[rows, against]
    np.testing.assert_allclose(prior + terms.sum(axis=1), log_odds, atol=1e-12)
    for feature in range(3):
        assert not terms[codes.missing(feature), feature].any()


def test_the_class_prior_is_what_an_empty_row_gets() -> None:
    model, codes = random_model((2, 2), n_starts=2), random_codes(1)
    np.testing.assert_allclose(
        np.exp(model.class_log_scores(codes)[0]), model.class_prior, rtol=1e-12
    )


def test_another_class_prior_moves_all_posteriors_in_proportion() -> None:
    model, codes = random_model((2, 2)), random_codes(60)
    prior = np.array([0.7, 0.1, 0.2])
    other = model.with_class_prior(prior).with_class_prior(prior)
    odds = np.exp(model.class_log_scores(codes)) * prior / model.class_prior
    found = np.exp(other.class_log_scores(codes))
    np.testing.assert_allclose(found, odds, rtol=1e-12)
    np.testing.assert_allclose(other.class_prior, prior, rtol=1e-12)
    target, against = np.zeros(60, dtype=np.intp), np.ones(60, dtype=np.intp)
    parts, terms = other.contributions(codes, target, against)
    log_odds = np.log(found[:, 0] / found[:, 1])
    np.testing.assert_allclose(parts + terms.sum(axis=1), log_odds, atol=1e-12)


def test_rows_are_scored_alike_in_tables_of_any_length() -> None:
    model, codes = random_model((2, 3, 2), n_starts=2), random_codes(30)
    one_by_one = [
        model.class_log_scores(codes.rows(slice(i, i + 1)))[0] for i in range(30)
    ]
    np.testing.assert_array_equal(model.class_log_scores(codes), np.stack(one_by_one))


def test_free_parameters_of_all_gates_and_experts_are_counted() -> None:
    gates = 1 * (1 + 2 * 6) + 2 * (1 + 2 * 6)
    experts = 4 * (2 + 3 * 6)
    assert random_model((2, 2), n_starts=2).n_parameters == 2 * (gates + experts)


def test_blocks_of_rows_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    model, codes = random_model((2, 2), n_starts=2), random_codes(50)
    expected = model.class_log_scores(codes)
    monkeypatch.setattr(mixture_banks, "_BLOCK_CELLS", 3 * 8 * 7)
    np.testing.assert_array_equal(model.class_log_scores(codes), expected)
