"""What the page computes is what Python computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.smoothing import Lidstone
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Variable
from bayleaf.explain import counterfactuals
from bayleaf.explorer import explorer_html
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from explorer.cases import Case, classifier_case, classifiers, density_case, file_case

pytestmark = pytest.mark.slow

KINDS = [*classifiers(), "density", "file"]
N_EVIDENCES = 50
TOLERANCE = 1e-9

ANSWERS = """evidences => evidences.map((evidence) => {
  const { session } = window.bayleaf;
  session.replace(evidence.map((mask) => mask && Uint8Array.from(mask)));
  const found = session.posteriors();
  return {
    posteriors: found && found.map((own) => own && Array.from(own)),
    explanation: session.explanation(),
  };
})"""


def case_of(kind: str, folder: Path) -> Case:
    """A model of a kind."""
    if kind == "density":
        return density_case()
    return file_case(folder) if kind == "file" else classifier_case(kind)


def answers(page: Any, case: Case, masks: list[dict[int, Any]]) -> list[Any]:
    """What the page says under several pieces of evidence."""
    n = len(case.cards)
    evidences = [
        [own[v].tolist() if v in own else None for v in range(n)] for own in masks
    ]
    return page.evaluate(ANSWERS, evidences)


def in_turn(kinds: list[str], first: int) -> list[Any]:
    """Every other kind; the rest are for the long tests."""
    return [
        kind if place % 2 == first else pytest.param(kind, marks=pytest.mark.long)
        for place, kind in enumerate(kinds)
    ]


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", in_turn(KINDS, 0))
def test_posteriors_are_those_of_python(
    kind: str, open_page: Any, tmp_path: Path
) -> None:
    case = case_of(kind, tmp_path)
    page = open_page(explorer_html(case.model))
    masks = [case.random_masks(seed) for seed in range(N_EVIDENCES)]
    n_checked = 0
    for own, answer in zip(masks, answers(page, case, masks), strict=True):
        found = answer["posteriors"]
        if case.networks:
            expected = case.posteriors(own)
            assert (found is None) == (expected is None)
            if expected is None:
                continue
            # The class's own posterior may be calibrated; that is looked at below.
            for variable in range(len(case.cards) - (case.predictor is not None)):
                np.testing.assert_allclose(
                    found[variable], expected[variable], rtol=0, atol=TOLERANCE
                )
        features = {v: m for v, m in own.items() if v < case.n_features}
        is_hard = all(mask.sum() == 1 for mask in own.values())
        if case.predictor is not None and is_hard and len(features) == len(own):
            states = {v: int(mask.argmax()) for v, mask in own.items()}
            np.testing.assert_allclose(
                found[-1], case.class_proba(states), rtol=0, atol=TOLERANCE
            )
        n_checked += 1
    assert n_checked > N_EVIDENCES // 2


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", in_turn(list(classifiers()), 1))
def test_contributions_are_those_of_python(kind: str, open_page: Any) -> None:
    case = classifier_case(kind)
    page = open_page(explorer_html(case.model))
    rng = np.random.default_rng(7)
    rows = [
        {v: int(rng.integers(case.cards[v])) for v in range(6) if rng.random() < share}
        for share in np.repeat([0.3, 0.7, 1.0], 10)
    ]
    masks = [
        {v: np.eye(case.cards[v], dtype=int)[s] for v, s in row.items()} for row in rows
    ]
    assert case.predictor is not None
    labels = case.predictor.classes.tolist()
    for row, answer in zip(rows, answers(page, case, masks), strict=True):
        found, expected = answer["explanation"], case.explanation(row)
        assert labels[found["target"]] == expected.target
        assert labels[found["against"]] == expected.against
        assert found["logOdds"] == pytest.approx(expected.log_odds, abs=TOLERANCE)
        assert found["prior"] == pytest.approx(expected.prior, abs=TOLERANCE)
        terms = [term.contribution for term in expected.terms]
        np.testing.assert_allclose(found["terms"][:6], terms, rtol=0, atol=TOLERANCE)
        total = found["prior"] + sum(found["terms"])
        assert total == pytest.approx(found["logOdds"], abs=TOLERANCE)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "kind",
    [
        "TAN",
        "KDB",
        "KDB with a number",
        "AODE",
        "A2DE",
        "averaged KDB",
        "mixture",
        "HNB",
    ],
)
def test_counterfactuals_are_all_minimal_ones_of_one_or_two_changes(
    kind: str, open_page: Any
) -> None:
    case = classifier_case(kind)
    page = open_page(explorer_html(case.model))
    assert case.predictor is not None
    domain = case.predictor.model.domain
    n_found = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n_values = [v.n_states - v.has_missing_state for v in domain]
        row = {v: int(rng.integers(n_values[v])) for v in range(6)}
        masks = [{v: np.eye(case.cards[v], dtype=int)[s] for v, s in row.items()}]
        answers(page, case, masks)
        found = page.evaluate("window.bayleaf.allCounterfactuals()")
        shown = {
            frozenset((c["variable"], c["to"]) for c in one["changes"]) for one in found
        }
        assert shown == flips(case, row)
        # The first ones are those that the package names first.
        values = {f"x{v}": value_of(domain[v], code) for v, code in row.items()}
        listed = counterfactuals(case.model, values, n=1000, max_changes=2)
        assert len(listed) == len(found)
        for ours, theirs in zip(listed, found, strict=True):
            assert len(ours.changes) == len(theirs["changes"])
            assert theirs["logProbability"] == pytest.approx(ours.log_probability)
        n_found += len(found)
    assert n_found > 0


def value_of(variable: Variable, code: int) -> Any:
    """A cell of a table that has a state."""
    if variable.kind == "nominal":
        return variable.states[code]
    return [*variable.cut_points, variable.cut_points[-1] + 1.0][code]


def flips(case: Case, row: dict[int, int]) -> set[frozenset[tuple[int, int]]]:
    """Every set of one or two changes that flips the decision, none of its parts do."""
    predictor = case.predictor
    assert predictor is not None

    def decided(states: dict[int, int]) -> int:
        return int(predictor.choose(predictor.proba(case.codes(states)))[0])

    before = decided(row)
    # A missing state is neither left nor entered.
    n_values = [v.n_states - v.has_missing_state for v in predictor.model.domain]
    known = [v for v, code in row.items() if code < n_values[v]]
    singles = [(v, s) for v in known for s in range(n_values[v]) if s != row[v]]
    found = {
        frozenset([one]) for one in singles if decided({**row, **dict([one])}) != before
    }
    for one in singles:
        for other in singles:
            parts = {frozenset([one]), frozenset([other])}
            if one[0] < other[0] and not parts & found:
                changed = {**row, **dict([one, other])}
                if decided(changed) != before:
                    found.add(frozenset([one, other]))
    return found


def test_evidence_that_outweighs_the_range_of_numbers_comes_back(
    open_page: Any,
) -> None:
    # The first half says "a", the second half "b", each by more than 1e300 to one.
    rng = np.random.default_rng(0)
    n, rows = 240, 400
    label = np.arange(rows) % 2
    X = (rng.random((rows, n)) < np.where(label, 0.998, 0.002)[:, None]).astype(int)
    y = np.where(label, "b", "a")
    fitted = NaiveBayesClassifier(smoothing=Lidstone(1e-4)).fit(X, y)
    case = Case("wide", fitted, fitted.network_, fitted._predictor())
    page = open_page(explorer_html(fitted))
    row = {v: int(v >= n // 2) for v in range(n)}
    masks = [{v: np.eye(2, dtype=int)[s] for v, s in row.items()}]
    (answer,) = answers(page, case, masks)
    expected = case.explanation(row)
    terms = [term.contribution for term in expected.terms]
    assert abs(sum(terms[: n // 2])) > 690
    np.testing.assert_allclose(
        answer["posteriors"][-1], case.class_proba(row), rtol=0, atol=TOLERANCE
    )
    sign = (
        1
        if answer["explanation"]["target"] == list("ab").index(expected.target)
        else -1
    )
    np.testing.assert_allclose(
        np.array(answer["explanation"]["terms"][:n]) * sign, terms, atol=1e-7
    )


def test_a_tree_that_is_taken_apart_answers_as_python_does(open_page: Any) -> None:
    # Its full table would have 2**19 cells, so auxiliary variables stand for contexts.
    n = 18
    rng = np.random.default_rng(3)
    root: Any = Leaf(rng.dirichlet([1.0, 1.0]))
    for parent in range(n):
        leaf = Leaf(rng.dirichlet([1.0, 1.0]))
        root = Split(parent, ((0,), (1,)), (leaf, root))
    family = (*range(n), n)
    tables = [TableCPD((v,), rng.dirichlet([1.0, 1.0])) for v in range(n)]
    tree = TreeCPD(family, (2,) * (n + 1), root)
    names = {f"v{i}": ["no", "yes"] for i in range(n + 1)}
    plain = BayesianNetwork.from_tables(names, {name: [0.5, 0.5] for name in names})
    dag = DAG((*[()] * n, tuple(range(n))))
    network = BayesianNetwork(plain.domain, dag, (*tables, tree))
    case = Case("tree", network, network)
    page = open_page(explorer_html(network))
    masks = [case.random_masks(seed) for seed in range(10)]
    for own, answer in zip(masks, answers(page, case, masks), strict=True):
        expected = case.posteriors(own)
        assert expected is not None
        for found, wanted in zip(answer["posteriors"], expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=TOLERANCE)


def test_fifty_variables_update_in_the_time_of_few_sweeps_over_their_tables(
    open_page: Any,
) -> None:
    rng = np.random.default_rng(1)
    n, card = 50, 6
    names = [f"v{i}" for i in range(n)]
    parents = {names[i]: [names[j] for j in range(max(0, i - 3), i)] for i in range(n)}
    tables = {
        names[i]: rng.dirichlet(np.ones(card), size=(card,) * min(i, 3))
        for i in range(n)
    }
    states = {name: [str(s) for s in range(card)] for name in names}
    network = BayesianNetwork.from_tables(states, tables, parents)
    page = open_page(explorer_html(network))
    cells = page.evaluate("window.bayleaf.session.engine.tree.nCells")
    assert 5e4 < cells <= 1e5
    measure = """() => {
          const cells = new Float64Array(window.bayleaf.session.engine.tree.nCells);
          const sweep = () => {
            const start = performance.now();
            for (let turn = 1; turn <= 200; turn += 1) {
              for (let i = 0; i < cells.length; i += 1) cells[i] += i * turn;
            }
            return performance.now() - start;
          };
          return Array.from({ length: 50 }, (_, i) => {
            window.bayleaf.session.choose((7 * i) % 50, i % 6);
            return [window.bayleaf.page.inferenceMilliseconds, sweep()];
          });
        }"""
    # The first ones run before the browser has compiled the loops, which waits for a
    # processor on a busy machine.
    found: list[list[float]] = []
    for _ in range(10):
        found += page.evaluate(measure)
        spent, plain = np.min(found, axis=0)
        if spent < 6 * plain:
            break
    assert spent < 6 * plain
