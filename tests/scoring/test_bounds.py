"""No set of changes lowers log-odds by more than its worst-case changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from bayleaf.data.codes import Codes
from bayleaf.explain.certificates.changed_row import ChangedRow
from bayleaf.models.predictor import Predictor
from bayleaf.scoring import bounds
from bayleaf.scoring.bounds import worst_changes
from bayleaf.scoring.partial_cases import known_cells
from bayleaf.scoring.program_scores import scores
from bayleaf.scoring.terms import Look, ScoringProgram, SumOut, program_of
from oracles.small_averages import average_of_many, heavy, with_tree
from oracles.small_tables import classifier, small_table
from oracles.summed_products import sum_out_of

BOUNDED = ("nb", "tan", "kdb", "hnb", "latent_class", "network", "auto")


def _changes(predictor: Predictor, codes: Codes) -> ChangedRow:
    """All changes of a row's cells, also to missing ones and back."""
    domain = predictor.encoder.domain
    own = [int(codes.column(v)[0]) for v in range(len(domain))]
    pairs = [(v, s) for v, c in enumerate(domain.cards) for s in range(c + 1)]
    pairs = [(v, s) for v, s in pairs if s != own[v]]
    if predictor.model.sharing is not None:
        # Which features are known stays.
        cards = codes.cards
        pairs = [(v, s) for v, s in pairs if max(s, own[v]) < cards[v]]
    features, states = np.array(pairs).T
    return ChangedRow(predictor, codes, features, states)


def _check(
    predictor: Predictor, codes: Codes, n_sets: int, exact: Sequence[int] = (0,)
) -> None:
    """Compare random sets of changes with their bounds; some sizes are exact."""
    rng = np.random.default_rng(0)
    model, changes = predictor.model, _changes(predictor, codes)
    known = known_cells(codes, codes.n_variables)[0]
    program = program_of(model).given(known)
    for chosen in range(len(program.base)):
        worst = worst_changes(program, codes, changes.features, changes.states, chosen)
        assert worst is not None
        start, gains = worst
        places = [
            np.flatnonzero(changes.features == v) for v in range(len(codes.cards))
        ]
        places = [place for place in places if len(place)]
        for size in range(len(places) + 1):
            picked = [rng.permutation(len(places))[:size] for _ in range(n_sets)]
            sets = [[rng.choice(places[v]) for v in own] for own in picked]
            rows = np.array(sets, dtype=np.intp).reshape(n_sets, size)
            scores = model.class_log_scores(changes.after(rows))
            left = scores[:, [chosen]] - scores
            least = start - gains[rows].sum(axis=1)
            assert (left >= least - 1e-9).all()
            if size in exact:
                assert np.allclose(left, least, rtol=0, atol=1e-9)


def _small(kind: str, missing: float) -> tuple[Predictor, Any]:
    X, y = small_table(5, n_classes=3, missing=missing)
    return classifier(kind).fit(X, y)._predictor(), X


@pytest.mark.parametrize("kind", BOUNDED)
def test_no_set_of_changes_falls_below_its_bound(kind: str) -> None:
    for missing in (0.0, 0.3):
        predictor, X = _small(kind, missing)
        for place in range(3):
            codes = predictor.encode(X.iloc[[place]])
            known = (codes.narrow[:, 0] < codes.cards).all()
            _check(predictor, codes, 20, exact=(0,) if known else ())


def test_bounds_of_additive_scores_are_exact() -> None:
    predictor, X = _small("nb", 0.2)
    for place in range(4):
        codes = predictor.encode(X.iloc[[place]])
        _check(predictor, codes, 20, exact=range(5))


def test_features_without_known_descendants_may_be_left_out_or_summed_out() -> None:
    # Feature 0 is the parent of feature 1; its distributions sum to 1.2 and 1.
    parent = (2, 0), np.array([[0.6, 0.6], [0.5, 0.5]])
    child, prior = ((2, 0, 1), np.full((2, 2, 2), 0.5)), ((2,), np.full(2, 0.5))
    term = sum_out_of((2, 2, 2), (0, 1), (parent, child, prior))
    program = ScoringProgram((2, 2), np.zeros(2), (term,))
    codes = Codes.from_columns([np.array([0]), np.array([0])], (2, 2))
    found = worst_changes(program, codes, np.array([0, 1]), np.array([2, 2]), 0)
    assert found is not None
    start, gains = found
    # Summed out, the log-odds are ln 1.2; left out, they are 0.
    assert start[1] - gains[:, 1].sum() <= 0


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_bounds_of_numbers_curves_and_trees_contain_all_changes(missing: float) -> None:
    predictor, X = _small("auto", missing)
    tree = with_tree(heavy(predictor), (1, 2, 3))
    for place in range(3):
        _check(tree, tree.encode(X.iloc[[place]]), 20)


@pytest.mark.parametrize("kind", ["aode", "mixture"])
def test_logs_of_sums_have_no_bounds(kind: str) -> None:
    predictor, X = _small(kind, 0.0)
    model, codes = predictor.model, predictor.encode(X.iloc[[0]])
    program = program_of(model)
    changes = _changes(predictor, codes)
    found = worst_changes(program, codes, changes.features, changes.states, 0)
    assert found is None


def test_averages_of_many_networks_have_no_bounds() -> None:
    model, X = average_of_many(64)
    predictor = model._predictor()
    codes, own = predictor.encode(X.iloc[[0]]), predictor.model
    program = program_of(own)
    changes = _changes(predictor, codes)
    assert worst_changes(program, codes, changes.features, changes.states, 0) is None


def _random_network(rng: np.random.Generator, n_latent: int) -> SumOut:
    """Four features, latent variables, and a class anywhere among them."""
    n = 5 + n_latent
    cards, order = rng.integers(2, 4, size=n), rng.permutation(n)
    tables = []
    for place, child in enumerate(order.tolist()):
        parents = [v for v in order[:place].tolist() if rng.random() < 0.5][:3]
        table = rng.dirichlet(np.ones(cards[child]), size=cards[parents])
        tables.append(((*parents, child), table))
    return sum_out_of(cards.tolist(), range(4), tables, 1.5)


@pytest.mark.parametrize("max_joint", [0, 50_000])
def test_bounds_of_networks_contain_all_changes_wherever_the_class_is(
    monkeypatch: pytest.MonkeyPatch, max_joint: int
) -> None:
    monkeypatch.setattr(bounds, "_MAX_COMPUTED_CELLS", max_joint)
    rng = np.random.default_rng(0)
    for n_latent in (0, 1, 2) * 4:
        term = _random_network(rng, n_latent)
        cards, n_classes = term.cards[:4], term.cards[-1]
        program = ScoringProgram(cards, rng.normal(size=n_classes), (term,))
        grid = np.indices([card + 1 for card in cards]).reshape(4, -1)
        every = scores(program, Codes.from_columns(list(grid), cards))
        own = grid[:, rng.integers(grid.shape[1])]
        codes = Codes.from_columns([own[v : v + 1] for v in range(4)], cards)
        pairs = [(v, s) for v in range(4) for s in range(cards[v] + 1) if s != own[v]]
        features, states = np.array(pairs).T
        worst = worst_changes(program, codes, features, states, 0)
        assert worst is not None
        start, gains = worst
        changed = (features == np.arange(4)[:, None]) & (states == grid.T[:, :, None])
        least = start - changed.any(axis=1) @ gains
        assert (every[:, [0]] - every >= least - 1e-9).all()


def test_a_gate_is_a_feature_of_its_table() -> None:
    # A table of feature 0 counts only where feature 1 is in state 0.
    look = Look(
        1,
        (0,),
        (np.arange(3),),
        np.array([[0], [1]]),
        np.array([[3.0, 0.0], [1.0, 0.0]]),
        np.array([True, False, False]),
    )
    program = ScoringProgram((2, 2), np.zeros(2), (look,))
    codes = Codes.from_columns([np.array([0]), np.array([0])], (2, 2))
    found = worst_changes(program, codes, np.array([0, 1]), np.array([1, 1]), 0)
    assert found is not None
    assert found[0].tolist() == [0.0, 3.0]
    # 3 becomes 1 by the first change, 0 by the second and by both.
    assert found[1][:, 1].tolist() == [2.0, 3.0]
