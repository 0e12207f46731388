"""The flat view scores classes as naive Bayes, and as the expanded network does."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.data.codes import Codes
from bayleaf.models import hierarchical_naive_bayes, latent_messages
from bayleaf.models.class_model import log_normalize
from bayleaf.models.explanation import explain_rows
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from offenders import check_each
from oracles.random_latent_models import random_model, random_tree
from property.networks import codes_of, domain_of

CARDS = (2, 3, 2, 3)
EXCLUSIVE_OR = np.array([[0, 1], [1, 0]])


def all_rows(cards: tuple[int, ...]) -> list[list[int | None]]:
    """Every row over features with so many states, holes included."""
    choices = [[*range(card), None] for card in cards]
    return [list(row) for row in itertools.product(*choices)]


def feature_joint(model: HierarchicalNaiveBayesModel) -> np.ndarray:
    """P(features, class) by multiplying all tables of the network and summing."""
    network = model.network
    operands: list[Any] = []
    for cpd in network.cpds:
        operands += [cpd.probabilities, list(cpd.family)]
    kept = [*range(len(CARDS)), len(network.domain) - 1]
    return np.asarray(np.einsum(*operands, kept, optimize="greedy"))


def summed_out(joint: np.ndarray, row: list[int | None]) -> np.ndarray:
    """P(observed features, class) of one row, shape (n_classes,)."""
    index = tuple(slice(None) if code is None else code for code in row)
    found = joint[index]
    return np.asarray(found.reshape(-1, found.shape[-1]).sum(axis=0))


def model_of(seed: int, n_latents: int = 3) -> HierarchicalNaiveBayesModel:
    """A random model over few features."""
    rng = np.random.default_rng(seed)
    return random_model(rng, random_tree(rng, CARDS, n_latents), 3)


def test_complete_rows_are_scored_by_naive_bayes_over_the_class_children() -> None:
    def check(seed: int) -> None:
        model = model_of(seed, n_latents=1 + seed % 3)
        codes = codes_of(list(itertools.product(*map(range, CARDS))), CARDS)  # type: ignore[arg-type]
        nodes = model.tree.node_codes(codes)
        flat = np.log(model.prior) + sum(
            np.log(table)[:, nodes[node]].T
            for node, table in zip(model.tree.class_children, model.tables, strict=True)
        )
        np.testing.assert_allclose(
            log_normalize(model.class_log_scores(codes)),
            log_normalize(flat),
            atol=1e-12,
        )

    check_each(range(6), check)


@pytest.mark.parametrize("by_table", [True, False])
def test_scores_are_the_joint_of_the_network_with_holes_summed_out(
    by_table: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(seed: int) -> None:
        if not by_table:
            monkeypatch.setattr(hierarchical_naive_bayes, "_LOOK_UP_CELLS", 0)
        model = model_of(seed, n_latents=1 + seed % 3)
        rows = all_rows(CARDS)
        joint = feature_joint(model)
        expected = [summed_out(joint, row) for row in rows]
        np.testing.assert_allclose(
            np.exp(model.class_log_scores(codes_of(rows, CARDS))), expected, rtol=1e-10
        )

    check_each(range(4), check)


def test_wide_features_are_summed_out_block_by_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = model_of(5)
    rows = codes_of(all_rows(CARDS), CARDS)
    expected = model.class_log_scores(rows)
    monkeypatch.setattr(hierarchical_naive_bayes, "_LOOK_UP_CELLS", 0)
    monkeypatch.setattr(latent_messages, "_BLOCK_CELLS", 20)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.class_log_scores(rows), expected, rtol=1e-12)


def test_scores_of_a_row_do_not_depend_on_the_others() -> None:
    model = model_of(2)
    rows = all_rows(CARDS)
    together = model.class_log_scores(codes_of(rows, CARDS))
    for i in range(0, len(rows), 7):
        (alone,) = model.class_log_scores(codes_of([rows[i]], CARDS))
        assert alone.tolist() == together[i].tolist()


@pytest.mark.parametrize("by_table", [True, False])
def test_terms_of_features_sum_to_the_log_odds(
    by_table: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not by_table:
        monkeypatch.setattr(hierarchical_naive_bayes, "_LOOK_UP_CELLS", 0)
    model = model_of(1)
    codes = codes_of(all_rows(CARDS), CARDS)
    target = np.arange(codes.n_rows) % 3
    against = (target + 1) % 3
    prior, terms = model.contributions(codes, target, against)
    scores = model.class_log_scores(codes)
    rows = np.arange(codes.n_rows)
    log_odds = scores[rows, target] - scores[rows, against]
    np.testing.assert_allclose(prior + terms.sum(axis=1), log_odds, atol=1e-12)
    for feature in range(len(CARDS)):
        assert (terms[codes.missing(feature), feature] == 0).all()


def test_the_first_feature_of_a_class_child_tells_what_it_says_alone() -> None:
    tree = LatentTree((2, 2)).join(0, 1, EXCLUSIVE_OR)
    model = random_model(np.random.default_rng(0), tree, 2)
    alone = model.class_log_scores(codes_of([[1, None], [None, None]], (2, 2)))
    _, terms = model.contributions(
        codes_of([[1, 0]], (2, 2)), np.array([0]), np.array([1])
    )
    (first, none), expected = np.diff(alone[:, ::-1], axis=1).ravel(), terms[0, 0]
    assert expected == pytest.approx(first - none, rel=1e-12)
    assert [model.feature_parents(f) for f in (0, 1)] == [[], [0]]


def test_a_class_that_has_become_impossible_stays_so_in_the_terms() -> None:
    tree = LatentTree((2, 2)).join(0, 1, np.array([[0, 1], [2, 2]]))
    table = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    model = HierarchicalNaiveBayesModel(
        domain_of([2, 2, 2]), tree, np.array([0.5, 0.5]), (table,), (np.ones((2, 2)),)
    )
    _, terms = model.contributions(
        codes_of([[1, 0], [0, 0]], (2, 2)), np.array([0, 0]), np.array([1, 1])
    )
    assert terms[0].tolist() == [-np.inf, 0.0]
    assert np.isfinite(terms[1]).all()


def test_class_children_not_used_tell_nothing() -> None:
    full = model_of(3, n_latents=1)
    used = full.tree.class_children[1:]
    model = replace(full, used=used)
    left_out = full.tree.leaves(full.tree.class_children[0])
    rows = all_rows(CARDS)
    without = [[None if f in left_out else v for f, v in enumerate(r)] for r in rows]
    np.testing.assert_allclose(
        log_normalize(model.class_log_scores(codes_of(rows, CARDS))),
        log_normalize(full.class_log_scores(codes_of(without, CARDS))),
        atol=1e-12,
    )
    _, terms = model.contributions(
        codes_of(rows, CARDS), np.zeros(len(rows), int), np.ones(len(rows), int)
    )
    assert (terms[:, list(left_out)] == 0).all()
    assert terms[:, list(set(range(4)) - set(left_out))].any()
    arcs = {child for _, child in model.arcs}
    assert arcs == set(range(4)) - set(left_out)
    assert model.n_parameters == 2 + 3 * sum(full.tree.cards[v] - 1 for v in used)


def test_with_another_class_prior_only_the_prior_changes() -> None:
    model = model_of(4)
    codes = codes_of(all_rows(CARDS), CARDS)
    prior = np.array([0.2, 0.5, 0.3])
    changed = model.with_class_prior(prior).class_log_scores(codes)
    shift = np.log(prior) - np.log(model.class_prior)
    np.testing.assert_allclose(changed, model.class_log_scores(codes) + shift)


def test_many_rows_are_looked_up_by_the_compiled_loop_with_the_same_result() -> None:
    model = model_of(0)
    rows = all_rows(CARDS)
    repeated = Codes.from_columns(
        [np.tile(codes_of(rows, CARDS).column(i), 500) for i in range(4)], CARDS
    )
    np.testing.assert_array_equal(
        model.class_log_scores(repeated),
        np.tile(model.class_log_scores(codes_of(rows, CARDS)), (500, 1)),
    )


def test_a_pickled_model_holds_no_derived_tables() -> None:
    model = model_of(0)
    fresh = len(pickle.dumps(model))
    _ = model.network
    model.class_log_scores(codes_of(all_rows(CARDS), CARDS))
    assert len(pickle.dumps(model)) == fresh


def test_parts_that_do_not_fit_are_refused() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        change, message = case
        with pytest.raises(ValueError, match=message):
            replace(model_of(0), **change)

    check_each(
        [
            ({"tree": LatentTree((2, 2))}, "the domain has features with"),
            ({"tables": ()}, "tables of the class children"),
            ({"cell_counts": ()}, "cell counts of shapes"),
            ({"used": (77,)}, "class children are"),
            ({"cell_smoothing": 0.0}, "greater than 0"),
        ],
        check,
    )


def test_latents_with_more_states_than_their_neighbours_allow_are_named() -> None:
    tree = LatentTree((2, 2, 3)).join(0, 1, np.arange(4).reshape(2, 2))
    tree = tree.join(2, 3, np.arange(12).reshape(3, 4) % 6)
    # L1: 4 states, at most 6 * 2 * 2 / 6; L2: 6 states, at most 2 * 3 * 4 / 4.
    model = random_model(np.random.default_rng(0), tree, 2)
    assert model.irregular_latents == ()
    finer = LatentTree((2, 2, 3)).join(0, 1, np.arange(4).reshape(2, 2))
    finer = finer.join(2, 3, np.arange(12).reshape(3, 4))
    model = random_model(np.random.default_rng(0), finer, 2)
    assert model.irregular_latents == ("L2",)
    assert not model.is_regular()


def test_an_explanation_names_the_rule_that_fired() -> None:
    tree = LatentTree((2, 2, 2)).join(0, 1, np.array([[0, 0], [0, 1]]))
    model = random_model(np.random.default_rng(0), tree, 2)
    codes = codes_of([[1, 1, 0], [0, None, 0], [1, None, 0]], (2, 2, 2))
    found = explain_rows(
        model, codes, np.array(["x", "y"]), predicted=np.array([0, 0, 0])
    )
    rules = [[term.rule for term in explanation.terms] for explanation in found]
    assert rules == [
        ["L1: v0 = 1 and v1 = 1", "L1: v0 = 1 and v1 = 1", ""],
        ["L1: v0 = 0", "", ""],
        ["", "", ""],
    ]
    assert "v0 = 1  by L1: v0 = 1 and v1 = 1\n" in found[0].to_text()
    assert found[0].to_dict()["terms"][0]["rule"] == "L1: v0 = 1 and v1 = 1"
    unused = replace(model, used=(2,))
    assert unused.rules_fired(codes) == [["", "", ""]] * 3
