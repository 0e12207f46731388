"""The four searches: what they find, what they keep, and what they never depend on."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds.smoothing import Dirichlet, MaximumLikelihood
from bayleaf.data.codes import Codes
from bayleaf.datasets import make_monks
from bayleaf.native.latents import deal
from bayleaf.search.latents.latent_search import (
    LatentSearchOptions,
    collapse_states,
    search_latents,
)
from bayleaf.search.latents.moves import LatentSearchResult
from offenders import check_each
from oracles import hnb
from timing import least_work

SEARCHES = ["algorithm3", "top_pairs", "hill_climbing", "significance"]
WRAPPERS = SEARCHES[:3]
SCORES = ["mutual_information", "expected_kl"]


def _found(
    codes: Codes, seed: int = 0, n_jobs: int = 1, **options: Any
) -> LatentSearchResult:
    names = [f"x{j}" for j in range(codes.n_variables - 1)]
    return search_latents(
        RowCounts(codes, n_jobs),
        LatentSearchOptions(**options),
        np.random.default_rng(seed),
        names,
    )


def _monks_1() -> Codes:
    frame = make_monks(1).frame
    columns = [frame[name].to_numpy().astype(int) for name in frame.column_names]
    columns = [column - column.min() for column in columns]
    return Codes.from_columns(columns, [int(column.max()) + 1 for column in columns])


def _related(seed: int, n_rows: int = 300, missing: float = 0.0) -> Codes:
    """Six features, of which pairs depend on one another given the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    columns = []
    for _ in range(3):
        first = rng.integers(3, size=n_rows)
        second = (first + y * rng.integers(2, size=n_rows)) % 3
        columns += [first, second]
    holes = [np.where(rng.random(n_rows) < missing, 3, column) for column in columns]
    return Codes.from_columns([*holes, y], (3,) * 6 + (2,))


def _same(a: LatentSearchResult, b: LatentSearchResult) -> bool:
    """Whether two searches made the same tree in the same steps."""
    same = len(a.tree.latents) == len(b.tree.latents) and a.used == b.used
    for one, other in zip(a.tree.latents, b.tree.latents):
        same &= (one.left, one.right) == (other.left, other.right)
        same &= np.array_equal(one.states, other.states)
    tried = [
        [[(c.left, c.right, c.score) for c in step.candidates] for step in found.steps]
        for found in (a, b)
    ]
    return same and tried[0] == tried[1]


@pytest.mark.parametrize("search", SEARCHES)
def test_monks_1_is_told_by_whether_two_features_are_equal(search: str) -> None:
    def check(pair_score: str) -> None:
        codes = _monks_1()
        for seed in range(10):
            found = _found(codes, seed, search=search, pair_score=pair_score)
            latent = found.tree.latents[0]
            assert (latent.left, latent.right) == (0, 1)
            assert latent.states.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]

    check_each(SCORES, check)


def _example(seed: int) -> Codes:
    """Langseth & Nielsen 2006, examples 1 and 2."""
    rng = np.random.default_rng(seed)
    a1, a2 = rng.integers(2, size=(2, 5000))
    a3 = np.where(rng.random(5000) < 0.99, a2, 1 - a2)
    return Codes.from_columns([a1, a2, a3, a1 & a2], (2, 2, 2, 2))


def test_mutual_information_proposes_the_copies_of_example_2_first() -> None:
    for seed in range(20):
        codes = _example(seed)
        found = _found(codes, seed, search="top_pairs", pair_score="mutual_information")
        first, second = found.steps[0].candidates[:2]
        assert (first.left, first.right, first.n_states) == (1, 2, 2)
        assert first.negative_log_p > second.negative_log_p > 0
        found = _found(codes, search="significance", pair_score="mutual_information")
        mirror = found.tree.latents[0].states
        assert mirror.tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize("pair_score", SCORES)
def test_significance_learns_the_concept_of_example_1(pair_score: str) -> None:
    for seed in range(20):
        codes = _example(seed)
        found = _found(codes, search="significance", pair_score=pair_score)
        columns = found.tree.node_codes(codes)
        told = [columns[node] for node in found.tree.class_children]
        keys = np.ravel_multi_index(
            told, [found.tree.cards[node] for node in found.tree.class_children]
        )
        for key in np.unique(keys):
            assert len(np.unique(codes.column(3)[keys == key])) == 1


def test_each_round_takes_what_its_rule_says() -> None:
    def check(case: tuple[str, str]) -> None:
        search, wrapper_score = case
        codes = _related(0)
        found = _found(
            codes, search=search, wrapper_score=wrapper_score, n_candidates=4
        )
        before = found.baseline
        taken = [step.accepted is not None for step in found.steps]
        assert len(found.tree.latents) == sum(taken) > 1
        # Only the last round may take nothing.
        assert all(taken[:-1])
        for step in found.steps:
            assert step.before == before
            ranks = [c.score.rank(wrapper_score) for c in step.candidates]
            better = [rank > before.rank(wrapper_score) for rank in ranks]
            taken = [c.accepted for c in step.candidates]
            if search == "hill_climbing":
                assert not any(better[:-1])
                assert taken == [False] * (len(taken) - 1) + [better[-1]]
            else:
                assert taken == [
                    better[k] and k == ranks.index(max(ranks))
                    for k in range(len(ranks))
                ]
            if step.accepted is not None:
                before = step.accepted.score

    check_each(
        itertools.product(WRAPPERS, ["accuracy", "log_loss", "accuracy_then_log_loss"]),
        check,
    )


def test_candidates_come_in_the_order_of_their_tests() -> None:
    def check(search: str) -> None:
        found = _found(_related(1), search=search)
        for step in found.steps:
            values = [c.negative_log_p for c in step.candidates]
            assert search == "algorithm3" or values == sorted(values, reverse=True)
            assert len(values) <= {"hill_climbing": 15, "significance": 1}.get(
                search, 10
            )

    check_each(SEARCHES, check)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_tests_and_states_of_nested_pairs_equal_those_counted_anew(
    missing: float,
) -> None:
    codes = _related(2, missing=missing)
    found = _found(
        codes,
        search="significance",
        pair_score="mutual_information",
        significance_level=0.9999,
    )
    assert any(latent.right >= 6 for latent in found.tree.latents)
    columns = found.tree.node_codes(codes)
    for step in found.steps:
        (tried,) = step.candidates
        cards = [found.tree.cards[v] for v in (tried.left, tried.right)]
        table = np.zeros((2, *(card + 1 for card in cards)))
        np.add.at(
            table, (codes.column(6), columns[tried.left], columns[tried.right]), 1.0
        )
        table = table[:, :-1, :-1]
        assert tried.statistic == pytest.approx(hnb.g2_statistic(table))
        states, deltas = hnb.collapsed(table)
        assert tried.n_states == states.max() + 1
        assert tried.deltas == pytest.approx(deltas)


def test_significance_stops_where_p_is_not_below_the_level() -> None:
    codes = _related(3)
    for level in (1e-12, 0.05, 0.5):
        found = _found(codes, search="significance", significance_level=level)
        *taken, last = found.steps
        below = [np.exp(-s.candidates[0].negative_log_p) < level for s in taken]
        assert all(below)
        assert np.exp(-last.candidates[0].negative_log_p) >= level


def test_repeated_rows_equal_weights_and_rows_of_no_weight_are_absent() -> None:
    def check(search: str) -> None:
        codes = _related(4, n_rows=150, missing=0.05)
        repeats = np.random.default_rng(0).integers(0, 4, size=150)
        weighted = replace(codes, weights=repeats.astype(float), unit_weights=False)
        repeated = codes.rows(np.repeat(np.arange(150), repeats))
        options = {"search": search, "feature_selection": "forward"}
        assert _same(_found(weighted, **options), _found(repeated, **options))

    check_each(SEARCHES, check)


def test_order_of_rows_and_number_of_threads_mean_nothing() -> None:
    def check(search: str) -> None:
        codes = _related(5)
        order = np.random.default_rng(0).permutation(codes.n_rows)
        options = {"search": search, "wrapper_score": "log_loss"}
        found = _found(codes, **options)
        assert _same(found, _found(codes.rows(order), n_jobs=2, **options))

    check_each(SEARCHES, check)


def test_copies_of_a_row_share_a_fold_only_if_rows_are_merged() -> None:
    codes = _related(7, n_rows=40)
    copies = codes.rows(np.repeat(np.arange(40), 10))
    likelihoods = [
        _found(copies, wrapper_score="log_loss", deduplicate_rows=merge).baseline
        for merge in (True, False)
    ]
    # Single rows have copies among the training rows, which flatters the model.
    assert likelihoods[0].log_likelihood < likelihoods[1].log_likelihood - 1.0


def test_folds_hold_equal_shares_of_each_class() -> None:
    rng = np.random.default_rng(0)
    classes = rng.choice(3, 200, p=[0.7, 0.2, 0.1]).astype(np.uint16)
    folds = np.empty(200, dtype=np.int32)
    deal(rng.permutation(200), classes, np.ones(1), 3, 5, folds)
    counts = np.zeros((3, 5))
    np.add.at(counts, (classes, folds), 1)
    assert (np.ptp(counts, axis=1) <= 1).all()
    assert np.ptp(counts.sum(axis=0)) <= 1


def test_folds_do_not_depend_on_the_rounding_of_weights() -> None:
    rng = np.random.default_rng(0)
    order, classes = rng.permutation(200), rng.integers(3, size=200, dtype=np.uint16)
    weights = rng.integers(1, 4, 200).astype(np.float64)
    folds = np.empty((4, 200), dtype=np.int32)
    for scale, own in zip((1.0, 1.0 + 1e-9, 0.1, 1e12), folds, strict=True):
        deal(order, classes, weights * scale, 3, 5, own)
    assert (folds == folds[0]).all()


def test_pairs_of_too_many_states_are_skipped_and_named() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    wide = [rng.integers(8, size=400) for _ in range(2)]
    columns = [*wide, (wide[0] + y) % 2, y]
    codes = Codes.from_columns(columns, (8, 8, 2, 2))
    with pytest.warns(UserWarning, match=r"'x0' and 'x1' \(64\).*raise max_cells"):
        found = _found(codes, search="hill_climbing", max_cells=50)
    pairs = {(c.left, c.right) for step in found.steps for c in step.candidates}
    assert (0, 1) not in pairs
    assert (0, 2) in pairs


def test_variables_of_one_state_join_no_pair() -> None:
    def check(search: str) -> None:
        rng = np.random.default_rng(0)
        columns = [
            np.zeros(100, int),
            rng.integers(2, size=100),
            rng.integers(2, size=100),
        ]
        codes = Codes.from_columns(columns, (1, 2, 2))
        found = _found(codes, search=search)
        assert found.tree.latents == ()
        assert found.steps == ()

    check_each(SEARCHES, check)


def test_a_latent_variable_of_one_state_stays_and_joins_no_pair() -> None:
    rng = np.random.default_rng(1)
    noise = rng.integers(2, size=500)
    y = rng.integers(2, size=500)
    columns = [noise, noise, y ^ (rng.random(500) < 0.2), rng.integers(2, size=500)]
    found = _found(
        Codes.from_columns([*columns, y], (2,) * 5),
        search="significance",
        pair_score="mutual_information",
    )
    first = found.tree.latents[0]
    assert (first.left, first.right, first.n_states) == (0, 1, 1)
    tried = {v for s in found.steps for c in s.candidates for v in (c.left, c.right)}
    assert 4 not in tried
    assert 4 in found.tree.class_children


def test_tables_without_pairs_keep_their_features() -> None:
    def check(case: tuple[int, str]) -> None:
        n_features, search = case
        y = np.arange(20) % 2
        codes = Codes.from_columns([y] * (n_features + 1), (2,) * (n_features + 1))
        found = _found(codes, search=search)
        assert found.tree.class_children == tuple(range(n_features))

    check_each(itertools.product([0, 1], SEARCHES), check)


def test_fewer_rows_than_folds_are_a_sentence() -> None:
    def check(search: str) -> None:
        codes = _related(0, n_rows=4)
        with pytest.raises(
            ValueError, match="score_folds=5 needs at least 5 rows, got"
        ):
            _found(codes, search=search)
        found = _found(codes, search=search, score_folds=4)
        assert found.baseline is not None

    check_each(WRAPPERS, check)


def test_forward_selection_keeps_some_class_children() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    columns = [rng.integers(2, size=300), y ^ (rng.random(300) < 0.1)]
    codes = Codes.from_columns([*columns, y], (2, 2, 2))
    found = _found(codes, search="significance", feature_selection="forward")
    assert found.used == (1,)
    assert _found(codes, search="significance").used is None


def test_tables_of_any_rule_with_holes_are_searched() -> None:
    def check(case: tuple[Any, str]) -> None:
        rule, search = case
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = _found(
                _related(6, missing=0.3),
                search=search,
                smoothing=rule,
                prior=Dirichlet(),
            )
        assert found.baseline.correct > 0

    check_each(
        itertools.product([Dirichlet(), MaximumLikelihood(0.5)], WRAPPERS), check
    )


@pytest.mark.parametrize("search", WRAPPERS)
def test_what_is_kept_between_rounds_changes_nothing(
    search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = _found(_related(8), search=search)
    monkeypatch.setattr("bayleaf.search.latents.latent_search._KEPT_GAINS", 0)
    assert _same(kept, _found(_related(8), search=search))


def _random_table(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 5)), int(rng.integers(2, 6)), int(rng.integers(2, 6)))
    return rng.poisson(rng.choice([0.3, 2.0, 20.0]) * rng.random(shape)).astype(float)


def test_it_merges_as_a_search_that_computes_everything_anew() -> None:
    def check(seed: int) -> None:
        table = _random_table(seed)
        if not table.sum():
            table[0, 0, 0] = 1.0
        states, gains = hnb.collapsed(table)
        found = collapse_states(table)
        assert np.array_equal(found.states, states)
        assert found.deltas == pytest.approx(gains, abs=1e-8)

    check_each(range(40), check)


def test_the_gains_add_up_to_the_difference_of_the_two_models_scores() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        table = rng.integers(1, 9, size=(3, 4, 3)).astype(float)
        found = collapse_states(table)
        apart = [[(x, y)] for x in range(4) for y in range(3)]
        merged = [
            [(int(x), int(y)) for x, y in np.argwhere(found.states == state)]
            for state in range(found.n_states)
        ]
        gain = hnb.model_score(table, merged) - hnb.model_score(table, apart)
        assert len(found.deltas) > 0
        assert sum(found.deltas) == pytest.approx(gain, abs=1e-8)

    check_each(range(10), check)


def test_states_of_equal_class_distribution_merge_for_the_penalty_alone() -> None:
    table = np.array([[[10.0, 5.0]], [[30.0, 15.0]]])
    found = collapse_states(table)
    assert found.n_states == 1
    assert found.deltas == pytest.approx([np.log(60.0)])


def test_ties_in_a_million_rows_go_to_the_first_cells() -> None:
    table = np.array([[[900_000.0, 300_000.0, 100.0]], [[600_000.0, 200_000.0, 0.0]]])
    states, _ = hnb.collapsed(table)
    assert np.array_equal(collapse_states(table).states, states)


def test_an_empty_cell_joins_the_group_that_naive_bayes_predicts_for_it() -> None:
    table = np.array([[[60.0, 20.0], [20.0, 0.0]], [[0.0, 20.0], [20.0, 0.0]]])
    found = collapse_states(table)
    # Both left and right value of the empty cell speak for the second class.
    assert found.states.tolist() == [[0, 1], [1, 1]]


def test_no_counts_leave_one_group() -> None:
    found = collapse_states(np.zeros((2, 3, 2)))
    assert found.n_states == 1
    assert found.deltas == ()


def test_order_of_classes_means_nothing() -> None:
    def check(seed: int) -> None:
        table = np.random.default_rng(seed).integers(0, 6, size=(3, 4, 4)).astype(float)
        turned = collapse_states(table[::-1])
        assert np.array_equal(collapse_states(table).states, turned.states)

    check_each(range(5), check)


@pytest.mark.slow
def test_cells_take_no_longer_than_some_steps_for_each_pair_of_them() -> None:
    table = np.random.default_rng(0).integers(1, 30, size=(2, 50, 100)).astype(float)
    pairs = np.full(5000, 2.0)
    logs = least_work(lambda: [np.log(pairs) for _ in range(5000)])
    found: list[Any] = []
    work = least_work(lambda: found.append(collapse_states(table)), 1)
    assert work < 40 * logs
    assert 1 < found[0].n_states < 5000


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("search", SEARCHES)
def test_selection_before_the_search_leaves_the_other_features_out(
    search: str, direction: str
) -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(2, size=600)
    noise = [rng.integers(3, size=600) for _ in range(3)]
    columns = [noise[0]]
    for pair in range(3):
        laws = rng.dirichlet(np.full(9, 0.5), size=2)
        cells = np.array([rng.choice(9, p=laws[label]) for label in y])
        columns += [cells // 3, cells % 3, *noise[pair + 1 : pair + 2]]
    codes = Codes.from_columns([*columns, y], (3,) * 9 + (2,))
    options = {
        "search": search,
        "wrapper_score": "log_loss",
        "deduplicate_rows": False,
    }
    found = _found(codes, feature_selection=f"{direction}_before", **options)
    tree, used = found.tree, found.used
    assert used is not None
    selected = sorted(leaf for node in used for leaf in tree.leaves(node))
    # The same selection among features alone, where nothing is searched for.
    alone = {**options, "search": "given", "feature_selection": direction}
    assert tuple(selected) == _found(codes, **alone).used
    assert 0 < len(selected) < 9
    # The same search in a table of the selected features.
    selected_columns = [columns[v] for v in selected]
    kept = Codes.from_columns([*selected_columns, y], (3,) * len(selected) + (2,))
    other = _found(kept, **options)
    node_of = dict(enumerate(selected))
    node_of |= {len(selected) + i: 9 + i for i in range(len(other.tree.latents))}
    joined = [(node_of[a.left], node_of[a.right]) for a in other.tree.latents]
    assert joined
    assert [(a.left, a.right) for a in tree.latents] == joined
    for a, b in zip(tree.latents, other.tree.latents, strict=True):
        np.testing.assert_array_equal(a.states, b.states)
    if found.baseline is not None and other.baseline is not None:
        assert found.baseline.correct == other.baseline.correct
        logs = found.baseline.log_likelihood, other.baseline.log_likelihood
        assert logs[0] == pytest.approx(logs[1], abs=1e-9)


def test_selection_before_the_search_takes_given_latents_as_children() -> None:
    codes = _related(9)
    given = ((frozenset({0}), frozenset({3})),)
    found = _found(codes, given=given, feature_selection="backward_before")
    first = found.tree.latents[0]
    assert (first.left, first.right) == (0, 3)
    left_out = set(found.tree.class_children) - set(found.used or ())
    searched = {v for one in found.tree.latents[1:] for v in (one.left, one.right)}
    assert not searched & left_out
    with_latent = {"search": "given", "feature_selection": "backward"}
    assert left_out == set(
        _found(codes, given=given, **with_latent).tree.class_children
    ) - set(_found(codes, given=given, **with_latent).used or ())
