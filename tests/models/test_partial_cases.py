"""Averaged KDB in cases of which only some features are known."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import check_grad
from scipy.special import log_softmax, softmax

import bayleaf
from bayleaf import (
    AODEClassifier,
    AveragedKDBClassifier,
    HierarchicalMixtureNBClassifier,
    HNBClassifier,
    KDBClassifier,
    LatentClassNBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.classifiers.shared.partial_cases import _Pieces
from bayleaf.cpds.random_network import FamilyBank
from bayleaf.data.codes import Codes
from bayleaf.datasets import load_heart
from bayleaf.explain import counterfactuals, credible_intervals, importance, robustness
from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.search.left_out.left_out_scores import LeftOutRows

Known = NDArray[np.bool_]


@pytest.fixture(scope="module")
def heart() -> tuple[AveragedKDBClassifier, Any, NDArray[Any]]:
    """The classifier of the shipped table, and the table."""
    X, y = load_heart(return_X_y=True)
    model = AveragedKDBClassifier(n_networks=9, random_state=0).fit(X, y)
    return model, X, np.asarray(y)


@pytest.fixture(scope="module")
def numbers() -> tuple[AveragedKDBModel, Codes]:
    """A model of three classes with numbers, curves and trees, and its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    X[:, 4] = rng.integers(3, size=300)
    y = (X[:, 0] * X[:, 1] > 0) + (X[:, 2] + X[:, 4] > 1).astype(int)
    model = AveragedKDBClassifier(n_networks=5, random_state=1).fit(X, y)
    assert model.n_trees_
    return model.model_, model._predictor().encode(X)


def masked(codes: Codes, known: Known) -> Codes:
    """The rows with all but some features missing."""
    columns = [
        np.where(known[..., i], codes.column(i), card)
        for i, card in enumerate(codes.cards)
    ]
    return Codes.from_columns(columns, codes.cards)


def rule_scores(model: AveragedKDBModel, codes: Codes, known: Known) -> Any:
    """The scores of one set of features, step by step as the rule has it."""
    rule = model.partial
    assert rule is not None
    (n_features, n_depths), n_networks = model.weights.shape, len(model.networks)
    strength = rule.strengths
    total, summed = strength.sum(), strength[known].sum()

    def bent(share: float, rate: float) -> float:
        return rate * share / (1 - share + rate * share)

    highest = strength[known].max(initial=0.0)
    h = bent((summed - highest) / (total - strength.max()), rule.base_rate)
    base = np.log(model.prior) + h * (model.base - np.log(model.prior))
    scores = np.tile(base, (codes.n_rows, 1))
    cells = masked(codes, known)
    beside = np.zeros((codes.n_rows, model.n_classes, n_features, 2))
    for more in model.beside_tables:
        beside += more.changes(cells, n_features)
    for i in np.flatnonzero(known):
        m = 1 - bent((summed - strength[i]) / (total - strength[i]), rule.rate)
        changes, counts = np.zeros((codes.n_rows, model.n_classes, n_depths)), [0] * 9
        for network in model.networks:
            bank = FamilyBank.from_networks([network], model.n_classes, model.smoothing)
            logs = np.empty((codes.n_rows, model.n_classes, n_depths))
            bank.write_log_probabilities(range(i, i + 1), codes, logs, 0, n_depths)
            steps = np.diff(logs, axis=2, prepend=0.0)
            parents = network.counts.variables(i)[1:]
            for j in range(n_depths):
                if all(known[p] for p in parents[:j]):
                    changes[:, :, j] += steps[:, :, j]
                    counts[j] += 1
        for j in range(n_depths):
            deeper = model.weights[i, j:].sum()
            alone = rule.parents_share * (1 - j / n_depths) if j else 1.0
            weight = m * alone * (deeper > 0 or j == 0) + (1 - m) * deeper
            n = counts[j] + 0.5 * (counts[j] < n_networks)
            scores += weight * changes[:, :, j] / n
        scores += (1 - m) * beside[:, :, i].sum(axis=2)
    return scores


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**13 - 2))
def test_scores_are_those_of_the_rule(heart: Any, members: int) -> None:
    classifier, X, _ = heart
    model, codes = classifier.model_, classifier._predictor().encode(X.slice(0, 20))
    known = (members >> np.arange(13)) % 2 == 1
    found = model.class_log_scores(masked(codes, known))
    wanted = rule_scores(model, codes, known)
    np.testing.assert_allclose(
        log_softmax(found, axis=1), log_softmax(wanted, axis=1), atol=1e-10
    )


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**5 - 2))
def test_numbers_curves_and_trees_count_as_far_as_others_are_known(
    numbers: Any, members: int
) -> None:
    model, codes = numbers
    known = (members >> np.arange(5)) % 2 == 1
    found = model.class_log_scores(masked(codes, known))
    wanted = rule_scores(model, codes, known)
    np.testing.assert_allclose(
        log_softmax(found, axis=1), log_softmax(wanted, axis=1), atol=1e-10
    )


def test_whole_rows_keep_their_bits_among_partial_ones(numbers: Any) -> None:
    model, codes = numbers
    known = np.random.default_rng(0).random((codes.n_rows, 5)) < 0.8
    whole = known.all(axis=1)
    assert 0 < whole.sum() < len(whole)
    cells = masked(codes, known)
    together = model.class_log_scores(cells)
    np.testing.assert_array_equal(together[whole], model.class_log_scores(codes)[whole])
    one_by_one = [
        model.class_log_scores(cells.rows(slice(k, k + 1))) for k in range(60)
    ]
    np.testing.assert_array_equal(together[:60], np.concatenate(one_by_one))


def test_terms_of_partial_rows_add_up_and_unknown_ones_are_zero(numbers: Any) -> None:
    model, codes = numbers
    known = np.random.default_rng(1).random((codes.n_rows, 5)) < 0.6
    cells = masked(codes, known)
    target, against = np.full(codes.n_rows, 2), np.full(codes.n_rows, 0)
    prior, terms = model.contributions(cells, target, against)
    scores = model.class_log_scores(cells)
    np.testing.assert_allclose(
        prior + terms.sum(axis=1), scores[:, 2] - scores[:, 0], atol=1e-10
    )
    assert not terms[~known].any()
    nothing = masked(codes, np.zeros(5, dtype=bool))
    prior, _ = model.contributions(nothing, target, against)
    np.testing.assert_allclose(prior, np.log(model.prior[2] / model.prior[0]))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("chest_pain", "asymptomatic"),
        ("chest_pain", "non-anginal pain"),
        ("thallium_scan", "reversible defect"),
        ("thallium_scan", "normal"),
        ("sex", "female"),
        ("exercise_induced_angina", "yes"),
    ],
)
def test_one_known_feature_predicts_its_share_of_rows(
    heart: Any, column: str, value: str
) -> None:
    classifier, X, y = heart
    rows = np.asarray(X[column].to_pylist()) == value
    index = list(X.column_names).index(column)
    codes = classifier._predictor().encode(X).rows(rows)
    known = np.arange(13) == index
    scores = classifier.model_.class_log_scores(masked(codes, known))
    wanted = (y[rows] == classifier.classes_[1]).mean()
    assert softmax(scores, axis=1)[0, 1] == pytest.approx(wanted, abs=0.01)


def test_no_known_feature_predicts_the_prior(heart: Any) -> None:
    classifier, X, _ = heart
    codes = classifier._predictor().encode(X.slice(0, 1))
    scores = classifier.model_.class_log_scores(masked(codes, np.zeros(13, dtype=bool)))
    np.testing.assert_allclose(softmax(scores[0]), classifier.model_.prior)


def test_the_slope_of_the_loss_is_that_of_differences(numbers: Any) -> None:
    model, codes = numbers
    n = codes.n_rows
    columns = [*(codes.column(i) for i in range(5)), np.arange(n) % 3]
    rows = LeftOutRows(Codes.from_columns(columns, (*codes.cards, 3)))
    bank = FamilyBank.from_networks(model.networks, 3, model.smoothing)
    rule, rng = model.partial, np.random.default_rng(0)
    pieces = _Pieces.of(model, bank, rows, rule, rng)
    for point in ([0.3, 0.1, 0.5], [-1.0, 2.0, 1.5]):
        error = check_grad(
            lambda x: pieces.loss(x, rule)[0],
            lambda x: pieces.loss(x, rule)[1],
            np.array(point),
        )
        assert error < 1e-2 * abs(pieces.loss(np.array(point), rule)[1]).max() + 1e-3


def test_a_state_of_no_training_row_leaves_the_others_known(heart: Any) -> None:
    classifier, X, _ = heart
    row = X.slice(0, 1).to_pylist()[0]
    unseen = classifier.predict_proba(
        pa.Table.from_pylist([row | {"chest_pain": "other"}])
    )
    codes = classifier._predictor().encode(X.slice(0, 1))
    index = list(row).index("chest_pain")
    scores = classifier.model_.class_log_scores(masked(codes, np.arange(13) != index))
    np.testing.assert_allclose(unseen, softmax(scores, axis=1), rtol=1e-12)


def test_the_same_random_state_learns_the_same_rule(heart: Any) -> None:
    classifier, X, y = heart
    again = AveragedKDBClassifier(n_networks=9, random_state=0, n_jobs=2).fit(X, y)
    first, second = classifier.model_.partial, again.model_.partial
    np.testing.assert_array_equal(first.strengths, second.strengths)
    assert (first.rate, first.base_rate, first.parents_share) == (
        second.rate,
        second.base_rate,
        second.parents_share,
    )


def test_alone_means_the_same_number_in_explanations_and_shapes(heart: Any) -> None:
    classifier, X, _ = heart
    explanation = classifier.explain(X.slice(3, 1), of="present", against="absent")[0]
    codes = classifier._predictor().encode(X.slice(3, 1))
    for index, term in enumerate(explanation.terms):
        shape = classifier.shape(term.feature)
        state = int(codes.column(index)[0])
        only = masked(codes, np.arange(13) == index)
        _, terms = classifier.model_.contributions(only, np.array([1]), np.array([0]))
        assert term.alone == pytest.approx(terms[0, index], abs=1e-12)
        assert shape.contributions[state, 1] == pytest.approx(term.alone, abs=1e-12)


@pytest.mark.parametrize("known", [13, 5, 1])
@pytest.mark.parametrize(
    "kind",
    [
        NaiveBayesClassifier,
        TANClassifier,
        KDBClassifier,
        AODEClassifier,
        HNBClassifier,
        LatentClassNBClassifier,
        HierarchicalMixtureNBClassifier,
    ],
)
def test_alone_is_that_of_shapes_for_every_model(
    kind: type[Any], known: int, heart: Any
) -> None:
    _, X, y = heart
    classifier = kind().fit(X, y)
    row = classifier._predictor().encode(X.slice(3, 1))
    row = masked(row, np.arange(13) < known)
    (explanation,) = classifier._predictor().explain(row, "present")
    again = pickle.loads(pickle.dumps(explanation))
    for index, (term, copied) in enumerate(
        zip(explanation.terms, again.terms, strict=True)
    ):
        expected = 0.0
        if index < known:
            shape = classifier.shape(term.feature)
            expected = shape.contributions[int(row.column(index)[0]), 1]
        assert term.alone == pytest.approx(expected, abs=1e-9)
        assert copied.alone == term.alone


def test_the_sum_of_whole_rows_is_asked_for_whole_rows_alone(
    heart: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    classifier, X, y = heart
    source = Path(bayleaf.__file__).parent
    users = [
        p.name for p in source.rglob("*.py") if "_scores_of_whole" in p.read_text()
    ]
    assert users == ["averaged_kdb_model.py"]
    whole, asked = AveragedKDBModel._scores_of_whole, []

    def checked(model: AveragedKDBModel, codes: Codes) -> Any:
        asked.append(codes.n_rows)
        for feature, card in enumerate(codes.cards[: len(model.weights)]):
            assert (codes.column(feature) < card).all()
        return whole(model, codes)

    monkeypatch.setattr(AveragedKDBModel, "_scores_of_whole", checked)
    rows = X.slice(0, 6).to_pylist()
    for number, row in enumerate(rows):
        for name in list(row)[: 2 * number]:
            row[name] = None
    table = pa.Table.from_pylist(rows, schema=X.schema)
    classifier.predict_proba(table)
    classifier.explain(table)
    importance(classifier, table, y[:6])
    credible_intervals(classifier, table, n_draws=5, random_state=0)
    counterfactuals(classifier, table.slice(2, 1), max_changes=1)
    robustness(classifier, table.slice(2, 1), budget=50)
    assert asked


def test_monotone_features_stay_in_order_whatever_is_known() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=400) > 0).astype(int)
    fitted = AveragedKDBClassifier(n_networks=4, monotone={"x0": 1}, random_state=0)
    model = fitted.fit(X, y).model_
    assert model.partial is not None
    assert model.partial.monotone == (0,)
    codes = fitted._predictor().encode(X)
    n_states = len(fitted.encoder_.domain[0].cut_points) + 1
    for known in ([True, False, False], [True, True, False], [True, False, True]):
        for row in range(5):
            columns = [np.full(n_states, codes.column(i)[row]) for i in range(3)]
            columns[0] = np.arange(n_states)
            cells = masked(Codes.from_columns(columns, codes.cards), np.array(known))
            scores = model.class_log_scores(cells)
            assert (np.diff(scores[:, 1] - scores[:, 0]) >= -1e-9).all()
