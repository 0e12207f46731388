"""Tables below the class from rows with missing cells equal the junction tree's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pytest

from bayleaf import HNBClassifier
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.cpds.smoothing import Dirichlet, MaximumLikelihood, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.datasets import load_heart
from bayleaf.latent import hierarchical_parameters
from bayleaf.latent.expectation_maximisation import EMOptions
from bayleaf.latent.hierarchical_parameters import learned_by_em
from bayleaf.models import latent_messages
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from offenders import check_each
from oracles.junction_tree_em import tables_by_junction_tree
from oracles.random_latent_models import random_model, random_tree

CARDS = (2, 3, 2, 4, 3, 2)
N_CLASSES = 3
DIRICHLET = Dirichlet()


@pytest.fixture(autouse=True)
def _long_climbs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let steps go on as long as those of the oracle."""
    monkeypatch.setattr(hierarchical_parameters, "_EM", EMOptions(1, tol=1e-10))


def model_of(seed: int, n_latents: int) -> HierarchicalNaiveBayesModel:
    """A random model over the features."""
    rng = np.random.default_rng(seed)
    return random_model(rng, random_tree(rng, CARDS, n_latents), N_CLASSES)


def rows_of(seed: int, n_rows: int = 200, share: float = 0.3) -> Codes:
    """Related features of which a share is missing, the class, fractional weights."""
    rng = np.random.default_rng(seed)
    own = rng.integers(N_CLASSES, size=n_rows)
    columns = []
    for card in CARDS:
        drawn = rng.integers(card, size=n_rows)
        column = np.where(rng.random(n_rows) < 0.6, own % card, drawn)
        columns.append(np.where(rng.random(n_rows) < share, card, column))
    cards = (*CARDS, N_CLASSES)
    return Codes.from_columns([*columns, own], cards, rng.uniform(0.2, 3.0, n_rows))


def with_columns(codes: Codes, changes: dict[int, Any]) -> Codes:
    """The rows with some columns replaced."""
    columns = [changes.get(v, codes.column(v)) for v in range(codes.n_variables)]
    return Codes.from_columns(columns, codes.cards, codes.weights)


def tables_of(
    model: HierarchicalNaiveBayesModel, codes: Codes, smoothing: Smoothing = DIRICHLET
) -> list[np.ndarray]:
    """The tables that are learned."""
    return list(learned_by_em(model, codes, smoothing, 1).tables)


def assert_equals_junction_tree(
    model: HierarchicalNaiveBayesModel, codes: Codes, smoothing: Smoothing = DIRICHLET
) -> int:
    """Compare all tables; the number of steps that they took."""
    expected, n_steps = tables_by_junction_tree(model, codes, smoothing)
    found = tables_of(model, codes, smoothing)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
    return n_steps


@pytest.mark.parametrize("n_latents", range(6))
def test_tables_equal_those_of_the_junction_tree(n_latents: int) -> None:
    def check(seed: int) -> None:
        codes = rows_of(seed)
        assert_equals_junction_tree(model_of(seed, n_latents), codes)
        unweighted = replace(codes, weights=np.ones(codes.n_rows), unit_weights=True)
        assert_equals_junction_tree(
            model_of(seed, n_latents), unweighted, MaximumLikelihood()
        )

    check_each(range(4), check)


def test_many_steps_end_where_those_of_the_junction_tree_do() -> None:
    # Where most cells are missing, expectations move for long.
    codes = rows_of(0, 400, share=0.8)
    n_steps = [
        assert_equals_junction_tree(model_of(seed, 3), codes) for seed in range(6)
    ]
    assert max(n_steps) >= 5


def test_rows_with_everything_missing_equal_those_of_the_junction_tree() -> None:
    codes = rows_of(1)
    empty = np.arange(codes.n_rows) % 4 == 0
    changes = {
        v: np.where(empty, card, codes.column(v)) for v, card in enumerate(CARDS)
    }
    for n_latents in range(6):
        assert_equals_junction_tree(
            model_of(1, n_latents), with_columns(codes, changes)
        )


@pytest.mark.parametrize("feature", range(len(CARDS)))
def test_columns_with_everything_missing_equal_those_of_the_junction_tree(
    feature: int,
) -> None:
    codes = rows_of(2)
    changes = {feature: np.full(codes.n_rows, CARDS[feature])}
    for n_latents in (0, 2, 5):
        assert_equals_junction_tree(
            model_of(feature, n_latents), with_columns(codes, changes)
        )


def test_a_class_without_rows_equals_that_of_the_junction_tree() -> None:
    codes = rows_of(3)
    own = np.minimum(codes.column(len(CARDS)), N_CLASSES - 2)
    codes = with_columns(codes, {len(CARDS): own})
    assert_equals_junction_tree(model_of(3, 3), codes)


def test_children_that_are_not_used_keep_their_tables() -> None:
    full, codes = model_of(2, 3), rows_of(4)
    children = full.tree.class_children
    assert min(full.tree.cards[node] for node in children) > 1
    for used in (children[:1], children[1:]):
        model = replace(full, used=used)
        assert_equals_junction_tree(model, codes)
        kept = [
            table is full.tables[i] for i, table in enumerate(tables_of(model, codes))
        ]
        assert kept == [node not in used for node in children]


def test_a_class_that_is_said_to_be_impossible_has_tables_all_the_same() -> None:
    model, codes = model_of(5, 3), rows_of(5)
    excluded = model.with_class_prior(np.array([0.0, 0.4, 0.6]))
    for one, other in zip(tables_of(excluded, codes), tables_of(model, codes)):
        np.testing.assert_allclose(one, other, rtol=1e-3)


def test_complete_rows_are_counted() -> None:
    model, codes = model_of(6, 3), rows_of(6, share=0.0)
    nodes, own = model.tree.node_codes(codes), codes.column(len(CARDS))
    for node, table in zip(model.tree.class_children, tables_of(model, codes)):
        counts = np.zeros(table.shape)
        np.add.at(counts, (own, nodes[node]), codes.weights)
        np.testing.assert_allclose(table, DIRICHLET.estimate(counts), rtol=1e-12)


def test_weight_zero_is_a_removed_row_and_weight_two_a_repeated_one() -> None:
    model, codes = model_of(7, 4), rows_of(7)
    times = np.arange(codes.n_rows) % 3
    weighted = replace(codes, weights=times.astype(float), unit_weights=False)
    columns = [np.repeat(codes.column(v), times) for v in range(codes.n_variables)]
    repeated = Codes.from_columns(columns, codes.cards)
    for one, other in zip(tables_of(model, weighted), tables_of(model, repeated)):
        np.testing.assert_array_equal(one, other)


def test_the_order_of_the_rows_does_not_matter() -> None:
    model, codes = model_of(8, 4), rows_of(8)
    codes = replace(codes, weights=np.ones(codes.n_rows), unit_weights=True)
    shuffled = codes.rows(np.random.default_rng(0).permutation(codes.n_rows))
    for one, other in zip(tables_of(model, codes), tables_of(model, shuffled)):
        np.testing.assert_array_equal(one, other)


def test_blocks_of_rows_give_the_same_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    model, codes = model_of(9, 5), rows_of(9)
    expected = tables_of(model, codes)
    monkeypatch.setattr(latent_messages, "_BLOCK_CELLS", 20)
    for one, other in zip(tables_of(model, codes), expected):
        np.testing.assert_array_equal(one, other)


def test_a_latent_that_one_feature_implies_is_known_where_the_other_is_missing() -> (
    None
):
    tree = LatentTree((2, 2)).join(0, 1, np.array([[0, 1], [2, 2]]))
    model = random_model(np.random.default_rng(0), tree, 2)
    codes = Codes.from_columns(
        [np.array([1, 1, 0, 1]), np.array([2, 0, 1, 2]), np.array([0, 0, 1, 1])],
        (2, 2, 2),
    )
    (table,) = tables_of(model, codes)
    counts = np.array([[0.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
    np.testing.assert_array_equal(table, DIRICHLET.estimate(counts))


@pytest.mark.parametrize("search", ["significance", "top_pairs"])
def test_the_classifier_learns_the_tables_of_the_junction_tree(search: str) -> None:
    frame = load_heart().frame.to_pandas()
    y = frame.pop("disease")
    missing = np.random.default_rng(3).random(frame.shape) < 0.15
    model = HNBClassifier(search=search, random_state=0).fit(frame.mask(missing), y)
    assert model.tree_.latents
    expected, _ = tables_by_junction_tree(
        model.model_, model._training_codes, model.smoothing_
    )
    for one, other in zip(model.model_.tables, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)


@pytest.mark.few("top_pairs")
@pytest.mark.slow
@pytest.mark.parametrize("search", ["significance", "top_pairs"])
def test_adult_has_the_tables_of_the_junction_tree(
    search: str, data_folder: Path
) -> None:
    options = pa_csv.ConvertOptions(strings_can_be_null=True, null_values=[""])
    table = pa_csv.read_csv(
        data_folder / "small" / "adult.csv", convert_options=options
    )
    table = table.take(np.arange(0, table.num_rows, 10))
    model = HNBClassifier(search=search, random_state=0)
    model.fit(table.drop_columns(["class"]), table["class"])
    expected, _ = tables_by_junction_tree(
        model.model_, model._training_codes, model.smoothing_
    )
    for one, other in zip(model.model_.tables, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
