"""Influence diagrams: what they refuse, evidence, and values of information."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayleaf import ImpossibleEvidenceError, InfluenceDiagram, TooWideError
from bayleaf.graph.dag import DAG
from offenders import check_each
from oracles.decision_problems import chest_clinic, oil_wildcatter, umbrella
from oracles.random_diagrams import best_by_trying, joint_utility, random_diagram

PARTS: dict[str, Any] = {
    "states": {"x": ["a", "b"], "d": ["go", "stay"]},
    "parents": {"d": ["x"], "u": ["x", "d"]},
    "tables": {"x": [0.5, 0.5]},
    "decisions": ["d"],
    "utilities": {"u": [[1, 0], [0, 1]]},
}


def refused(problem: str, **changed: Any) -> None:
    with pytest.raises(ValueError, match=problem):
        InfluenceDiagram.from_tables(**(PARTS | changed))


def test_parts_that_do_not_fit_are_refused() -> None:
    cases: dict[str, dict[str, Any]] = {
        "decisions contain 'e'": {"decisions": ["e"]},
        "'d' has no table": {"decisions": []},
        "has a table and is a decision": {"decisions": ["d", "x"]},
        "a variable and a utility": {"utilities": {"x": [1, 2]}},
        "no utility": {"utilities": {}, "parents": {}},
        "utility 'u' is a parent of 'x'": {"parents": {"x": ["u"]}},
        r"utility 'u' needs finite numbers of shape \(2, 2\)": {
            "utilities": {"u": [1, 2, 3]}
        },
        "finite numbers": {"utilities": {"u": [[1, 0], [0, np.nan]]}},
        "parents are given for 'w'": {"parents": {"w": ["x"]}},
        "cycle": {
            "parents": {"x": ["d"], "d": ["x"]},
            "tables": {"x": [[0.5, 0.5], [0.5, 0.5]]},
        },
    }
    check_each(cases, lambda problem: refused(problem, **cases[problem]))


def test_decisions_without_order_need_limited_memory() -> None:
    diagram = InfluenceDiagram.from_tables(
        states={"x": ["a", "b"], "c": ["go", "stay"], "d": ["go", "stay"]},
        parents={"u": ["x", "c", "d"]},
        tables={"x": [0.5, 0.5]},
        decisions=["c", "d"],
        utilities={"u": [3, 0, 0, 5, 2, 0, 0, 1]},
    )
    with pytest.raises(ValueError, match="which of the decisions 'c' and 'd' comes"):
        diagram.solve()
    solution = diagram.solve(limited_memory=True)
    assert solution.expected_utility == pytest.approx(3)
    assert (solution["c"].choice(), solution["d"].choice()) == ("stay", "stay")


def test_without_memory_a_later_decision_does_not_see_an_earlier_observation() -> None:
    diagram = InfluenceDiagram.from_tables(
        states={"x": ["a", "b"], "c": ["go", "stay"], "d": ["go", "stay"]},
        parents={"c": ["x"], "d": ["c"], "u": ["x", "d"], "v": ["c"]},
        tables={"x": [0.5, 0.5]},
        decisions=["c", "d"],
        utilities={"u": [[1, 0], [0, 1]], "v": [0, 0.1]},
    )
    # A forgetful decision learns of x only through c, at the price of v.
    assert diagram.solve().expected_utility == pytest.approx(1.1)
    assert diagram.solve(limited_memory=True).expected_utility == pytest.approx(1.05)


def test_evidence_and_fixed_decisions_change_what_is_best() -> None:
    diagram = oil_wildcatter()
    dry = diagram.solve({"oil": "dry"})
    assert dry["test"].choice() == "no"
    assert dry.expected_utility == pytest.approx(0)
    opened = diagram.solve({"test": "yes", "structure": "open"})
    assert opened.expected_utility == pytest.approx(11.5 / 0.35 - 10)
    assert [policy.decision.name for policy in opened.policies] == ["drill"]
    assert opened["drill"].observed == ()
    assert opened["drill"].explain() == "yes: +32.8571"
    assert opened.given == "test = yes, structure = open"
    # As likely as dry and wet ground in the ratio 1 to 2.
    unsure = diagram.solve(
        {"oil": {"dry": 0.2, "wet": 2 / 3, "soaking": 0}, "test": "no"}
    )
    assert unsure.expected_utility == pytest.approx((-70 + 2 * 50) / 3)


def test_evidence_that_cannot_be_is_refused() -> None:
    diagram = oil_wildcatter()
    with pytest.raises(ValueError, match="'structure' cannot be given, as decision"):
        diagram.solve({"structure": "open"})
    with pytest.raises(ValueError, match="fixed at one option only"):
        diagram.solve({"test": {"yes": 1, "no": 2}})
    with pytest.raises(ImpossibleEvidenceError, match="structure = open has prob"):
        diagram.solve({"test": "no", "structure": "open"})


def _check_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    diagram = random_diagram(rng, 1)
    (decision,) = diagram.decisions
    first = [v for v in range(diagram.domain.index(decision)) if diagram.cpds[v]]
    weights = {v: rng.uniform(0.1, 1, diagram.domain.cards[v]) for v in first[:2]}
    if seed % 2:
        weights = {v: np.eye(len(w))[w.argmax()] for v, w in weights.items()}
    given = {diagram.domain.names[v]: weight for v, weight in weights.items()}
    if not joint_utility(diagram, weights)[0].any():
        with pytest.raises(ImpossibleEvidenceError):
            diagram.solve(given)
        return
    best = best_by_trying(diagram, weights=weights)
    assert diagram.solve(given).expected_utility == pytest.approx(best, abs=1e-9)


def test_evidence_equals_weights_of_the_joint() -> None:
    check_each(range(20), _check_evidence)


def test_information_is_worth_what_it_adds_to_the_expected_utility() -> None:
    oil = oil_wildcatter()
    # Wells in oil alone: 0.3 * 50 + 0.2 * 200, without a test.
    assert oil.value_of_observing() == pytest.approx(55 - 22.5)
    found = oil.value_of_information()
    assert dict(found) == {"oil": pytest.approx(32.5)}
    assert ">32.5<" in pickle.loads(pickle.dumps(found))._repr_html_()
    blind = InfluenceDiagram.from_tables(
        states={"weather": ["dry", "rain"], "umbrella": ["take", "leave"]},
        parents={"u": ["weather", "umbrella"]},
        tables={"weather": [0.7, 0.3]},
        decisions=["umbrella"],
        utilities={"u": [[20, 100], [70, 0]]},
    )
    assert blind.value_of_observing("weather") == pytest.approx(91 - 70)
    # What is seen before an earlier decision is not listed again.
    assert set(chest_clinic().value_of_information("hospitalise")) == {
        *("smoker", "tuberculosis", "cancer", "bronchitis", "either")
    }
    # A forecast makes the weather itself worth less.
    assert umbrella().value_of_observing("weather") == pytest.approx(91 - 77)
    assert umbrella().value_of_observing("forecast") == 0


def _check_information(seed: int) -> None:
    rng = np.random.default_rng(seed)
    diagram = random_diagram(rng, 1)
    (decision,) = diagram.decisions
    node = diagram.domain.index(decision)
    before = list(diagram.dag.parents[node])
    for v in (v for v in range(node) if v not in before):
        parents = list(diagram.dag.parents)
        parents[node] = (*before, v)
        informed = replace(diagram, dag=DAG(tuple(parents)))
        gain = best_by_trying(informed) - best_by_trying(diagram)
        value = diagram.value_of_observing(diagram.domain.names[v])
        assert value == pytest.approx(gain, abs=1e-9)


def test_the_value_of_an_observation_is_that_of_an_arc_into_the_decision() -> None:
    check_each(range(20), _check_information)


def test_what_a_decision_influences_cannot_be_observed_before_it() -> None:
    oil = oil_wildcatter()
    with pytest.raises(ValueError, match="'test' influences 'structure'"):
        oil.value_of_observing("structure")
    with pytest.raises(ValueError, match="'oil' is not a decision; decisions are test"):
        oil.value_of_information("oil")


def test_tables_that_are_too_large_are_refused_by_name() -> None:
    with pytest.raises(TooWideError, match="a table of 24 cells over oil"):
        oil_wildcatter().solve(max_table_cells=10)


def test_a_diagram_shows_its_parts() -> None:
    oil = oil_wildcatter()
    assert repr(oil) == (
        "<InfluenceDiagram: 2 chance variables; 2 decisions; 2 utilities>"
    )
    assert "structure → drill" in str(oil)
    assert "structure → drill" in oil._repr_html_()
    assert "<svg" in oil._repr_html_()
    assert oil.decisions == ("test", "drill")
