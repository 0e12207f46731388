"""Interventions and adjustment sets in the names of variables."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetwork, read_network
from bayleaf.data.domain import Domain, Variable
from offenders import check_each

YES_NO = ["no", "yes"]


@pytest.fixture
def sprinkler() -> BayesianNetwork:
    return BayesianNetwork.from_tables(
        states={
            "season": ["dry", "wet"],
            "sprinkler": ["off", "on"],
            "rain": YES_NO,
            "wet": YES_NO,
        },
        parents={
            "sprinkler": ["season"],
            "rain": ["season"],
            "wet": ["sprinkler", "rain"],
        },
        tables={
            "season": [0.5, 0.5],
            "sprinkler": [[0.2, 0.8], [0.9, 0.1]],
            "rain": [[0.9, 0.1], [0.3, 0.7]],
            "wet": [[[1.0, 0.0], [0.1, 0.9]], [[0.1, 0.9], [0.01, 0.99]]],
        },
    )


def test_do_cuts_the_arcs_into_what_is_set_and_no_others(
    sprinkler: BayesianNetwork,
) -> None:
    done = sprinkler.do({"sprinkler": "on"})
    assert set(done.edges) == set(sprinkler.edges) - {("season", "sprinkler")}
    assert done.query()["season"]["dry"] == pytest.approx(0.5)
    assert sprinkler.query({"sprinkler": "on"})["season"]["dry"] > 0.8


def test_a_network_under_do_is_drawn_from_and_saved_as_any_other(
    sprinkler: BayesianNetwork, tmp_path
) -> None:
    done = sprinkler.do({"sprinkler": {"on": 0.25, "off": 0.75}})
    rows = done.sample(4000, random_state=0).to_pydict()
    assert np.mean([s == "on" for s in rows["sprinkler"]]) == pytest.approx(
        0.25, abs=0.03
    )
    done.save(tmp_path / "done.json")
    kept = read_network(tmp_path / "done.json").query()["wet"].probabilities
    assert kept.tolist() == done.query()["wet"].probabilities.tolist()


def test_states_that_are_not_mentioned_get_no_probability(
    sprinkler: BayesianNetwork,
) -> None:
    assert sprinkler.do({"rain": {"yes": 1.0}}).query()["rain"]["no"] == 0.0
    by_array = sprinkler.do({"rain": np.array([0.25, 0.75])})
    assert by_array.query()["rain"]["yes"] == pytest.approx(0.75)


def test_setting_nothing_changes_nothing(sprinkler: BayesianNetwork) -> None:
    assert sprinkler.do({}).edges == sprinkler.edges


def test_a_number_sets_the_interval_that_holds_it(sprinkler: BayesianNetwork) -> None:
    age = Variable("season", ("<= 40", "> 40"), "numeric", (40.0,))
    network = BayesianNetwork(
        Domain((age, *sprinkler.domain.variables[1:])), sprinkler.dag, sprinkler.cpds
    )
    assert network.do({"season": 63.5}).query()["season"].most_probable == "> 40"


def test_a_wrong_intervention_is_refused_in_a_sentence(
    sprinkler: BayesianNetwork,
) -> None:
    cases: list[tuple[Any, Any, str]] = [
        ({"rian": "yes"}, ValueError, "did you mean rain"),
        ({"rain": "maybe"}, ValueError, "no state 'maybe'"),
        ({"rain": ["yes", "no"]}, ValueError, "give one state"),
        ({"rain": None}, ValueError, "give one state"),
        ({"rain": {"yes": 0.5}}, ValueError, "sums to 0.5"),
        ({"rain": {"yes": 1.5, "no": -0.5}}, ValueError, "negative"),
        ({"rain": np.array([1.0])}, ValueError, "shape"),
        ("rain", TypeError, "must be a mapping"),
    ]

    def check(case: tuple[Any, Any, str]) -> None:
        settings, error, told = case
        with pytest.raises(error, match=told):
            sprinkler.do(settings)

    check_each(cases, check)


def test_adjustment_sets_are_sets_of_names_the_smallest_first(
    sprinkler: BayesianNetwork,
) -> None:
    found = sprinkler.adjustment_sets("sprinkler", "wet")
    assert list(found) == [{"season"}, {"rain"}]
    assert {"rain"} in found
    every = sprinkler.adjustment_sets("sprinkler", "wet", minimal=False)
    assert list(every) == [{"season"}, {"rain"}, {"season", "rain"}]
    assert every.are_all


def test_latent_required_and_forbidden_variables_bound_the_sets(
    sprinkler: BayesianNetwork,
) -> None:
    def sets(**bounds: str) -> list[frozenset[str | int]]:
        return list(sprinkler.adjustment_sets("sprinkler", "wet", **bounds))

    assert sets(latent="season") == [{"rain"}]
    assert sets(forbidden="rain") == [{"season"}]
    assert sets(required="season") == [{"season"}]
    assert sets(latent="season", forbidden="rain") == []


def test_a_limit_is_kept_and_told(sprinkler: BayesianNetwork) -> None:
    found = sprinkler.adjustment_sets("sprinkler", "wet", limit=1)
    assert len(found) == 1
    assert not found.are_all
    assert "1 back-door set or more" in str(found)


def test_sets_say_that_arrows_are_an_assumption(sprinkler: BayesianNetwork) -> None:
    none = sprinkler.adjustment_sets(
        "sprinkler", "wet", latent="season", forbidden="rain"
    )
    assert "open path sprinkler <- season -> rain -> wet" in str(none)
    for found in (none, sprinkler.adjustment_sets("sprinkler", "wet")):
        for text in (str(found), repr(found), json.dumps(found.to_dict())):
            assert "assumption" in text


def test_open_paths_are_those_that_bias_unless_all_are_asked_for(
    sprinkler: BayesianNetwork,
) -> None:
    def paths(**options: object) -> list[str]:
        found = sprinkler.open_paths("sprinkler", "wet", **options)  # type: ignore[arg-type]
        return [str(path) for path in found]

    assert paths() == ["sprinkler <- season -> rain -> wet"]
    assert paths(given="rain") == []
    assert paths(causal=True) == [
        "sprinkler -> wet",
        "sprinkler <- season -> rain -> wet",
    ]
    assert len(paths(causal=True, limit=1)) == 1


def test_several_treatments_have_sets_of_their_own(sprinkler: BayesianNetwork) -> None:
    assert list(sprinkler.adjustment_sets(["sprinkler", "rain"], "wet")) == [
        frozenset()
    ]


def test_a_set_is_checked_by_each_criterion(sprinkler: BayesianNetwork) -> None:
    assert sprinkler.is_adjustment_set("sprinkler", "wet", ["rain"])
    assert not sprinkler.is_adjustment_set("sprinkler", "wet", ["rain"], latent="rain")
    assert not sprinkler.is_adjustment_set("season", "wet", ["rain"])
    mediators = ["sprinkler", "rain"]
    assert sprinkler.is_adjustment_set("season", "wet", mediators, kind="frontdoor")
    assert not sprinkler.is_adjustment_set("season", "wet", "rain", kind="frontdoor")


def test_a_wrong_question_about_sets_is_refused_in_a_sentence(
    sprinkler: BayesianNetwork,
) -> None:
    cases: list[tuple[Any, str]] = [
        ({"latent": "wet"}, "cannot be both latent and outcome"),
        ({"required": "rain", "latent": "rain"}, "both latent and required"),
        ({"kind": "sidedoor"}, "kind must be"),
        ({"limit": 0}, "limit must be"),
        ({"latent": "raim"}, "did you mean rain"),
    ]

    def check(case: tuple[Any, str]) -> None:
        options, told = case
        with pytest.raises(ValueError, match=told):
            sprinkler.adjustment_sets("sprinkler", "wet", **options)

    check_each(cases, check)


def test_a_graph_without_tables_has_adjustment_sets(sprinkler: BayesianNetwork) -> None:
    structure = BayesianNetwork.from_edges(sprinkler.edges)
    assert set(structure.adjustment_sets("sprinkler", "wet")) == {
        frozenset({"season"}),
        frozenset({"rain"}),
    }
    assert structure.is_adjustment_set("sprinkler", "wet", "rain")
    (path,) = structure.open_paths("sprinkler", "wet")
    assert str(path) == "sprinkler <- season -> rain -> wet"


@pytest.mark.parametrize(
    # 95 of 100 are expected, with a standard deviation of two.
    ("n_tables", "least_held"),
    [(40, 34), pytest.param(100, 88, marks=pytest.mark.slow)],
)
def test_credible_effects_of_fitted_networks_hold_as_often_as_they_say(
    sprinkler: BayesianNetwork, n_tables: int, least_held: int
) -> None:
    tables = [[[0.8, 0.2], [0.4, 0.6]], [[0.5, 0.5], [0.2, 0.8]]]
    network = sprinkler.with_table("wet", np.array(tables))
    true = network.causal_effect("sprinkler", "wet").difference.value
    structure = BayesianNetwork.from_edges(network.edges)
    n_held = 0
    for seed in range(n_tables):
        fitted = structure.fit(network.sample(500, random_state=seed))
        effect = fitted.causal_effect("sprinkler", "wet", n_draws=300, random_state=0)
        assert effect.notes == ()
        assert effect.difference.low is not None
        assert effect.difference.high is not None
        n_held += effect.difference.low < true < effect.difference.high
    assert n_held >= least_held


def test_no_treatment_is_refused(sprinkler: BayesianNetwork) -> None:
    with pytest.raises(ValueError, match="treatment must name"):
        sprinkler.adjustment_sets([], "wet")


def test_latent_variables_of_a_network_are_in_no_set_and_no_formula(
    sprinkler: BayesianNetwork, tmp_path
) -> None:
    hidden = replace(sprinkler, latents=("season",))
    assert list(hidden.adjustment_sets("sprinkler", "wet")) == [{"rain"}]
    assert not hidden.is_adjustment_set("sprinkler", "wet", "season")
    named = sprinkler.causal_effect("sprinkler", "wet", latent="season", credible=None)
    found = hidden.causal_effect("sprinkler", "wet", credible=None)
    assert found.to_dict() == named.to_dict()
    hidden.save(tmp_path / "hidden.json")
    for again in (
        read_network(tmp_path / "hidden.json"),
        pickle.loads(pickle.dumps(hidden)),
        hidden.do({"rain": "yes"}),
        hidden.fit(sprinkler.sample(50, random_state=0)),
    ):
        assert again.latents == ("season",)
    with pytest.raises(ValueError, match="'season' is latent"):
        hidden.fit(sprinkler.sample(50, random_state=0).drop(["season"]))
    with pytest.raises(ValueError, match="latents names 'W'"):
        replace(sprinkler, latents=("W",))
