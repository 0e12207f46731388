"""A mixture within each class as a model of classes and of rows."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.describe.drawing import table_rows
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.row_propagation import posterior_rows
from bayleaf.models.explanation import explain_rows
from bayleaf.models.latent_class_model import (
    LatentClassExplanation,
    LatentClassModel,
    component_name,
)

CARDS = (3, 2, 4)
N_CLASSES = 3


def _domain(*names: str) -> Domain:
    return Domain(
        tuple(
            Variable(name, tuple(f"s{code}" for code in range(card)))
            for name, card in zip(names, (*CARDS, N_CLASSES), strict=True)
        )
    )


def _model(n_components: int = 3, seed: int = 0) -> LatentClassModel:
    rng = np.random.default_rng(seed)
    shape = (N_CLASSES, n_components)

    def shares(*sizes: int) -> Any:
        drawn = rng.standard_exponential(sizes)
        return drawn / drawn.sum(axis=-1, keepdims=True)

    return LatentClassModel(
        _domain("a", "b", "c", "class"),
        shares(N_CLASSES),
        shares(*shape),
        tuple(shares(*shape, card) for card in CARDS),
    )


def _all_rows() -> Codes:
    """Every row, missing cells included."""
    grid = itertools.product(*(range(card + 1) for card in CARDS))
    columns = np.array(list(grid)).T
    return Codes.from_columns(list(columns), CARDS)


def _joint(model: LatentClassModel, row: tuple[int, ...]) -> Any:
    """P(class, component, observed features), cell by cell."""
    joint = model.prior[:, None] * model.weights
    for state, table in zip(row, model.tables, strict=True):
        if state < table.shape[2]:
            joint = joint * table[:, :, state]
    return joint


def _rows(codes: Codes) -> list[tuple[int, ...]]:
    columns = [codes.column(v).tolist() for v in range(codes.n_variables)]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("n_components", [1, 2, 5])
def test_scores_are_sums_over_components(n_components: int) -> None:
    model, codes = _model(n_components), _all_rows()
    expected = [_joint(model, row).sum(axis=1) for row in _rows(codes)]
    np.testing.assert_allclose(
        np.exp(model.class_log_scores(codes)), expected, rtol=1e-12
    )
    np.testing.assert_allclose(
        np.exp(model.log_evidence(codes)), np.sum(expected, axis=1), rtol=1e-12
    )


def test_component_posteriors_are_shares_of_the_joint() -> None:
    model, codes = _model(), _all_rows()
    joints = np.array([_joint(model, row) for row in _rows(codes)])
    expected = joints / joints.sum(axis=2, keepdims=True)
    found = model.component_posteriors(codes)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    impossible = model.with_class_prior(np.array([0.0, 0.5, 0.5]))
    np.testing.assert_allclose(
        impossible.component_posteriors(codes), expected, rtol=1e-12
    )


@pytest.mark.parametrize("n_components", [1, 4])
def test_the_junction_tree_of_the_network_gives_the_same_posteriors(
    n_components: int,
) -> None:
    model, codes = _model(n_components, seed=1), _all_rows()
    network = model.network
    hidden = [np.full(codes.n_rows, card) for card in network.domain.cards[3:]]
    columns = [codes.column(v) for v in range(3)]
    rows = Codes.from_columns([*columns, *hidden], network.domain.cards)
    tree = JunctionTree.compile(network)
    posteriors, log_evidence = posterior_rows(tree, rows, len(network.domain) - 1, 1)
    scores = model.class_log_scores(codes)
    expected = scores - model.log_evidence(codes)[:, None]
    np.testing.assert_allclose(np.log(posteriors), expected, atol=1e-9)
    np.testing.assert_allclose(log_evidence, model.log_evidence(codes), atol=1e-9)


def test_one_component_is_the_network_of_naive_bayes() -> None:
    network = _model(1).network
    assert network.domain.names == ("a", "b", "c", "class")
    assert sorted(network.dag.arcs) == [(3, 0), (3, 1), (3, 2)]


def test_the_component_is_a_parent_of_everything_in_the_network() -> None:
    network = _model(2).network
    assert network.domain.names == ("a", "b", "c", "component", "class")
    assert {arc for arc in network.dag.arcs if arc[0] == 3} == {
        (3, child) for child in (0, 1, 2, 4)
    }


def test_the_component_is_named_unlike_any_variable() -> None:
    names = ("component", "latent component", "c", "class")
    assert component_name(_domain(*names)) == "latent latent component"


def test_a_component_that_no_class_has_leaves_a_network_of_distributions() -> None:
    model = _model(2)
    model = LatentClassModel(
        model.domain, model.prior, np.array([[1.0, 0.0]] * 3), model.tables
    )
    class_table = model.network.cpds[-1].probabilities
    np.testing.assert_allclose(class_table[0], model.prior, rtol=1e-12)
    np.testing.assert_allclose(class_table[1], 1 / 3, rtol=1e-12)


def test_contributions_add_up_and_follow_the_chain_rule() -> None:
    model, codes = _model(seed=2), _all_rows()
    rows = np.arange(codes.n_rows)
    target, against = rows % 3, (rows + 1) % 3
    prior, terms = model.contributions(codes, target, against)
    scores = model.class_log_scores(codes)
    np.testing.assert_allclose(
        prior + terms.sum(axis=1),
        scores[rows, target] - scores[rows, against],
        atol=1e-12,
    )
    for row, states in enumerate(_rows(codes)):
        first = (*states[:2], CARDS[2])
        joint = _joint(model, first).sum(axis=1)
        odds = math.log(joint[target[row]] / joint[against[row]])
        assert prior[row] + terms[row, :2].sum() == pytest.approx(odds, abs=1e-12)
        for feature, state in enumerate(states):
            assert state < CARDS[feature] or terms[row, feature] == 0.0


def test_a_class_that_has_become_impossible_gets_no_further_terms() -> None:
    model = _model(2)
    tables = [np.array(table) for table in model.tables]
    tables[0][0] = [1.0, 0.0, 0.0]
    model = LatentClassModel(model.domain, model.prior, model.weights, tuple(tables))
    codes = Codes.from_columns([np.array([1]), np.array([0]), np.array([0])], CARDS)
    one, two = np.array([1]), np.array([0])
    _, terms = model.contributions(codes, one, two)
    assert terms[0].tolist() == [math.inf, 0.0, 0.0]


def test_the_table_shown_of_a_feature_has_the_components_summed_out() -> None:
    model = _model()
    header, rows = table_rows(model, "b")
    assert header == ["class", "b = s0", "b = s1"]
    for code, (label, *shares) in enumerate(rows):
        codes = [np.full(2, 3), np.arange(2), np.full(2, 4)]
        joint = np.exp(model.class_log_scores(Codes.from_columns(codes, CARDS)))
        assert label == f"s{code}"
        np.testing.assert_allclose(shares, joint[:, code] / model.prior[code])


def test_free_parameters_are_counted() -> None:
    # 2 of the prior; 1 + 2 (2 + 1 + 3) in each class.
    assert _model(2).n_parameters == 2 + 3 * (1 + 2 * 6)


def test_blocks_of_rows_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    model, codes = _model(), _all_rows()
    whole = model.class_log_scores(codes)
    monkeypatch.setattr("bayleaf.models.latent_class_model._BLOCK_CELLS", 70)
    np.testing.assert_array_equal(model.class_log_scores(codes), whole)


def test_a_pickled_model_scores_the_same_and_holds_no_derived_tables() -> None:
    model, codes = _model(), _all_rows()
    expected = model.class_log_scores(codes)
    other = pickle.loads(pickle.dumps(model))
    assert set(vars(other)) == {"domain", "prior", "weights", "tables"}
    np.testing.assert_array_equal(other.class_log_scores(codes), expected)


def test_a_remark_names_the_states_that_mark_a_component() -> None:
    even, sure = [0.5, 0.5], [0.98, 0.02]
    domain = Domain(
        (Variable("a", ("x", "y")), Variable("b", ("p", "q")), Variable("c", ("k",)))
    )
    model = LatentClassModel(
        domain,
        np.ones(1),
        np.array([[0.75, 0.25]]),
        (np.array([[even, sure]]), np.array([[even, even]])),
    )
    assert model.remarks == (
        "component 1 of c = k: 0.750 of its rows; a = y (0.50, overall 0.38)",
        "component 2 of c = k: 0.250 of its rows; a = x (0.98, overall 0.62)",
    )


def test_a_single_component_is_no_remark() -> None:
    assert _model(1).remarks == ()


def test_light_components_share_a_remark() -> None:
    model = _model(4)
    light = np.array([[0.7, 0.25, 0.03, 0.02]] * N_CLASSES)
    model = LatentClassModel(model.domain, model.prior, light, model.tables)
    starts = [remark.partition(";")[0] for remark in model.remarks]
    assert starts[:3] == [
        "component 1 of class = s0: 0.700 of its rows",
        "component 2 of class = s0: 0.250 of its rows",
        "2 more of class = s0: 0.050 of its rows",
    ]
    assert len(starts) == 3 * N_CLASSES


def test_only_so_many_lines_are_remarked() -> None:
    model = _model(30)
    even = np.full((N_CLASSES, 30), 1 / 30)
    model = LatentClassModel(model.domain, model.prior, even, model.tables)
    remarks = model.remarks
    assert len(remarks) == 41
    assert remarks[-1].endswith("more lines on other components")


def test_an_explanation_names_the_components_of_both_classes() -> None:
    model, codes = _model(), _all_rows()
    labels = np.array(["u", "v", "w"])
    predicted = np.argmax(model.class_log_scores(codes), axis=1)
    explanations = explain_rows(model, codes, labels, predicted=predicted)
    shares = model.component_posteriors(codes)
    for row, found in enumerate(explanations):
        assert isinstance(found, LatentClassExplanation)
        own = labels.tolist().index(found.target)
        other = labels.tolist().index(found.against)
        assert found.components == tuple(shares[row, own].tolist())
        assert found.against_components == tuple(shares[row, other].tolist())
    likeliest = int(np.argmax(shares[row, own]))
    told = f"component if {found.target}: {likeliest + 1} with "
    assert told in str(found)
    assert f"component if {found.against}: " in str(found)
    assert json.loads(json.dumps(found.to_dict()))["components"] == [*found.components]


@pytest.mark.parametrize(
    ("weights", "tables", "sentence"),
    [
        (np.ones((2, 1)), 1, r"weights of shape \(2, 1\) .* 3 classes"),
        (np.ones(3), 1, r"weights of shape \(3,\)"),
        (np.ones((3, 1)), 2, r"tables have shapes .* need"),
    ],
)
def test_tables_that_do_not_fit_are_refused(
    weights: Any, tables: int, sentence: str
) -> None:
    shapes = [(N_CLASSES, tables, card) for card in CARDS]
    with pytest.raises(ValueError, match=sentence):
        LatentClassModel(
            _domain("a", "b", "c", "class"),
            np.full(3, 1 / 3),
            weights,
            tuple(np.ones(shape) for shape in shapes),
        )
