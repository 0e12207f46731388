"""A page about a number computes what Python computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import AveragedKDBRegressor
from bayleaf.data.codes import Codes
from bayleaf.explorer import explorer_html
from bayleaf.io import read_model

pytestmark = pytest.mark.slow

LEVELS = [0.05, 0.5, 0.95]
ANSWERS = """([evidences, levels]) => evidences.map((states) => {
  const { session } = window.bayleaf;
  const { engine, model } = session;
  session.replace([...states, -1].map((state, v) =>
    (state < 0 ? null : hardMaskOf(model.variables[v].states.length, state))));
  function hardMaskOf(card, state) {
    const mask = new Uint8Array(card);
    mask[state] = 1;
    return mask;
  }
  const { mean, quantiles } = engine.distribution(session.evidence, levels);
  const { baseline, terms } = engine.expectation(session.evidence);
  const posteriors = session.posteriors();
  return {
    mean, quantiles, baseline, terms: Array.from(terms),
    intervals: Array.from(posteriors[posteriors.length - 1]),
  };
})"""


def fitted(**parameters: Any) -> AveragedKDBRegressor:
    """A regressor of numbers and names with holes."""
    rng = np.random.default_rng(8)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=300).round(2),
            "age": rng.integers(1, 60, 300).astype(float),
            "place": rng.choice(["town", "shore", "hill"], 300),
            "few": rng.integers(0, 3, 300),
        }
    )
    table.loc[::13, "age"] = np.nan
    table.loc[::17, "place"] = None
    price = 3e4 * table["size"] + 2e4 * (table["place"] == "shore") * table["few"]
    price = price + 1e4 * rng.standard_t(4, size=300)
    model = AveragedKDBRegressor(n_networks=3, random_state=0, **parameters)
    return model.fit(table, price.rename("price"))


def expected(
    model: AveragedKDBRegressor, rows: list[list[int]]
) -> list[dict[str, Any]]:
    """What Python says of rows of states, -1 where one is unknown."""
    cards = [variable.n_states for variable in model.encoder_.domain]
    table = np.array([[s if s >= 0 else c for s, c in zip(row, cards)] for row in rows])
    codes = Codes.from_columns(list(table.T), cards)
    said = model.model_.distributions(codes)
    intervals = model.model_.cell_intervals
    baselines, terms = model.model_.expectation_terms(codes)
    return [
        {
            "mean": said.mean[row],
            "quantiles": said.quantiles(LEVELS)[row],
            "baseline": baselines[row],
            "terms": terms[row],
            "intervals": np.bincount(intervals, said.probabilities[row]),
        }
        for row in range(len(rows))
    ]


@pytest.mark.parametrize(
    "parameters", [{}, {"trees": False}, {"n_intervals": 5, "max_parents": 1}]
)
def test_distributions_and_terms_are_those_of_python(
    parameters: dict[str, Any], open_page: Any, tmp_path: Any
) -> None:
    model = fitted(**parameters)
    model.save(tmp_path / "model.json")
    page = open_page(explorer_html(read_model(tmp_path / "model.json")))
    rng = np.random.default_rng(0)
    cards = [variable.n_states for variable in model.encoder_.domain]
    rows = [
        [int(rng.integers(card)) if rng.random() < 0.7 else -1 for card in cards]
        for _ in range(30)
    ]
    rows.append([-1] * len(cards))
    found = page.evaluate(ANSWERS, [rows, LEVELS])
    scale = model.model_.scale
    for own, python in zip(found, expected(model, rows), strict=True):
        assert own["intervals"] == pytest.approx(python["intervals"], abs=1e-9)
        for name in ("mean", "quantiles", "baseline", "terms"):
            assert own[name] == pytest.approx(python[name], abs=1e-9 * scale), name
        total = own["baseline"] + sum(own["terms"])
        assert total == pytest.approx(own["mean"], abs=1e-10 * scale)


def test_the_page_says_where_the_number_lies_and_what_moves_it(open_page: Any) -> None:
    page = open_page(explorer_html(fitted()))
    assert "price is expected to be" in page.inner_text("#verdict")
    before = page.inner_html("#answer-bars svg")
    assert page.inner_text("#why-line").endswith("before anything is known.")
    assert not page.is_visible("#what-if")
    assert page.locator('#jumps [data-to="what-if"]').get_attribute("hidden") == ""
    page.fill("#find", "age=40")
    page.press("#find", "Enter")
    assert "age 40 ((" in page.inner_text("#known")
    page.click(".card:has(.state:has-text('shore')) .name")
    page.click("#chosen .state:has-text('shore')")
    assert page.locator("#why-table tbody tr").count() == 2
    assert "adds" in page.inner_text("#why-table")
    assert page.inner_html("#answer-bars svg") != before
    assert page.locator("#answer-bars .inside").count() > 2
    total = "window.bayleaf.session.engine.density(window.bayleaf.session.evidence)"
    shares = [cell["weight"] for cell in page.evaluate(total)]
    assert sum(shares) == pytest.approx(1.0)
    assert page.locator(".card.target .state:enabled").count() == 0
    page.click(".card.target .name")
    assert "predicts the target from" in page.inner_text(".card.target .note")


def test_counts_cannot_be_withheld_and_the_sentence_says_so() -> None:
    with pytest.raises(ValueError, match="min_count needs a classifier"):
        explorer_html(fitted(trees=False), min_count=5)


IN_COCKPIT = """() => {
  const { outcome } = window.bayleaf.page.cockpit;
  const { evidence } = window.bayleaf.session;
  const answer = outcome.answer(evidence);
  const effects = [...outcome.effects(2, evidence, answer)].at(-1);
  return { answer, start: outcome.start(), reasons: outcome.reasons(evidence, answer),
    values: Array.from(effects.values), lows: Array.from(effects.lows),
    highs: Array.from(effects.highs), importance: outcome.importance(3) };
}"""


def test_the_cockpit_shows_the_number_its_interval_and_why(open_cockpit: Any) -> None:
    model = fitted(trees=False)
    page = open_cockpit(explorer_html(model))
    assert page.inner_text(".headline").endswith("is the price expected of cases.")
    box = page.locator(".entry", has=page.locator(".feature-name:text-is('size')"))
    box.get_by_role("textbox").fill("0.5")
    page.locator("#findings").get_by_text("shore", exact=True).click()
    shown = page.evaluate(IN_COCKPIT)
    known = {"size": 0.5, "age": np.nan, "place": "shore", "few": -1}
    codes = model._page_model().read(pd.DataFrame([known])).codes
    states = [int(codes.column(v)[0]) for v in range(4)]
    cards = [variable.n_states for variable in model.encoder_.domain]
    row = [states[0], -1, states[2], -1]
    by_place = [[states[0], -1, state, -1] for state in range(cards[2])]
    alone = [[-1, -1, -1, state] for state in range(cards[3])]
    answer, nothing, *python = expected(model, [row, [-1] * 4, *by_place, *alone])
    close = {"abs": 1e-9 * model.model_.scale}

    def triple(row: dict[str, Any]) -> list[float]:
        low, _, high = row["quantiles"]
        return [row["mean"], low, high]

    assert list(shown["answer"].values()) == pytest.approx(triple(answer), **close)
    assert list(shown["start"].values()) == pytest.approx(triple(nothing), **close)
    for state, expected_answer in enumerate(python[: cards[2]]):
        values = [shown[name][state] for name in ("values", "lows", "highs")]
        assert values == pytest.approx(triple(expected_answer), **close)
    reasons = shown["reasons"]
    for item in reasons["items"]:
        assert item["value"] == pytest.approx(
            answer["terms"][item["variable"]], **close
        )
    total = reasons["start"] + reasons["rest"]
    total += sum(item["value"] for item in reasons["items"])
    assert total == pytest.approx(answer["mean"], **close)
    shares = page.evaluate("Array.from(window.bayleaf.page.cockpit.outcome.weights(3))")
    moves = [row["mean"] - nothing["mean"] for row in python[cards[2] :]]
    importance = np.sqrt(np.average(np.square(moves), weights=shares))
    assert shown["importance"] == pytest.approx(importance, **close)
    facts = page.inner_text(".facts")
    assert "90 % interval" in facts
    assert "before anything was known" in facts
    assert page.locator("#now-body .inside").count() > 2
    assert page.locator(".fall tbody tr").count() >= 4
    assert "you are here" in page.locator("#picture").text_content()
    share = f"{100 * model.left_out_coverage_:.0f} of 100 cases when each was left out"
    assert share in page.inner_text("#quality")
    for name in ("#modes", "#write-letter", "#act-line"):
        assert not page.is_visible(name)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_axe_finds_nothing(
    scheme: str, width: int, open_page: Any, axe_script: str
) -> None:
    # The page's policy would keep axe's script out.
    page = open_page(
        explorer_html(fitted(trees=False)),
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        bypass_csp=True,
    )
    page.evaluate("window.bayleaf.session.choose(0, 0)")
    page.evaluate(axe_script)
    for view in ("map", "cockpit"):
        page.locator(f"#tab-{view}").click()
        found = page.evaluate("axe.run()")
        assert len(found["passes"]) > 20
        assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []
