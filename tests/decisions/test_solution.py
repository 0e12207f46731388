"""Policies explain themselves: gains, what moves them, tables."""

from __future__ import annotations

import json

import pytest

from bayleaf.decisions import InfluenceDiagram
from oracles.decision_problems import car_buyer, oil_wildcatter


@pytest.fixture
def treatment() -> InfluenceDiagram:
    """Fever and age hint at a disease that may be treated."""
    return InfluenceDiagram.from_tables(
        states={
            "disease": ["yes", "no"],
            "fever": ["high", "none"],
            "age": ["old", "young"],
            "treat": ["treat", "wait"],
        },
        parents={
            "fever": ["disease"],
            "disease": ["age"],
            "treat": ["fever", "age"],
            "health": ["disease", "treat"],
        },
        tables={
            "age": [0.5, 0.5],
            "disease": [[0.3, 0.7], [0.2, 0.8]],
            "fever": [[0.9, 0.1], [0.2, 0.8]],
        },
        decisions=["treat"],
        utilities={"health": [[-2, -10], [-3, 0]]},
    )


def test_a_choice_is_explained_by_its_gain_and_what_moves_it_most(
    treatment: InfluenceDiagram,
) -> None:
    policy = treatment.solve()["treat"]
    # P(disease | high, old) = .27 / .41; treating gains 8 if ill and costs 3 if not.
    gain = (0.27 * 8 - 0.14 * 3) / 0.41
    assert policy.explain({"fever": "high", "age": "old"}) == (
        f"treat: +{gain:.6g}; most by fever"
    )
    assert policy.choice({"fever": "none", "age": "old"}) == "wait"
    assert policy.worth["fever"] > policy.worth["age"]


def test_an_observation_is_worth_what_deciding_without_it_loses(
    treatment: InfluenceDiagram,
) -> None:
    solution = treatment.solve()
    blind = InfluenceDiagram(
        treatment.domain,
        type(treatment.dag)(
            tuple(
                tuple(p for p in parents if not (node == 3 and p == 1))
                for node, parents in enumerate(treatment.dag.parents)
            )
        ),
        treatment.cpds,
        treatment.utilities,
    )
    lost = solution.expected_utility - blind.solve().expected_utility
    assert solution["treat"].worth["fever"] == pytest.approx(lost)


def test_observations_must_be_those_that_matter(treatment: InfluenceDiagram) -> None:
    policy = treatment.solve()["treat"]
    with pytest.raises(ValueError, match="depends on age; give its state"):
        policy.choice({"fever": "high"})
    with pytest.raises(ValueError, match="'disease' is not observed before decision"):
        policy.choice({"fever": "high", "age": "old", "disease": "yes"})
    with pytest.raises(KeyError, match="'rest'"):
        treatment.solve()["rest"]


def test_what_is_known_without_bearing_is_listed_and_may_be_given() -> None:
    diagram = InfluenceDiagram.from_tables(
        states={"coin": ["head", "tail"], "d": ["a", "b"]},
        parents={"d": ["coin"], "u": ["d"]},
        tables={"coin": [0.5, 0.5]},
        decisions=["d"],
        utilities={"u": [1, 2]},
    )
    policy = diagram.solve()["d"]
    assert policy.ignored == ("coin",)
    assert policy.explain({"coin": "head"}) == "b: +1"
    assert "known as well, without bearing on it: coin" in str(policy)


def test_equal_options_are_all_named() -> None:
    rows = str(car_buyer().solve()["second test"])
    assert "differential or none" in rows


def test_impossible_observations_have_no_choice() -> None:
    policy = oil_wildcatter().solve()["drill"]
    assert policy.explain({"test": "no", "structure": "open"}) == "impossible"
    assert "unknown" not in str(policy)


def test_names_from_files_do_no_harm() -> None:
    odd, bold = "x\x1b[31m\n", "<b>yes"
    diagram = InfluenceDiagram.from_tables(
        states={odd: ["\x1b[1m", "no"], bold: [bold, "\x1b[2m"]},
        parents={bold: [odd], "u\x1b": [odd, bold]},
        tables={odd: [0.5, 0.5]},
        decisions=[bold],
        utilities={"u\x1b": [[1, 0], [0, 2]], "<b>": 3},
    )
    solution = diagram.solve()
    texts = [str(solution), str(diagram), solution[bold].explain({odd: "no"})]
    assert not any("\x1b" in text for text in texts)
    pages = [solution._repr_html_(), diagram._repr_html_()]
    assert not any("<b>" in page or "\x1b" in page for page in pages)


def test_solutions_are_shown_as_text_html_and_json() -> None:
    solution = oil_wildcatter().solve({"oil": ["wet", "soaking"]})
    assert str(solution).startswith("Expected utility 110, given oil")
    assert "<table" in solution._repr_html_()
    values = json.loads(json.dumps(solution.to_dict()))
    assert values["policies"][0]["rows"][0]["choice"] == "no"
    assert values["utilities"] == {"cost": 0, "profit": pytest.approx(110)}
