"""Effects: what they compare, what they rest on, and what is refused."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from bayleaf import BayesianNetwork, ImpossibleEvidenceError
from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable
from offenders import check_each

YES_NO = ["no", "yes"]


@pytest.fixture
def drug() -> BayesianNetwork:
    """A drug given by age, and a number of days in bed."""
    return BayesianNetwork.from_tables(
        states={
            "age": ["young", "old"],
            "drug": ["none", "low", "high"],
            "better": YES_NO,
            "days": [1, 5, 9],
        },
        parents={"drug": ["age"], "better": ["age", "drug"], "days": ["better"]},
        tables={
            "age": [0.6, 0.4],
            "drug": [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]],
            "better": [
                [[0.3, 0.7], [0.2, 0.8], [0.1, 0.9]],
                [[0.6, 0.4], [0.5, 0.5], [0.3, 0.7]],
            ],
            "days": [[0.1, 0.3, 0.6], [0.7, 0.2, 0.1]],
        },
    )


def better(drug_code: int) -> float:
    """P(better | do(drug)) by hand."""
    return 0.6 * [0.7, 0.8, 0.9][drug_code] + 0.4 * [0.4, 0.5, 0.7][drug_code]


def test_contrasts_are_those_of_the_named_states(drug: BayesianNetwork) -> None:
    effect = drug.causal_effect("drug", "better", values=("none", "high"))
    a, b = better(0), better(2)
    assert effect.values == ("none", "high")
    assert effect.difference.value == pytest.approx(b - a, abs=1e-12)
    assert effect.ratio is not None
    assert effect.ratio.value == pytest.approx(b / a, abs=1e-12)
    assert effect.log_odds is not None
    odds = np.log(b / (1 - b)) - np.log(a / (1 - a))
    assert effect.log_odds.value == pytest.approx(odds, abs=1e-12)


def test_every_state_is_compared_with_the_first_by_default(
    drug: BayesianNetwork,
) -> None:
    effect = drug.causal_effect("drug", "better")
    found = [(c.value, c.reference, c.difference.value) for c in effect.contrasts]
    assert [f[:2] for f in found] == [("low", "none"), ("high", "none")]
    expected = [better(1) - better(0), better(2) - better(0)]
    assert [f[2] for f in found] == pytest.approx(expected)
    middle = effect.contrast("high", "low")
    assert middle.difference.value == pytest.approx(better(2) - better(1))


def test_numbers_are_compared_by_their_expectation(drug: BayesianNetwork) -> None:
    effect = drug.causal_effect("drug", "days")
    sick, well = 0.1 + 1.5 + 5.4, 0.7 + 1.0 + 0.9
    expected = [well * better(x) + sick * (1 - better(x)) for x in (0, 2)]
    assert effect.expectation("none").value == pytest.approx(expected[0])
    assert effect.difference.value == pytest.approx(expected[1] - expected[0])
    assert effect.ratio is None
    named = drug.causal_effect("drug", "days", outcome_state=9)
    assert named.contrast().of == "days = 9"


def test_several_events_ask_for_a_name(drug: BayesianNetwork) -> None:
    effect = drug.causal_effect("better", "drug")
    with pytest.raises(ValueError, match="name one by outcome_state="):
        _ = effect.difference
    assert effect.contrast(outcome_state="low").difference.value == pytest.approx(0.0)


def test_an_effect_may_be_asked_among_some_cases(drug: BayesianNetwork) -> None:
    effect = drug.causal_effect("drug", "better", given={"age": "old"})
    assert effect.distribution("high")["yes"] == pytest.approx(0.7)
    assert "given age = old" in str(effect)
    spoken = drug.causal_effect("drug", "better", given="age = old")
    np.testing.assert_array_equal(spoken.probabilities, effect.probabilities)
    adjusted = drug.causal_effect("drug", "better", given={"age": "old"}, adjust_for=[])
    np.testing.assert_allclose(adjusted.probabilities, effect.probabilities)


def test_without_experience_there_is_no_interval_and_it_says_so(
    drug: BayesianNetwork,
) -> None:
    effect = drug.causal_effect("drug", "better")
    assert effect.drawn is None
    assert effect.difference.low is None
    assert "with_experience" in str(effect)
    assert drug.causal_effect("drug", "better", credible=None).notes == ()


def test_intervals_are_quantiles_of_dirichlet_draws(drug: BayesianNetwork) -> None:
    # With one cause only, the draws are those of a beta distribution.
    network = drug.with_experience({"better": 40.0})
    effect = network.causal_effect(
        "drug", "better", given={"age": "old"}, n_draws=40_000, random_state=1
    )
    found = effect.probability("high", "yes")
    draws = np.random.default_rng(0).beta(0.7 * 40, 0.3 * 40, 400_000)
    expected = np.quantile(draws, [0.025, 0.975])
    assert [found.low, found.high] == pytest.approx(expected, abs=3e-3)
    assert "distributions of age" not in str(effect)


def test_tables_without_experience_are_named_as_known(drug: BayesianNetwork) -> None:
    effect = drug.with_experience({"better": 40.0}).causal_effect("drug", "better")
    assert "take the distributions of age as known" in str(effect)


def test_the_same_seed_gives_the_same_interval(drug: BayesianNetwork) -> None:
    network = drug.with_experience(30.0)
    first, second, other = (
        network.causal_effect("drug", "better", n_draws=50, random_state=seed)
        for seed in (3, 3, 4)
    )
    assert first.difference == second.difference
    assert first.difference != other.difference


def test_more_experience_narrows_intervals_and_none_leaves_them_wide(
    drug: BayesianNetwork,
) -> None:
    widths = []
    for rows in (0.0, 10.0, 1000.0):
        effect = drug.with_experience(rows).causal_effect(
            "drug", "better", random_state=0
        )
        found = effect.probability("high", "yes")
        assert found.low is not None
        assert found.high is not None
        widths.append(found.high - found.low)
    assert widths[0] == pytest.approx(1.0)
    assert widths[0] > widths[1] > 5 * widths[2]


def test_the_draws_average_to_the_effect(drug: BayesianNetwork) -> None:
    effect = drug.with_experience(20.0).causal_effect(
        "drug", "better", n_draws=20_000, random_state=0
    )
    assert effect.drawn is not None
    means = effect.drawn.mean(axis=0)
    np.testing.assert_allclose(means, effect.probabilities, atol=0.01)


def test_an_effect_is_shown_with_its_assumption_everywhere(
    drug: BayesianNetwork,
) -> None:
    effect = drug.with_experience(9.0).causal_effect("drug", "better", random_state=0)
    assert "assumption" in str(effect)
    assert "assumption" in repr(effect)
    assert "assumption" in effect._repr_html_()
    assert "assumption" in json.dumps(effect.to_dict())
    assert str(pickle.loads(pickle.dumps(effect))) == str(effect)


def test_no_directed_path_means_no_effect(drug: BayesianNetwork) -> None:
    effect = drug.causal_effect("days", "drug", outcome_state="high", latent="age")
    assert effect.formula.startswith("no directed path")
    assert effect.contrast("9", "1").difference.value == pytest.approx(0.0)


def test_a_treatment_that_never_occurs_cannot_be_adjusted_for() -> None:
    network = BayesianNetwork.from_tables(
        states={"age": ["young", "old"], "drug": YES_NO, "better": YES_NO},
        parents={"drug": ["age"], "better": ["age", "drug"]},
        tables={
            "age": [0.6, 0.4],
            "drug": [[0.5, 0.5], [1.0, 0.0]],
            "better": [[[0.3, 0.7], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]],
        },
    )
    with pytest.raises(ValueError, match="drug = yes never occurs among age = old"):
        network.causal_effect("drug", "better", adjust_for="age")
    # What tables say where nothing occurs is taken at their word.
    found = network.causal_effect("drug", "better").distribution("yes")["yes"]
    assert found == pytest.approx(0.6 * 0.8 + 0.4 * 0.5)


def test_what_cannot_be_answered_is_refused_in_a_sentence(
    drug: BayesianNetwork,
) -> None:
    cases: list[tuple[dict[str, object], str]] = [
        ({"values": ["low"]}, "two or more different states"),
        ({"values": "low"}, "values must be several states"),
        ({"values": ["low", "lots"]}, "no state 'lots'"),
        ({"outcome_state": "maybe"}, "no state 'maybe'"),
        ({"given": {"drug": "low"}}, "is the treatment and cannot be given"),
        ({"given": {"better": "no"}}, "is the outcome and cannot be given"),
        ({"latent": "drug"}, "is the treatment and cannot be latent"),
        ({"latent": "age", "given": {"age": "old"}}, "latent and cannot be given"),
        ({"latent": "age", "given": {"days": 1}}, "the treatment acts on it"),
        ({"latent": "age"}, "open path drug <- age -> better"),
        ({"latent": "age", "adjust_for": "age"}, "while marked as latent"),
        ({"adjust_for": "days"}, "below the treatment; leave it out"),
        ({"adjust_for": []}, "adjusting for nothing leaves the path drug <- age"),
        ({"latent": "aeg"}, "did you mean age"),
        ({"credible": 95}, "credible must lie between 0 and 1"),
        ({"n_draws": 1}, "n_draws must be an integer of at least 2"),
    ]

    def check(case: tuple[dict[str, object], str]) -> None:
        options, told = case
        with pytest.raises(ValueError, match=told):
            drug.causal_effect("drug", "better", **options)  # type: ignore[arg-type]

    check_each(cases, check)


def test_a_treatment_is_no_outcome_of_its_own(drug: BayesianNetwork) -> None:
    with pytest.raises(ValueError, match="both 'drug'"):
        drug.causal_effect("drug", "drug")


def test_impossible_cases_have_no_effect(drug: BayesianNetwork) -> None:
    certain = drug.with_table("age", np.array([1.0, 0.0]))
    for options in ({}, {"adjust_for": ()}):
        with pytest.raises(ImpossibleEvidenceError):
            certain.causal_effect("drug", "better", given={"age": "old"}, **options)


def test_an_adjustment_that_needs_too_large_a_table_names_the_covariates(
    drug: BayesianNetwork,
) -> None:
    with pytest.raises(ValueError, match=r"adjusting for age: .*max_table_cells=5"):
        drug.compile(max_table_cells=5).causal_effect(
            "drug", "better", adjust_for="age", credible=None
        )


def test_draws_that_need_too_large_a_table_are_refused(drug: BayesianNetwork) -> None:
    small = drug.with_experience(5.0).compile(max_table_cells=5)
    with pytest.raises(ValueError, match="max_table_cells=5"):
        small.causal_effect("drug", "better")


def test_an_effect_on_intervals_without_numbers_compares_every_state(
    drug: BayesianNetwork,
) -> None:
    days = Variable("days", ("<= 2", "(2, 6]", "> 6"), "numeric", (2.0, 6.0))
    network = replace(drug, domain=Domain((*drug.domain.variables[:3], days)))
    assert len(network.causal_effect("drug", "days").events) == 3


def test_trees_and_tables_that_are_slightly_off_one_agree_with_the_network() -> None:
    network = BayesianNetwork.from_tables(
        states={"a": YES_NO, "x": YES_NO, "y": YES_NO},
        parents={"x": ["a"], "y": ["a", "x"]},
        tables={
            "a": [0.500005, 0.5],
            "x": [[0.3, 0.7], [0.6, 0.4]],
            "y": [[[0.3, 0.7], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]],
        },
    )
    assert isinstance(network.cpd("a"), TableCPD)
    cut = network.causal_effect("x", "y").probabilities
    adjusted = network.causal_effect("x", "y", adjust_for="a").probabilities
    np.testing.assert_allclose(cut, adjusted, rtol=0, atol=1e-12)
