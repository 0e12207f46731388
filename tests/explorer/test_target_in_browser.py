"""A page about a number computes what Python computes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import AveragedKDBRegressor
from bayleaf.data.codes import Codes
from bayleaf.explain import value_of_information
from bayleaf.explorer import explorer_html, suggested_cases
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


def training_table() -> tuple[pd.DataFrame, pd.Series]:
    """Numbers and names with holes, and a number."""
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
    return table, price.rename("price")


def fitted(**parameters: Any) -> AveragedKDBRegressor:
    """A regressor of numbers and names with holes."""
    model = AveragedKDBRegressor(n_networks=3, random_state=0, **parameters)
    return model.fit(*training_table())


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


@pytest.mark.few(1)
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
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    assert "price is expected to be" in page.inner_text("#verdict")
    before = page.inner_html("#answer-bars svg")
    assert page.inner_text("#why-line").endswith("before anything is known.")
    assert not page.is_visible("#what-if")
    assert page.locator('#jumps [data-to="what-if"]').get_attribute("hidden") == ""
    page.fill("#find", "age=40")
    page.press("#find", "Enter")
    assert "age 40 (39.5, 40.5]" in page.inner_text("#known")
    page.click(".card:has(.state:has-text('shore')) .name")
    page.click("#chosen .state:has-text('shore')")
    page.wait_for_function("() => !window.bayleaf.page.isPending")
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
    assert not page.is_visible("#act-line")


def test_suggested_numbers_are_shown_beside_those_of_left_out_models(
    open_cockpit: Any,
) -> None:
    model = fitted(trees=False)
    X, y = training_table()
    rows = X.assign(price=y)
    page = open_cockpit(explorer_html(model, rows=rows))
    note = "Chosen by answers of models that had not seen the one they answer for."
    assert page.inner_text(".starts + .note") == note
    worst = suggested_cases(model, rows)[-1]
    page.get_by_role("button", name="Open a case that misled the model").click()
    assert page.get_by_role("spinbutton", name="Row").input_value() == str(
        worst["row"] + 1
    )
    numbers = [y[worst["row"]], worst["mean"], *worst["interval"]]
    given, mean, low, high = page.evaluate(
        "numbers => numbers.map((n) => bayleaf.page.cockpit.scale.total(n))", numbers
    )
    assert page.inner_text(".recorded") == (
        f"Recorded: {given}. A model that had not seen this case gave {mean}, 90 % "
        f"interval {low} to {high}."
    )
    assert "of the other 299 cases on this page match" in page.inner_text(".match")
    page.get_by_role("button", name="Next row").click()
    assert ". The model gave " in page.inner_text(".recorded")
    contained = model.predict_interval(X)
    n = int(((contained[:, 0] <= y) & (y <= contained[:, 1])).sum())
    text = f"The 90 % interval of the model contains the number for {n} of 300."
    page.locator("section .note", has_text=text).wait_for()


def test_lines_of_why_add_up_and_bars_begin_without_the_finding(
    open_cockpit: Any,
) -> None:
    X, y = training_table()
    model = AveragedKDBRegressor(n_networks=2, random_state=0).fit(X, y)
    page = open_cockpit(explorer_html(model))
    lines = "document.querySelectorAll('table.fall td.effect')"

    def numbers(script: str) -> list[float]:
        texts = page.evaluate(f"Array.from({script}, (e) => e.textContent)")
        return [float(re.sub(r"[^-\d.]", "", t.replace("−", "-"))) for t in texts]

    for name in ("2", "shore"):
        page.get_by_role("radio", name=name, exact=True).check(force=True)
    page.locator("#picture-body > .note", has_text="without this finding").wait_for()
    assert page.inner_text("#picture-heading") == "place"
    start, *changes, end = numbers(lines)
    step = page.evaluate("bayleaf.page.cockpit.scale.step")
    assert sum(changes) == pytest.approx(end - start, abs=step * (len(changes) + 2))
    # Columns are size, age, place and few.
    (without,) = expected(model, [[-1, -1, -1, 2]])
    base = page.evaluate("bayleaf.page.cockpit.scale.base")
    assert base == pytest.approx(without["mean"], rel=1e-9)


def test_a_number_that_never_varies_is_drawn_in_the_middle(open_cockpit: Any) -> None:
    X, y = training_table()
    model = AveragedKDBRegressor(n_networks=1, random_state=0).fit(X, y * 0 - 3.0)
    page = open_cockpit(explorer_html(model))
    assert page.inner_text(".headline strong") == "About −3.00"
    within = page.locator("#now-body .within").first
    assert within.get_attribute("x1") == "180" == within.get_attribute("x2")
    page.get_by_text("No further question is likely to change this").wait_for()


REDUCTIONS = """(states) => {
  const { page, session } = window.bayleaf;
  const { outcome } = page.cockpit;
  session.replace([...states, -1].map((state, v) => {
    if (state < 0) return null;
    const mask = new Uint8Array(session.card(v));
    mask[state] = 1;
    return mask;
  }));
  return [...outcome.reductions()].filter(Boolean).map((question) =>
    ({ ...question, reach: outcome.reach(question) }));
}"""


@pytest.mark.few(1)
@pytest.mark.parametrize("trees", [False, True])
def test_questions_take_away_shares_of_the_variance(
    trees: bool, open_cockpit: Any
) -> None:
    model = fitted(trees=trees)
    page = open_cockpit(explorer_html(model))
    intervals = model.model_.intervals
    cards = [variable.n_states for variable in model.encoder_.domain]
    for row in ([-1] * 4, [3, -1, 1, -1], [-1, 5, -1, 2]):
        known = [s if s >= 0 else card for s, card in zip(row, cards)]
        now = expected(model, [row])[0]["intervals"]
        found = page.evaluate(REDUCTIONS, row)
        assert [own["variable"] for own in found] == [v for v in range(4) if row[v] < 0]
        case = Codes.from_columns([np.array([code]) for code in known], cards)
        shares = value_of_information(model, case)
        for own in found:
            variable = own["variable"]
            rows = np.tile(known, (cards[variable], 1))
            rows[:, variable] = np.arange(cards[variable])
            codes = Codes.from_columns(list(rows.T), cards)
            weights = intervals.state_proba(codes, variable, np.log(now))
            weights = weights / weights.sum()
            answers = model.model_.distributions(codes)
            between = np.average(
                (answers.mean - weights @ answers.mean) ** 2, weights=weights
            )
            share = between / (between + weights @ answers.variance)
            assert own["share"] == pytest.approx(share, abs=1e-9)
            name = model.encoder_.domain.names[variable]
            assert shares[name] == pytest.approx(share, abs=1e-9)
            low, high = own["reach"]["low"], own["reach"]["high"]
            order = np.argsort(answers.mean)
            for end, ordered in ((low, order), (high, order[::-1])):
                first = np.flatnonzero(np.cumsum(weights[ordered]) >= 0.03)[0]
                close = 1e-9 * model.model_.scale
                mean = answers.mean[ordered[first]]
                assert end == pytest.approx(mean, abs=close)


def test_questions_about_a_number_are_asked_until_it_hardly_moves(
    open_cockpit: Any,
) -> None:
    page = open_cockpit(explorer_html(fitted(trees=False)))
    page.locator(".next li").first.wait_for()
    assert "size" in page.inner_text(".next li >> nth=0")
    page.get_by_role("button", name="Ask me").click()
    heading = page.locator(".question h3")
    heading.get_by_text("Size?").wait_for()
    assert "With it the answer could become" in page.inner_text(".question")
    page.locator(".question").get_by_role("textbox").fill("0.5")
    page.get_by_role("button", name="Next", exact=True).click()
    # What was skipped may still matter.
    ends = page.get_by_role("heading", name=re.compile("That is enough|No more q"))
    for _ in range(3):
        page.wait_for_selector(".question:not([aria-busy])")
        if ends.is_visible():
            break
        page.get_by_role("button", name="Skip: not known").click()
    ends.wait_for()
    assert "is the price expected of cases like this." in page.inner_text(".question")
    page.get_by_role("button", name="Write the letter").click()
    text = page.inner_text("#letter-body")
    assert "About" in text
    assert "90 % interval" in text
    assert "size" in text.split("How to read this")[0]
    assert "of 100 cases when each was left out" in text
    assert page.locator("#letter-body .inside").count() > 2


TRIED = """() => {
  const { cockpit } = window.bayleaf.page;
  const states = cockpit.trial.map((mask) => (mask ? mask.indexOf(1) : -1));
  return { states, mean: cockpit.answer.mean };
}"""


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("way", "numbers"),
    [("below", [-5e3]), ("least", [3e4]), ("within", [2e4, 2.4e4])],
)
def test_what_if_carries_a_number_where_the_reader_wants_it(
    way: str, numbers: list[float], open_cockpit: Any
) -> None:
    model = fitted(trees=False)
    page = open_cockpit(explorer_html(model, immutable=["age"], actionable=["few"]))
    box = page.locator(".entry", has=page.locator(".feature-name:text-is('size')"))
    box.get_by_role("textbox").fill("0.5")
    page.locator("#findings").get_by_text("hill", exact=True).click()
    page.get_by_role("button", name="What if").click()
    page.get_by_label("Goal", exact=True).first.select_option(way)
    fields = page.locator(".proposals h3 input:visible")
    for place, number in enumerate(numbers):
        fields.nth(place).fill(str(number))
        page.keyboard.press("Tab")
    start = page.evaluate(TRIED)["states"][:4]
    proposals = page.locator(".proposals li")
    proposals.first.wait_for()
    # A list that is empty so far and a line below others both say so.
    page.get_by_text("Searching").first.wait_for(state="detached")
    cards = [variable.n_states for variable in model.encoder_.domain]
    low, high = {
        "below": (-np.inf, numbers[0] - 1e-6),
        "least": (numbers[0], np.inf),
        "within": (numbers[0], numbers[-1]),
    }[way]

    def reaches(row: list[int]) -> bool:
        return bool(low <= expected(model, [row])[0]["mean"] <= high)

    # Where one change of what is known is enough, one is proposed.
    single = [
        [*start[:v], state, *start[v + 1 :]]
        for v in (0, 2)
        for state in range(cards[v] - 1)
    ]
    assert any(reaches(row) for row in single)
    for place in range(proposals.count()):
        proposals.nth(place).get_by_role("button").click()
        tried = page.evaluate(TRIED)
        row = tried["states"][:4]
        python = expected(model, [row])[0]["mean"]
        close = 1e-9 * model.model_.scale
        assert tried["mean"] == pytest.approx(python, abs=close)
        assert reaches(row)
        assert 1 <= sum(a != b for a, b in zip(row, start)) <= 2
        assert row[1] == start[1]
        assert "instead of" in page.inner_text(".headline")
    fields.first.fill("")
    page.keyboard.press("Tab")
    assert page.inner_text("#message") == "The goal must be a number."
    page.get_by_role("button", name="Back to the case").click()
    assert page.evaluate(TRIED)["states"][:4] == start


def test_where_nothing_lowers_a_number_by_much_a_nearer_goal_is_tried(
    open_cockpit: Any,
) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"kind": rng.choice(["a", "b"], 400)})
    X["use"] = rng.choice(["little", "much"], 400)
    y = 10 * (X["kind"] == "b") + (X["use"] == "much") + 0.3 * rng.normal(size=400)
    model = AveragedKDBRegressor(random_state=0).fit(X, y)
    page = open_cockpit(explorer_html(model, immutable=["kind"]))
    findings = page.locator("#findings")
    findings.get_by_text("a", exact=True).click()
    findings.get_by_text("much", exact=True).click()
    page.get_by_role("button", name="What if").click()
    page.get_by_label("Goal", exact=True).first.select_option("below")
    page.get_by_text("the goal is now a nearer one").wait_for()
    proposal = page.locator(".proposals li").first
    assert "use: much → little" in proposal.inner_text()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [("light", 1280), pytest.param("dark", 400, marks=pytest.mark.long)],
)
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
    for view in ("tab-map", "tab-cockpit", "mode-ask", "mode-what-if", "write-letter"):
        page.locator(f"#{view}").click()
        found = page.evaluate("axe.run()")
        assert len(found["passes"]) > 20
        assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []


@pytest.mark.parametrize("width", [400, 1280, 1600])
def test_what_answers_could_make_of_a_number_is_read_whole(
    width: int, open_page: Any
) -> None:
    model = fitted()
    size = {"width": width, "height": 1000}
    page = open_page(explorer_html(model), view="cockpit", viewport=size)
    page.locator(".next li").first.wait_for()
    over = page.evaluate(
        """[...document.querySelectorAll(".next li")]
          .map((item) => item.scrollWidth - item.clientWidth)"""
    )
    assert max(over) <= 0
    meters = page.locator(".next .meter").all()
    # Their lengths are compared.
    assert len({meter.bounding_box()["width"] for meter in meters}) == 1
