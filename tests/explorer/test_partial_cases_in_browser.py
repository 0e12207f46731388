"""What a page of averaged KDB says where only some features are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

from bayleaf.explain import value_of_information
from bayleaf.explorer import explorer_html
from explorer.cases import Case, classifier_case

pytestmark = pytest.mark.slow

SET = """evidence => window.bayleaf.session.replace(
  evidence.map((mask) => mask && Uint8Array.from(mask)))"""
# Scores by changes of a row, and of the changed row.
CHANGED = """([codes, changes]) => {
  const { program } = window.bayleaf.session.engine;
  const scorer = program.scorer(codes);
  return changes.map((own) => {
    const changed = codes.slice();
    for (const { variable, to } of own) changed[variable] = to;
    return [scorer(own), program.scores(changed)].map((all) => Array.from(all));
  });
}"""


@pytest.fixture(scope="module", params=["averaged KDB", "averaged KDB of numbers"])
def case(request: pytest.FixtureRequest) -> Case:
    return classifier_case(request.param)


def put(page: Any, case: Case, states: dict[int, int]) -> None:
    """Set states of features."""
    rows = [np.eye(card, dtype=int).tolist() for card in case.cards]
    page.evaluate(
        SET, [r[states[v]] if v in states else None for v, r in enumerate(rows)]
    )
    # The answer is painted before it is explained.
    page.wait_for_function("() => !window.bayleaf.page.isPending")


@pytest.mark.few(1)
def test_questions_are_ranked_by_states_that_the_findings_make_probable(
    case: Case, open_page: Any
) -> None:
    page = open_page(explorer_html(case.model))
    for states in ({}, {0: 1}, {1: 0, 3: 1, 4: 0}):
        put(page, case, states)
        found = page.evaluate("window.bayleaf.ask('information')")
        assert {one["variable"] for one in found} == set(range(6)) - set(states)
        gains = value_of_information(case.model, case.codes(states))
        domain = case.predictor.model.domain  # type: ignore[union-attr]
        for one in found:
            expected = gains[domain[one["variable"]].name]
            assert one["nats"] == pytest.approx(expected, abs=1e-9)


def test_changed_rows_are_scored_alike_whatever_becomes_known(
    case: Case, open_page: Any
) -> None:
    page = open_page(explorer_html(case.model))
    rng = np.random.default_rng(0)
    for known in (1.0, 0.5, 0.0):
        codes = [
            int(rng.integers(card)) if rng.random() < known else card
            for card in case.cards[: case.n_features]
        ]
        variables = rng.permutation(6).tolist()
        changes = [
            [
                {"variable": v, "to": min(to, case.cards[v])}
                for v, to in zip(variables[:2], pair, strict=True)
            ]
            for pair in ((0, 1), (9, 0), (9, 9), (1, 1))
        ]
        for quick, whole in page.evaluate(CHANGED, [codes, changes]):
            np.testing.assert_allclose(
                log_softmax(quick), log_softmax(whole), rtol=0, atol=1e-12
            )


@pytest.mark.few(1)
def test_the_prior_is_named_and_shared_evidence_is_explained(
    case: Case, open_page: Any
) -> None:
    page = open_page(explorer_html(case.model))
    put(page, case, {})
    told = "A finding's effect changes when others become known, because findings"
    assert told in page.inner_text("#why-line")
    first = page.locator("#why-table tbody th").first
    assert first.inner_text() == "share of the training rows"
    model: Any = case.predictor.model  # type: ignore[union-attr]
    why = page.evaluate("window.bayleaf.session.explanation()")
    logs = np.log(model.prior)
    assert why["prior"] == pytest.approx(logs[why["target"]] - logs[why["against"]])
    put(page, case, {0: 1})
    assert first.inner_text() == "starting point"
    page.evaluate("document.getElementById('unit').value = 'nats'")
    page.evaluate("window.bayleaf.session.tell()")
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    rows = page.locator("#why-table tbody td.number:nth-of-type(2)")
    found = page.evaluate("window.bayleaf.session.explanation()")
    nats = [float(t.replace("\u2212", "-")) for t in rows.all_inner_texts()]
    start = logs[found["target"]] - logs[found["against"]]
    assert nats[0] == pytest.approx(start, abs=0.006)
    assert sum(nats) == pytest.approx(found["logOdds"], abs=0.006 * len(nats))
    assert told in page.inner_text("#why-line")
    other = open_page(explorer_html(classifier_case("TAN").model))
    assert told not in other.inner_text("#why-line")
