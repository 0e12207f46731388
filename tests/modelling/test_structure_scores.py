"""Drawn graphs scored and tested on tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayleaf import (
    BayesianNetwork,
    BayesianNetworkEstimator,
    ImpossibleEvidenceError,
    MaximumLikelihood,
)
from bayleaf.datasets import load_network, load_vote
from offenders import check_each

ASIA = load_network("asia")
DRAWN = BayesianNetwork.from_edges(ASIA.edges)
ROWS = ASIA.sample(2000, random_state=0)


def test_a_learned_graph_has_the_score_that_its_search_reports() -> None:
    # Cells are missing, and scaled counts must be those of the search.
    table = load_vote().X

    def check(local_score: str) -> None:
        found = BayesianNetworkEstimator(
            local_score=local_score, abstraction=None, max_parents=2, n_restarts=1
        ).fit(table)
        structure = BayesianNetwork.from_edges(found.network_)
        score = structure.score(table, local_score)
        assert score.total == pytest.approx(found.score_, rel=1e-12)
        assert float(score) == pytest.approx(sum(score.families.values()))

    check_each(["mdl", "bdeu"], check)


def test_bic_is_the_log_likelihood_less_its_penalty() -> None:
    score = DRAWN.score(ROWS, "bic")
    fitted = DRAWN.fit(ROWS, smoothing="maximum_likelihood")
    penalty = 0.5 * np.log(2000) * fitted.n_parameters
    expected = fitted.log_likelihood(ROWS) - penalty
    assert score.total == pytest.approx(expected)
    assert (score.local_score, score.unit) == ("bic", "nats")
    assert "bic" in str(score)


def test_maximum_likelihood_leaves_impossible_what_no_row_has() -> None:
    evidence = {"either": "yes", "lung": "no", "tub": "no"}
    fitted = DRAWN.fit(ROWS, smoothing="maximum_likelihood")
    with pytest.raises(ImpossibleEvidenceError):
        fitted.query(evidence)
    floor = DRAWN.fit(ROWS, smoothing=MaximumLikelihood(1e-6))
    assert floor.query(evidence)
    with_em = DRAWN.fit(ROWS, missing="em", smoothing="maximum_likelihood")
    for one, other in zip(fitted.cpds, with_em.cpds, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_equivalent_graphs_have_one_score_and_better_ones_a_larger() -> None:
    turned = BayesianNetwork.from_edges(
        [("tub", "asia"), *(arc for arc in ASIA.edges if arc != ("asia", "tub"))]
    )
    assert DRAWN.score(ROWS, "bdeu").total == pytest.approx(
        turned.score(ROWS, "bdeu").total
    )
    alone = BayesianNetwork.from_edges([], ASIA.names)
    assert alone.score(ROWS).total < DRAWN.score(ROWS).total


def test_each_implied_independence_is_a_likelihood_ratio_test() -> None:
    found = DRAWN.test_independences(ROWS)
    claims = DRAWN.implied_independences()
    assert {test.claim for test in found.tests} == set(claims)
    test = next(t for t in found.tests if not t.claim.given)
    names = test.claim.first, test.claim.second
    columns = [np.array(ROWS.column(str(name)).to_pylist()) for name in names]
    table = stats.contingency.crosstab(*columns).count
    expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert test.g2 == pytest.approx(expected.statistic)
    assert (test.degrees, test.rows) == (expected.dof, 2000)
    assert test.p_value == pytest.approx(expected.pvalue)
    adjusted = stats.false_discovery_control([t.p_value for t in found.tests])
    assert [t.adjusted for t in found.tests] == pytest.approx(adjusted)


def test_a_true_graph_is_not_contradicted_and_a_wrong_one_is() -> None:
    assert DRAWN.test_independences(ROWS).n_rejected == 0
    wrong = [arc for arc in ASIA.edges if arc != ("smoke", "lung")]
    found = BayesianNetwork.from_edges(wrong, ASIA.names).test_independences(ROWS)
    links = {frozenset((t.claim.first, t.claim.second)) for t in found.rejected}
    assert frozenset(("smoke", "lung")) in links
    assert "contradicted at a false discovery rate of 0.05" in str(found)
    assert found.to_dict()["n_rejected"] == len(links)


def test_latent_variables_are_in_no_claim_and_refused_by_scores() -> None:
    hidden = BayesianNetwork.from_edges(ASIA.edges, latents="either")
    claims = hidden.test_independences(ROWS.drop(["either"])).tests
    assert claims
    assert not any("either" in test.claim.given for test in claims)
    with pytest.raises(ValueError, match="either is latent, and scores need a column"):
        hidden.score(ROWS)


def test_wrong_parameters_are_refused_in_a_sentence() -> None:
    def check(case: tuple[Any, str]) -> None:
        act, message = case
        with pytest.raises(ValueError, match=message):
            act()

    check_each(
        [
            (lambda: DRAWN.score(ROWS, "likely"), "local_score must be one of"),
            (lambda: DRAWN.score(ROWS.drop(["tub"])), "tub"),
            (lambda: DRAWN.test_independences(ROWS, level=5), "level must be between"),
            (
                lambda: DRAWN.test_independences(ROWS, correction="no"),
                "correction must",
            ),
        ],
        check,
    )
