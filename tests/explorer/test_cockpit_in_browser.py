"""The cockpit: findings, the chance of a class as a sentence, why, and a picture."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import bayleaf
from bayleaf.data.codes import Codes
from bayleaf.datasets import load_heart
from bayleaf.explain import (
    credible_intervals,
    decision_changes,
    feature_effects,
    information_alone,
    matching_rows,
    value_of_information,
)
from bayleaf.explain.subject import rows_of
from bayleaf.explorer import explorer_html
from bayleaf.models.explanation import Explanation
from explorer.cases import classifier_case, table, table_of_numbers
from explorer.person import Person
from explorer.test_page import HOSTILE

pytestmark = pytest.mark.slow

MODELS = {
    "averaged KDB": lambda: bayleaf.AveragedKDBClassifier(n_networks=4, random_state=0),
    "TAN": lambda: bayleaf.TANClassifier(calibration="leave_one_out"),
    "AODE": bayleaf.AODEClassifier,
    "naive Bayes": bayleaf.NaiveBayesClassifier,
}
COLUMNS = ["age", "thallium_scan", "chest_pain", "maximum_heart_rate", "sex"]
# What the cockpit computes under evidence on features, by their states.
COMPUTED = """([states, feature]) => {
  const { outcome } = window.bayleaf.page.cockpit;
  const { session } = window.bayleaf;
  const evidence = session.evidence.map((_, v) => (states[v] === undefined ? null
    : Uint8Array.from({ length: session.card(v) }, (_, s) => Number(s === states[v]))));
  const answer = outcome.answer(evidence);
  const reasons = outcome.reasons(evidence, answer);
  const effects = [...outcome.effects(feature, evidence, answer)].at(-1);
  return { chance: answer.chance, start: outcome.start(answer).chance, reasons,
    effects: Array.from(effects.values), importance: outcome.importance(feature) };
}"""


@cache
def heart(name: str, columns: tuple[str, ...] = tuple(COLUMNS)) -> Any:
    """A model of heart disease, fitted to some columns."""
    X, y = load_heart(return_X_y=True)
    return MODELS[name]().fit(X.select(columns), y)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", MODELS)
def test_chances_terms_and_curves_are_those_of_python(
    name: str, open_cockpit: Any
) -> None:
    model = heart(name)
    case = model._page_model().scorer
    page = open_cockpit(explorer_html(model))
    cards = case.model.domain.cards[:-1]

    def of_python(states: dict[int, int]) -> tuple[float, Explanation]:
        columns = [np.array([states.get(i, card)]) for i, card in enumerate(cards)]
        codes = Codes.from_columns(columns, cards)
        return float(case.proba(codes)[0, 1]), case.explain(codes)[0]

    start, _ = of_python({})
    for chosen, feature in [({}, 3), ({1: 2}, 1), ({0: 5, 1: 0, 4: 1}, 3)]:
        states = {v: state % cards[v] for v, state in chosen.items()}
        found = page.evaluate(
            COMPUTED, [{str(v): s for v, s in states.items()}, feature]
        )
        chance, explanation = of_python(states)
        assert found["chance"] == pytest.approx(chance, abs=1e-9)
        assert found["start"] == pytest.approx(start, abs=1e-9)
        sign = 1 if explanation.target == case.classes[1] else -1
        reasons = found["reasons"]
        for item in reasons["items"]:
            term = sign * explanation.terms[item["variable"]].contribution
            assert item["value"] == pytest.approx(term, abs=1e-9)
        total = reasons["start"] + reasons["rest"]
        total += sum(item["value"] for item in reasons["items"])
        assert total == pytest.approx(sign * explanation.log_odds, abs=1e-9)
        for state, effect in enumerate(found["effects"]):
            _, changed = of_python({**states, feature: state})
            sign = 1 if changed.target == case.classes[1] else -1
            term = sign * changed.terms[feature].contribution
            assert effect == pytest.approx(term, abs=1e-9)
        alone = information_alone(model)[COLUMNS[feature]]
        assert found["importance"] == pytest.approx(alone, abs=1e-9)


def headline(page: Any) -> str:
    """The sentence of the answer."""
    return " ".join(str(page.inner_text(".headline")).split())


def feature(page: Any, name: str) -> Any:
    """The row of a feature."""
    return page.locator(".entry", has=page.locator(f".feature-name:text-is('{name}')"))


def expected(model: Any, **cells: Any) -> str:
    """A count of a hundred, as Python computes it."""
    row = pa.table({name: [cells.get(name)] for name in COLUMNS})
    share = model.predict_proba(row)[0, 1]
    return str(round(100 * share))


def test_the_map_is_laid_out_when_its_tab_is_first_shown(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("naive Bayes")))
    feature(page, "chest pain").get_by_text("asymptomatic").click()
    assert page.locator("#monitors .card").count() == 0
    page.click("#tab-map")
    n_variables = page.evaluate("window.bayleaf.session.model.variables.length")
    assert page.locator("#monitors .card").count() == n_variables
    assert page.locator("#monitors .state[aria-pressed=true]").count() == 1
    assert page.is_visible("#zoom-in")


def test_findings_are_chosen_typed_and_taken_back(open_cockpit: Any) -> None:
    model = heart("averaged KDB")
    page = open_cockpit(explorer_html(model, title="Heart"))
    assert headline(page) == "About 44 in 100 cases are “present”."
    score = model.loo_score_
    quality = page.inner_text("#quality")
    assert f"Right for {100 * (1 - score.error):.0f} of 100 cases when each" in quality
    assert (
        "“absent” would be right for 56. Measured on 270 rows, learned from 270"
        in quality
    )
    bins = score.calibration
    assert f"({bins.rows[1, 4]:.0f} rows, all findings known)" in quality
    feature(page, "thallium scan").get_by_text("reversible defect").click()
    share = expected(model, thallium_scan="reversible defect")
    assert headline(page) == f"About {share} in 100 cases like this are “present”."
    box = feature(page, "maximum heart rate").get_by_role("textbox")
    box.fill("132")
    share = expected(model, thallium_scan="reversible defect", maximum_heart_rate=132.0)
    assert headline(page).startswith(f"About {share} in 100")
    assert "maximum heart rate 132" in page.inner_text("#reasons-body")
    assert "you are here" in page.locator(".shape").text_content()
    assert box.input_value() == "132"
    link = page.url.split("#")[1]
    page.locator("#tab-map").click()
    chips = page.locator("#known .chip").all_inner_texts()
    assert chips[1].startswith("maximum_heart_rate 132 (131.5, 132.5]")
    page.locator("#tab-cockpit").click()
    page.wait_for_function("() => window.location.hash.includes(':132')")
    link = page.url.split("#")[1]
    again = open_cockpit(explorer_html(model, title="Heart"), "#" + link)
    assert headline(again) == headline(page)
    assert (
        feature(again, "maximum heart rate").get_by_role("textbox").input_value()
        == "132"
    )
    box.fill("900")
    page.get_by_text("Is this right? Training rows go from 71 to 202").wait_for()
    feature(page, "maximum heart rate").get_by_text("Clear", exact=True).click()
    assert box.input_value() == ""
    # The chip that is chosen is taken back by a second click.
    feature(page, "thallium scan").get_by_text("reversible defect").click()
    assert headline(page) == "About 44 in 100 cases are “present”."
    page.locator("#undo").click()
    assert "like this" in headline(page)


def test_a_factor_is_spoken_as_it_is_shown(open_cockpit: Any) -> None:
    X = pa.table({"sign": [*"ab"] * 500, "other": [*"ccdd"] * 250})
    y = np.where(np.arange(1000) % 2, "ill", "well")
    page = open_cockpit(explorer_html(bayleaf.NaiveBayesClassifier().fit(X, y)))
    feature(page, "sign").get_by_text("b", exact=True).click()
    shown = page.inner_text(".facts b.up, .facts b.down")
    assert shown == "÷501"
    spoken = page.locator(".fall tbody .unseen").nth(1).text_content()
    assert f" the odds {shown[1:]} times" in spoken


def test_numbers_of_an_answer_agree_as_they_are_written(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB")))
    # Both would be rounded up.
    caption = """() => {
      const { cockpit } = window.bayleaf.page;
      cockpit.headline.show({ ...cockpit.answer, chance: 0.755 }, cockpit.reasons);
      return document.querySelector(".caption").textContent;
    }"""
    assert page.evaluate(caption).startswith("present: 76absent: 24")
    for field, value in (("thallium scan", "normal"), ("chest pain", "asymptomatic")):
        feature(page, field).get_by_text(value, exact=True).click()
    # A finding without an effect of its own, and an overlap too small for a line.
    lines = page.evaluate(
        """() => {
          const { cockpit } = window.bayleaf.page;
          const known = cockpit.evidence().flatMap((mask, v) => (mask ? [v] : []));
          const items = known.map((variable, i) => ({ variable, value: i ? 0.03 : 1 }));
          return [0.02, 0].map((rest) => {
            const reasons = { start: 0, items, rest, end: 1.03 + rest };
            cockpit.waterfall.show(cockpit.answer, reasons);
            return document.querySelector(".fall").textContent;
          });
        }"""
    )
    assert ["1 other, overlap of findings" in line for line in lines] == [True, False]
    page.evaluate("window.bayleaf.page.cockpit.words.unit = 'bits'")
    written = "nats => window.bayleaf.page.cockpit.words.factor(nats)"
    numbers = [0.7089 * np.log(2), -0.0049 * np.log(2), -1.996 * np.log(2)]
    texts = [page.evaluate(written, number) for number in numbers]
    assert texts == ["+0.71", "0.00", "−2.00"]
    page.evaluate("document.getElementById('menu').open = true")
    page.locator("#unit").select_option("bits")
    page.locator("#write-letter").click()
    text = page.inner_text("#letter-body").replace("\u00a0", " ")
    assert "▲ +1.00 bits doubles the odds, ▼ −1.00 bits halves" in text


def test_rows_are_judged_when_nothing_else_is_to_be_done(open_cockpit: Any) -> None:
    X, y = load_heart(return_X_y=True)
    rows = X.append_column("class", [y])
    page = open_cockpit(explorer_html(heart("averaged KDB"), rows=rows))
    before, after = page.evaluate(
        """async () => {
          const { cockpit } = window.bayleaf.page;
          const held = [];
          window.requestIdleCallback = (call) => held.push(call);
          // Each row takes half a slice.
          cockpit.rows.constructor.prototype.decisions = function* () {
            for (let row = 0; row < 9; row += 1) {
              const end = performance.now() + 6;
              while (performance.now() < end);
              yield { isRight: true };
            }
          };
          const panel = new cockpit.rows.constructor(cockpit);
          const paint = (call) => setTimeout(call, 300);
          await new Promise(paint);
          const before = panel.quality.textContent;
          while (held.length) held.shift()();
          return [before, panel.quality.textContent];
        }"""
    )
    assert before == ""
    assert after.startswith("The model is right for 9 of 9.")


def test_a_loss_sets_the_line_to_act_from_by_which_rows_are_judged(
    open_cockpit: Any,
) -> None:
    X, y = load_heart(return_X_y=True)
    X = X.select(COLUMNS)
    # To miss an illness costs four times as much as a false alarm.
    loss = [[0.0, 4.0], [1.0, 0.0]]
    model = bayleaf.NaiveBayesClassifier(loss=loss).fit(X, y)
    page = open_cockpit(explorer_html(model, rows=X.append_column("class", [y])))
    assert page.input_value("#act") == "20"
    right = int(np.sum(model.predict(X) == np.asarray(y)))
    page.get_by_text(f"The model is right for {right} of 270.").wait_for()
    page.fill("#act", "50")
    page.keyboard.press("Tab")
    proba = model.predict_proba(X)[:, 1]
    right = int(np.sum((proba >= 0.5) == (np.asarray(y) == "present")))
    page.get_by_text(f"The model is right for {right} of 270.").wait_for()
    page.evaluate("window.bayleaf.page.cockpit.words.unit = 'bits'")
    page.evaluate("window.bayleaf.page.cockpit.update()")
    legend = page.inner_text(".legend-of-marks").replace("\u00a0", " ")
    assert "+1.00 bits doubles the odds" in legend


def test_how_good_a_model_is_is_of_cases_with_all_findings(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB")))
    feature(page, "sex").get_by_text("female").click()
    here = "Here 1 of 5 findings is known, for which that was not measured"
    assert here in page.inner_text("#quality")
    page.locator("#write-letter").click()
    assert here in page.inner_text("#letter-body")
    page.get_by_role("button", name="Close").click()
    page.evaluate("[0, 1, 2, 3].forEach((v) => bayleaf.session.choose(v, 0))")
    assert "all its findings known" in page.inner_text("#quality")
    assert "not measured" not in page.inner_text("#quality")


def test_the_map_leads_to_how_good_a_classifier_is(open_page: Any) -> None:
    page = open_page(explorer_html(heart("naive Bayes")))
    page.get_by_role("button", name="How good is this model?").click()
    quality = page.get_by_role("heading", name="How good is this model?")
    quality.wait_for()
    assert quality.evaluate("own => own === document.activeElement")
    assert "of 100 cases" in page.inner_text("#quality")


def test_questions_remove_a_share_of_the_uncertainty(open_cockpit: Any) -> None:
    model = heart("averaged KDB")
    page = open_cockpit(explorer_html(model))
    nats = value_of_information(model, {})
    first, gain = next(iter(nats.items()))
    proba = model.predict_proba(pa.table({name: [None] for name in COLUMNS}))[0]
    entropy = -(proba @ np.log(proba))
    item = page.locator(".next li").first
    item.wait_for()
    share = f"{round(100 * gain / entropy)} %"
    assert item.inner_text().split("\n")[:2] == [first.replace("_", " "), share]
    reach = item.inner_text().split("\n")[2]
    page.locator("#write-letter").click()
    text = f"(the answer could become {reach} in 100)"
    page.locator("#letter-body", has_text=text).wait_for()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Ask me").click()
    wait(page, "#question-heading")
    question = page.locator(".question")
    # Why it is asked is a line; what is behind it waits until it is asked for.
    assert f"With it the answer could become {reach} in 100." in question.inner_text()
    assert "uncertainty" not in question.inner_text()
    question.get_by_text("More", exact=True).click()
    bits = f"{entropy / np.log(2):.2f} bits (0 is certainty"
    removes = f"removes {share} of the uncertainty on average, now {bits}"
    assert removes in question.inner_text()
    # Who wants to read it of one question reads it of the next, too.
    question.get_by_role("button", name="Skip: not known").click()
    wait(page, ".question:not([aria-busy])")
    assert "of the uncertainty on average" in question.inner_text()


def test_questions_that_were_skipped_may_still_matter(
    open_cockpit: Any,
) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB")))
    page.get_by_role("button", name="Ask me").click()
    for _ in COLUMNS:
        wait(page, ".question:not([aria-busy])")
        page.get_by_role("button", name="Skip: not known").click()
    wait(page, ".question:not([aria-busy])")
    assert page.inner_text("#question-heading") == "No more questions"
    ending = page.inner_text(".question")
    assert "You skipped what could still change this: " in ending
    assert "thallium scan" in ending


def test_a_slider_moves_the_answer_in_one_step_to_undo(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB")))
    slider = feature(page, "maximum heart rate").get_by_role("slider")
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.5 * box["width"], y)
    page.mouse.down()
    for share in (0.4, 0.3, 0.2):
        page.mouse.move(box["x"] + share * box["width"], y)
    page.mouse.up()
    typed = feature(page, "maximum heart rate").get_by_role("textbox").input_value()
    assert 80 < float(typed) < 110
    assert float(typed) % 1 == 0
    page.locator("#undo").click()
    assert headline(page) == "About 44 in 100 cases are “present”."
    # What is not set has no number, though its knob is in the middle.
    page.mouse.click(box["x"] + box["width"] / 2, y)
    typed = feature(page, "maximum heart rate").get_by_role("textbox").input_value()
    assert float(typed) == float(slider.evaluate("own => Math.round(own.value)"))
    page.locator("#undo").click()
    assert headline(page) == "About 44 in 100 cases are “present”."
    slider.focus()
    page.keyboard.press("ArrowRight")
    first = feature(page, "maximum heart rate").get_by_role("textbox").input_value()
    page.keyboard.press("ArrowRight")
    second = feature(page, "maximum heart rate").get_by_role("textbox").input_value()
    assert float(second) == float(first) + 1


def test_of_many_classes_any_one_is_in_question(open_cockpit: Any) -> None:
    case = classifier_case("averaged KDB")
    page = open_cockpit(explorer_html(case.model))
    feature(page, "x0").get_by_text("s1", exact=True).click()
    shares = case.class_proba({0: 1})
    best = int(np.argmax(shares))
    assert f"are “class {best}”" in headline(page)
    other = (best + 1) % 3
    page.locator(f".class-bar:has-text('class {other}')").click()
    assert headline(page).startswith(f"About {round(100 * shares[other])} in 100")
    assert f"class {other} rather than" in page.inner_text("#reasons-body")


def test_missing_values_that_are_a_state_differ_from_what_is_not_known(
    open_cockpit: Any,
) -> None:
    X, y = table()
    model = bayleaf.NaiveBayesClassifier(missing="state").fit(
        X, [c[-1] == "0" for c in y]
    )
    page = open_cockpit(explorer_html(model))
    before = headline(page)
    row = feature(page, "x2")
    row.locator(".pick:not(.unknown)").click()
    assert headline(page) != before
    assert row.locator(".unknown").get_attribute("aria-pressed") == "false"
    row.get_by_text("Clear", exact=True).click()
    assert headline(page) == before


@pytest.mark.parametrize("kind", ["naive Bayes", "averaged KDB"])
def test_what_a_case_leaves_out_is_not_known_though_missing_is_a_state(
    kind: str, open_cockpit: Any
) -> None:
    X, y = load_heart(return_X_y=True)
    rng = np.random.default_rng(0)
    holed = {
        name: [cell if rng.random() < 0.8 else None for cell in X[name].to_pylist()]
        for name in COLUMNS
    }
    kinds = {
        "naive Bayes": bayleaf.NaiveBayesClassifier(missing="state"),
        "averaged KDB": bayleaf.AveragedKDBClassifier(random_state=0),
    }
    model = kinds[kind].fit(pa.table(holed), y)
    page = open_cockpit(explorer_html(model))
    domain = model._page_model().scorer.model.domain
    case = {"thallium_scan": "normal", "sex": None}
    missing = domain[4].n_states - 1
    assert domain[4].label(missing) == "missing"
    states = {1: domain[1].states.index("normal"), 4: missing}
    (interval,) = credible_intervals(model, case)
    for index, name in enumerate(COLUMNS):
        found = page.evaluate(COMPUTED, [states, index])
        assert found["chance"] == pytest.approx(
            interval.classes[1].probability, abs=1e-9
        )
        effects = feature_effects(model, case, name, of=model.classes_[1]).effects
        np.testing.assert_allclose(found["effects"], effects, atol=1e-9)
        terms = {item["variable"]: item["value"] for item in found["reasons"]["items"]}
        if index in states:
            assert terms[index] == pytest.approx(effects[states[index]], abs=1e-9)


def test_many_features_are_found_by_name_and_by_value(open_cockpit: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    names = [f"{'x' * 40}_{i}" for i in range(58)] + ["Größe des Tumors", "年齢"]
    X = pa.table({name: [f"v{v}" for v in rng.integers(0, 3, 200)] for name in names})
    page = open_cockpit(explorer_html(bayleaf.NaiveBayesClassifier().fit(X, y)))
    assert page.locator(".entry").count() == 30
    search = page.get_by_role("searchbox", name="Search findings")
    for text, name in (
        ("grosse", None),
        ("tumors", "Größe des Tumors"),
        ("年", "年齢"),
    ):
        search.fill(text)
        shown = page.locator(".feature-name").all_inner_texts()
        assert shown == ([] if name is None else [name])
    page.locator(".pick").first.click()
    search.fill(f"{'x' * 40} 5")
    # The name itself comes before names that contain it.
    assert page.locator(".feature-name").first.inner_text() == f"{'x' * 40} 5"
    search.fill("")
    assert page.locator(".entry").count() in (30, 31)
    page.get_by_text("Show all 60 findings").click()
    assert page.locator(".entry").count() == 60
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_hostile_names_are_text_in_the_cockpit(open_cockpit: Any) -> None:
    rng = np.random.default_rng(0)
    y = [HOSTILE[i] for i in rng.integers(0, 3, 90)]
    names = [name for name in HOSTILE if name]
    X = pa.table({name: [names[i] for i in rng.integers(0, 3, 90)] for name in names})
    page = open_cockpit(explorer_html(bayleaf.NaiveBayesClassifier().fit(X, y)))
    page.locator(".pick:not(.unknown)").first.click()
    assert "in 100" in headline(page)
    page.get_by_role("button", name="What if").click()
    attempt = wait(page, ".proposals li button")
    attempt.focus()
    attempt.press("Enter")
    page.get_by_role("button", name="Ask me").click()
    wait(page, "#question-heading")
    assert page.locator("script").count() == 2


def test_contradicting_findings_and_a_given_outcome_have_a_sentence(
    open_cockpit: Any,
) -> None:
    page = open_cockpit(explorer_html(heart("TAN")))
    page.evaluate("window.bayleaf.session.choose(5, 1)")
    assert "Remove it to see reasons" in page.inner_text(".facts")
    assert not page.is_visible("#reasons")


def test_a_long_tail_of_numbers_is_cut_off_the_axis(open_cockpit: Any) -> None:
    rng = np.random.default_rng(0)
    values = rng.lognormal(3, 0.3, 400)
    values[:2] = 1e5
    y = (values + rng.normal(0, 5, 400) > 20).astype(int)
    model = bayleaf.AveragedKDBClassifier(n_networks=2, random_state=0)
    page = open_cockpit(explorer_html(model.fit(pa.table({"income": values}), y)))
    slider = page.get_by_role("slider")
    assert float(slider.get_attribute("max")) < 500
    box = page.get_by_role("textbox", name="income")
    box.fill("200000")
    page.wait_for_function(
        "() => document.querySelector('.read').textContent.includes('above every')"
    )
    assert "200000" in page.inner_text("#reasons-body")


def test_pages_of_rounded_counts_have_a_cockpit_without_rows(open_cockpit: Any) -> None:
    X, y = table_of_numbers()
    model = bayleaf.AveragedKDBClassifier(n_networks=2, random_state=0).fit(X, y)
    page = open_cockpit(explorer_html(model, min_count=5))
    page.get_by_role("textbox", name="number 0").fill("1.5")
    assert "number 0 1.5" in page.inner_text("#reasons-body")
    assert "training rows" not in page.inner_text("#picture")


LOOKS = [
    [(1280, 800), (1600, 1000), (400, 800)],
    ["light", "dark"],
    ["Findings", "Ask me", "What if"],
]
# Every size once; all pairs are for the long tests.
PAIRS = list(zip(*([look[i % len(look)] for i in range(3)] for look in LOOKS)))
# Text smaller than 12 pixels, and controls that Tab does not reach.
SMALL_TEXT = """() => [...document.querySelectorAll("body *")].filter((e) =>
  [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())
  && e.checkVisibility() && parseFloat(getComputedStyle(e).fontSize) < 12
  && !["SCRIPT", "STYLE"].includes(e.tagName)).map((e) => e.outerHTML.slice(0, 80))"""


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("size", "scheme", "mode"),
    [
        look if look in PAIRS else pytest.param(*look, marks=pytest.mark.long)
        for look in product(*LOOKS)
    ],
)
def test_the_cockpit_has_no_barriers(
    size: tuple[int, int], scheme: str, mode: str, open_cockpit: Any, axe_script: str
) -> None:
    page = open_cockpit(
        explorer_html(heart("averaged KDB")),
        bypass_csp=True,
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
    )
    page.evaluate(axe_script)
    page.get_by_role("textbox", name="age", exact=True).fill("62")
    # The picture marks a value that lowers the odds.
    feature(page, "sex").get_by_text("female").click()
    page.get_by_role("button", name=mode, exact=True).click()
    if mode == "Ask me":
        wait(page, "#question-heading")
    page.wait_for_timeout(200)
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 20
    assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []
    assert page.evaluate(SMALL_TEXT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def wait(page: Any, selector: str) -> Any:
    """The first element that a selector finds, once it is there."""
    page.locator(selector).first.wait_for()
    return page.locator(selector).first


WORDS = {
    "cases": "patients",
    "outcome": "present",
    "phrases": {"present": "have heart disease"},
    "features": {
        "age": {"label": "Age", "unit": "years", "group": "History", "cost": 1},
        "sex": {"label": "Sex", "group": "History", "cost": 1},
        "chest_pain": {"label": "Chest pain", "group": "History", "cost": 1},
        "thallium_scan": {
            "label": "Thallium scan",
            "question": "What does the thallium scan show?",
            "group": "Imaging",
            "cost": 102.9,
            "states": {"normal": "nothing unusual"},
        },
        "maximum_heart_rate": {"group": "Exercise test", "cost": 102.9},
    },
}


def test_words_and_groups_are_those_of_the_file(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB"), words=WORDS))
    assert headline(page) == "About 44 in 100 patients have heart disease."
    groups = page.locator(".group-name").all_inner_texts()
    assert groups == ["History", "Imaging", "Exercise test"]
    feature(page, "Thallium scan").get_by_text("nothing unusual").click()
    assert "Thallium scan: nothing unusual" in page.inner_text(".facts")
    assert "years" in feature(page, "Age").inner_text()


def test_questions_are_asked_by_cost_until_no_answer_matters(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB"), words=WORDS))
    page.get_by_role("button", name="Ask me").click()
    first = wait(page, "#question-heading").inner_text()
    assert first in ("Age?", "Sex?", "Chest pain?")
    page.get_by_role("combobox", name="Order").select_option("most telling first")
    page.wait_for_function(
        "() => document.querySelector('#question-heading').textContent.includes('scan')"
    )
    page.get_by_role("button", name="Nothing unusual").click()
    assert "patients like this" in headline(page)
    for _ in range(8):
        page.wait_for_function(
            "() => !document.querySelector('.question[aria-busy]')"
            "  && !document.querySelector('.question').innerText.includes('Computing')"
        )
        ends = ("That is enough", "No more questions")
        if page.inner_text("#question-heading") in ends:
            break
        if "That is enough, you can stop here:" in page.inner_text(".question"):
            # A question that is being read is not taken away.
            page.get_by_role("button", name="Stop here").click()
            page.get_by_text("Ask on anyway").wait_for()
            break
        page.get_by_role("button", name="Skip: not known").press("Enter")
        # Until the next question is found the focus stays where it was.
        assert page.evaluate("document.activeElement !== document.body")
    assert page.inner_text("#question-heading") == "That is enough"
    page.get_by_role("button", name="Write the letter").click()
    letter = page.inner_text("#letter-body")
    assert "Thallium scan" in letter
    assert "patients like this have heart disease" in " ".join(letter.split())
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Back").click()
    page.wait_for_function("() => !document.querySelector('.question[aria-busy]')")
    assert page.inner_text("#question-heading") != "That is enough"


def test_how_often_open_answers_turn_a_decision_is_what_the_model_draws(
    open_cockpit: Any,
) -> None:
    X, _ = load_heart(return_X_y=True)
    columns = ["thallium_scan", "sex", "chest_pain"]
    turned = """limit => {
      const { page, session } = window.bayleaf;
      const decide = (logs) => page.cockpit.decision(logs);
      const found = [...window.bayleaf.turnedDecisions(session, [1, 2], decide, limit)];
      return found.map(({ isTurned }) => isTurned);
    }"""
    for name in ("averaged KDB", "TAN", "AODE", "naive Bayes"):
        model = heart(name, tuple(columns))
        page = open_cockpit(explorer_html(model))
        page.evaluate("window.bayleaf.session.choose(0, 0)")
        found = page.evaluate(turned, 1)
        assert len(found) == 200
        assert len(page.evaluate(turned, 0)) < 200
        state = model.model_.domain[0].label(0)
        share = decision_changes(model, {"thallium_scan": state}, threshold=0.5)
        assert np.mean(found) == pytest.approx(share, abs=1e-9)
        rows = X.select(columns).filter(pc.equal(X["thallium_scan"], "fixed defect"))
        one = pa.table({c: [v] for c, v in zip(columns, ["fixed defect", None, None])})
        now = model.predict(one)[0]
        share = np.mean(model.predict(rows) != now)
        assert abs(np.mean(found) - share) < 0.3


def test_what_if_changes_what_is_not_fixed_and_leaves_the_case(
    open_cockpit: Any,
) -> None:
    model = heart("averaged KDB")
    html = explorer_html(model, words=WORDS, actionable=["maximum_heart_rate"])
    page = open_cockpit(html)
    feature(page, "Chest pain").get_by_text("asymptomatic").click()
    feature(page, "Thallium scan").get_by_text("reversible defect").click()
    feature(page, "Sex").get_by_text("male", exact=True).click()
    before = headline(page)
    page.get_by_role("button", name="What if").click()
    assert feature(page, "Sex").get_by_role("checkbox").is_checked()
    assert feature(page, "Sex").get_by_role("radio", name="female").is_disabled()
    proposals = page.locator(".proposals li")
    proposals.first.wait_for()
    assert "Sex" not in page.inner_text(".proposals")
    assert "What a person can change" in page.inner_text(".proposals")
    assert re.search(r"\d in 100 \([<>\d]", proposals.first.inner_text())
    proposals.first.get_by_role("button").click()
    assert "instead of" in headline(page)
    assert "Was: " in page.inner_text("#findings")
    # What is fixed has its own line in Why, however little it matters.
    assert "Sex: male" in page.inner_text("#reasons-body")
    page.get_by_role("button", name="Back to the case").click()
    assert headline(page) == before
    count = int(re.search(r"\d+", before).group())
    page.get_by_label("Goal", exact=True).select_option("least")
    assert int(page.get_by_label("Goal in 100").input_value()) > count
    page.get_by_label("Goal in 100").fill(str(count))
    page.keyboard.press("Tab")
    page.get_by_text("It is there already.").wait_for()
    page.get_by_label("Goal in 100").fill(str(min(99, count + 1)))
    page.keyboard.press("Tab")
    raised = page.locator(".proposals li b").first
    raised.wait_for()
    assert int(re.search(r"\d+", raised.inner_text()).group()) > count
    assert "(" not in page.locator(".proposals li > :first-child").first.inner_text()
    page.get_by_role("button", name="Findings", exact=True).click()
    assert headline(page) == before


def test_the_line_to_act_from_decides(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB")))
    feature(page, "chest pain").get_by_text("asymptomatic").click()
    page.get_by_label("dashed line: act from").fill("90")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="What if").click()
    assert wait(page, ".proposals h3 select").input_value() == "least"
    assert page.get_by_label("Goal in 100").input_value() == "90"


def test_a_page_that_is_printed_is_the_letter(open_cockpit: Any, tmp_path: Any) -> None:
    pdfium = pytest.importorskip("pypdfium2", reason="pypdfium2 reads what is printed")
    page = open_cockpit(explorer_html(heart("averaged KDB"), words=WORDS))
    # Questions of a letter that was open before are not those of this case.
    page.locator("#write-letter").click()
    page.get_by_role("heading", name="What would sharpen this").wait_for()
    page.locator("#letter-close").click()
    feature(page, "Chest pain").get_by_text("asymptomatic").click()
    page.pdf(path=tmp_path / "page.pdf", format="A4", print_background=False)
    document = pdfium.PdfDocument(tmp_path / "page.pdf")
    assert len(document) == 1
    text = " ".join(document[0].get_textpage().get_text_range().split())
    assert "patients like this have heart disease" in text
    assert "Chest pain asymptomatic" in text
    assert "Undo" not in text
    assert "of 100 patients when each was left out of learning" in text
    asked = text.split("What would sharpen this")[1]
    assert asked.count("(the answer could become") == 3
    assert "Chest pain" not in asked


def test_a_letter_of_what_was_tried_is_marked(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("naive Bayes")))
    feature(page, "chest pain").get_by_text("asymptomatic").click()
    page.locator("#mode-what-if").click()
    page.locator("#write-letter").click()
    letter = page.locator("#letter-body")
    assert "Tried in What if" not in letter.inner_text()
    page.locator("#letter-close").click()
    feature(page, "chest pain").get_by_text("typical angina", exact=True).click()
    page.locator("#write-letter").click()
    assert "Tried in What if" in letter.inner_text()
    assert "What would sharpen this" not in letter.inner_text()


def test_a_letter_adds_up_and_is_closed_from_wherever_it_is_read(
    open_cockpit: Any,
) -> None:
    size = {"width": 1280, "height": 500}
    page = open_cockpit(explorer_html(heart("averaged KDB")), viewport=size)
    for field, value in (("thallium scan", "normal"), ("chest pain", "asymptomatic")):
        feature(page, field).get_by_text(value, exact=True).click()
    whole = page.evaluate(
        """() => {
          const { cockpit } = window.bayleaf.page;
          const found = cockpit.reasons;
          found.items[0].value += 0.5;
          cockpit.outcome.reasons = () => ({ ...found, rest: found.rest - 0.5 });
          cockpit.words.unit = "nats";
          return found.end - found.start;
        }"""
    )
    page.locator("#write-letter").click()
    effects = page.locator("#letter-body td.number").all_inner_texts()
    nats = [float(text.split()[1].replace("\u2212", "-")) for text in effects]
    assert page.locator("#letter-body tr").last.inner_text().startswith("overlap of")
    assert sum(nats) == pytest.approx(whole, abs=0.02)
    page.locator("#letter-body", has_text="could become").wait_for()
    page.locator("#letter-body .fine").scroll_into_view_if_needed()
    box = page.locator("#letter-close").bounding_box()
    assert 0 < box["y"] < size["height"] / 2
    page.mouse.click(20, 250)
    assert not page.locator("#letter").is_visible()


def test_what_is_tried_is_taken_back_with_the_focus_where_it_was(
    open_cockpit: Any,
) -> None:
    page = open_cockpit(explorer_html(heart("naive Bayes")))
    feature(page, "chest pain").get_by_text("asymptomatic").click()
    page.locator("#mode-what-if").click()
    attempt = wait(page, ".proposals li button")
    name = attempt.get_attribute("aria-label")
    close = page.get_by_role("button", name="Close What if")
    wait(page, ".proposals [aria-busy=false]")
    place = close.bounding_box()
    attempt.press("Enter")
    assert close.bounding_box()["x"] == place["x"]
    page.get_by_role("button", name="Back to the case").press("Enter")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == name


def test_the_first_field_is_entered_as_any_other_by_the_keyboard(
    open_cockpit: Any,
) -> None:
    page = open_cockpit(explorer_html(heart("naive Bayes")))
    page.get_by_role("button", name="Skip to the findings").press("Enter")
    first = page.locator(".entry").first
    page.keyboard.press("ArrowRight")
    chosen = page.evaluate("document.activeElement.closest('label').innerText")
    assert chosen == first.locator(".picks .pick").first.inner_text()
    assert first.locator(".picks input").first.is_checked()


def test_a_telephone_shows_the_question_that_is_asked(open_cockpit: Any) -> None:
    size = {"width": 400, "height": 700}
    page = open_cockpit(explorer_html(heart("averaged KDB")), viewport=size)
    feature(page, "chest pain").get_by_text("asymptomatic").click()
    page.locator(".jumps button", has_text="Most useful next").click()
    page.locator("#mode-ask").click()
    heading = wait(page, "#question-heading")
    seen = """heading => {
      const { left, top } = heading.getBoundingClientRect();
      return heading.contains(document.elementFromPoint(left + 5, top + 5));
    }"""
    for _ in range(3):
        page.wait_for_function("() => !document.querySelector('.question[aria-busy]')")
        assert heading.evaluate(seen)
        page.locator(".question").get_by_role("button", name="Skip").click()
    page.locator("#mode-what-if").click()
    page.locator(".jumps button", has_text="Most useful next").click()
    assert page.locator(".next").is_visible()


def test_no_proposal_ends_on_the_line(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("naive Bayes")))
    feature(page, "chest pain").get_by_text("asymptomatic").click()
    feature(page, "sex").get_by_text("male", exact=True).click()
    before = page.evaluate("100 * window.bayleaf.page.cockpit.answer.chance")
    chances = []
    for line in range(29, int(before), 2):
        page.fill("#act", str(line))
        page.keyboard.press("Tab")
        page.locator("#mode-what-if").click()
        page.wait_for_selector(".proposals [aria-busy=false]")
        goal = int(page.get_by_role("spinbutton", name="Goal in 100").input_value())
        texts = page.locator(".proposals li b").all_inner_texts()
        if goal == line:
            found = [int(re.search(r"(\d+) in 100", text).group(1)) for text in texts]
            assert min(abs(chance - line) for chance in found) >= 1.5
            chances += found
        page.locator("#mode-form").click()
    assert chances


def test_tabs_stay_where_they_are_in_every_view(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("naive Bayes")))
    tabs = page.get_by_role("tab").filter(visible=True)
    before = [tab.bounding_box()["x"] for tab in tabs.all()]
    page.locator("#tab-map").click()
    # But for the bold letters of the one that is chosen.
    after = [tab.bounding_box()["x"] for tab in tabs.all()]
    assert after == pytest.approx(before, abs=12)


def test_no_question_is_asked_that_leaves_an_extreme_chance_extreme(
    open_cockpit: Any,
) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB")))
    # Averages may expect to remove more than the uncertainty there is.
    asked = """chance => {
      const { cockpit } = window.bayleaf.page;
      const { outcome } = cockpit;
      const logs = [Math.log(1 - chance), Math.log(chance)];
      const question = { variable: 0, nats: 0.01, answers: [{ share: 1, logs }] };
      const isIdle = outcome.isIdle(question, { target: 1 });
      outcome.reductions = () => [{ ...question, isIdle }].values();
      outcome.doubt = () => 0.005;
      cockpit.update();
    }"""
    settled = page.locator(".next[aria-busy=false]")
    for chance in (0.001, 0.999):
        page.evaluate(asked, chance)
        settled.wait_for()
        assert "No further question is likely" in settled.inner_text()
    for chance in (0.02, 0.98):
        page.evaluate(asked, chance)
        settled.wait_for()
        assert settled.locator("li").inner_text().split("\n")[1] == "100 %"


@pytest.mark.parametrize("mode", ["#mode-form", "#mode-what-if"])
def test_words_of_names_of_findings_are_whole(mode: str, open_cockpit: Any) -> None:
    X, y = load_heart(return_X_y=True)
    long = "w" * 60
    X = X.select(COLUMNS[:2]).rename_columns(["resting_electrocardiographic", long])
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    page = open_cockpit(explorer_html(model))
    page.locator(mode).click()
    name = page.locator(".feature-name", has_text="resting")
    # Two lines, a word in each.
    assert name.bounding_box()["height"] < 3 * 15 * 1.45
    assert name.evaluate("(own) => own.scrollWidth <= own.clientWidth + 1")
    for own in page.locator(".entry").all():
        assert own.evaluate("(own) => own.scrollWidth <= own.clientWidth + 1")


def test_on_a_telephone_the_question_is_seen_after_what_if(open_cockpit: Any) -> None:
    viewport = {"width": 400, "height": 800}
    page = open_cockpit(explorer_html(heart("naive Bayes")), viewport=viewport)
    feature(page, "chest pain").get_by_text("asymptomatic").click()
    page.locator("#mode-what-if").click()
    page.locator(".proposals li").first.wait_for()
    page.evaluate(
        "window.scrollTo(0, document.querySelector('#findings').offsetTop + 500)"
    )
    page.locator("#mode-ask").click()
    place = page.locator("#question-heading").bounding_box()
    assert 0 <= place["y"] < 700


def test_answers_of_rounded_counts_are_not_taken_for_contradictions(
    open_cockpit: Any,
) -> None:
    X, _ = load_heart(return_X_y=True)
    model = heart("averaged KDB", tuple(X.column_names))
    page = open_cockpit(explorer_html(model, min_count=5))
    feature(page, "age").get_by_role("textbox").fill("57")
    contradicted = page.evaluate(
        """() => {
          const { engine, evidence, model } = window.bayleaf.session;
          return model.variables.slice(0, -1).flatMap(({ states }, v) =>
            states.map((_, state) => engine.isContradicted(v, evidence.with(
              v, Uint8Array.from(states, (own, s) => Number(s === state))))));
        }"""
    )
    assert contradicted
    assert not any(contradicted)
    assert "((" not in page.inner_text("#picture")


def test_a_class_named_by_one_long_word_is_broken_not_cut(open_cockpit: Any) -> None:
    X, _ = load_heart(return_X_y=True)
    labels = [("w" * 60, "a", "b")[i % 3] for i in range(len(X))]
    model = bayleaf.NaiveBayesClassifier().fit(X.select(COLUMNS), labels)
    page = open_cockpit(explorer_html(model), viewport={"width": 400, "height": 800})
    label = page.locator(".class-bar .label", has_text="wwww")
    assert label.evaluate("(own) => own.scrollWidth <= own.clientWidth")
    assert label.bounding_box()["height"] > 30


def test_effects_are_shown_in_the_chosen_unit(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("naive Bayes")))
    feature(page, "chest pain").get_by_text("asymptomatic").click()
    assert "×" in page.inner_text(".fall .total >> xpath=preceding-sibling::tr[1]")
    page.locator("#menu-name").click()
    page.locator("#unit").click()
    page.select_option("#unit", "nats")
    assert "+" in page.inner_text(".fall .total >> xpath=preceding-sibling::tr[1]")
    page.locator("#tab-map").click()
    in_nats = page.inner_text("#why-table")
    page.locator("#menu-name").click()
    page.select_option("#unit", "bits")
    page.wait_for_function(
        "before => document.querySelector('#why-table').innerText !== before",
        arg=in_nats,
    )


def test_expert_is_shown_for_models_that_have_more_to_tell(open_cockpit: Any) -> None:
    for name, is_shown in (("averaged KDB", False), ("TAN", True)):
        page = open_cockpit(explorer_html(heart(name)))
        assert page.locator("#tab-map").is_visible()
        assert page.locator("#tab-expert").is_visible() == is_shown


def test_rows_on_request_are_counted_and_opened(open_cockpit: Any) -> None:
    X, y = load_heart(return_X_y=True)
    X = X.select(COLUMNS)
    model = heart("averaged KDB")
    rows = X.append_column("class", [y])
    page = open_cockpit(explorer_html(model, words=WORDS, rows=rows))
    feature(page, "Chest pain").get_by_text("asymptomatic").click()
    alike = np.array(X["chest_pain"].to_pylist()) == "asymptomatic"
    ill = int(np.sum(np.asarray(y)[alike] == "present"))
    assert page.inner_text(".match") == (
        f"{alike.sum()} of the 270 patients on this page match this finding; "
        f"{ill} of these have heart disease."
    )
    known = {"chest_pain": "asymptomatic", "maximum_heart_rate": 132.0, "age": 50.0}
    python = matching_rows(model, known, rows)
    for name in ("maximum_heart_rate", "age"):
        box = feature(
            page, WORDS["features"].get(name, {}).get("label", name.replace("_", " "))
        )
        box.get_by_role("textbox").fill(str(known[name]))
    text = page.inner_text(".match")
    assert text.startswith(f"{python.known.n} of the 270 patients on this page match")
    if python.known.n < 8:
        assert re.search(rf" {python.strongest.n} match(es)? ", text)
    answers = model.predict(X)
    right = int(np.sum(answers == np.asarray(y)))
    page.get_by_text(f"The model is right for {right} of 270.").wait_for()
    for row in (0, int(np.flatnonzero(answers != np.asarray(y))[0])):
        page.get_by_role("spinbutton", name="Row").fill(str(row + 1))
        page.keyboard.press("Enter")
        note = page.inner_text(".recorded")
        assert note.startswith(f"Recorded outcome: {y[row]}. The model was ")
        assert note.endswith("right here.") == (answers[row] == y[row]) or "und" in note
        assert "of the other 269 patients on this page" in page.inner_text(".match")
    feature(page, "Chest pain").get_by_text("Clear", exact=True).click()
    assert page.inner_text(".recorded") == ""
    assert "match" not in open_cockpit(explorer_html(model)).inner_text("#now")


def test_rows_like_a_case_are_counted_in_singular_and_plural(
    open_cockpit: Any,
) -> None:
    X = pa.table({"sign": ["a"] * 6 + ["b"] * 5 + ["c"], "n": ["x", "y"] * 6})
    y = ["ill"] + ["well"] * 6 + ["ill"] * 3 + ["well"] * 2
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    words = {"outcome": "ill", "phrases": {"ill": "are ill", "well": "have no illness"}}
    page = open_cockpit(
        explorer_html(model, words=words, rows=X.append_column("class", [y]))
    )
    found = {}
    for sign in ("a", "b", "c"):
        feature(page, "sign").get_by_text(sign, exact=True).click()
        found[sign] = page.inner_text(".match").split("; ")[1].split(".")[0]
    assert found["a"] == "1 of these is ill"
    assert found["b"] == "3 of these are ill"
    assert found["c"] == "this one has no illness"
    feature(page, "n").get_by_text("x", exact=True).click()
    assert page.inner_text(".match") == (
        "None of the 12 cases on this page match both findings. "
        "1 matches sign alone; this one has no illness."
    )
    # A row that is open does not match itself, in What if neither.
    page.get_by_role("spinbutton", name="Row").fill("12")
    page.keyboard.press("Enter")
    none = "None of the other 11 cases on this page match"
    assert page.inner_text(".match").startswith(none)
    page.locator("#mode-what-if").click()
    assert page.inner_text(".match").startswith(none)


def test_findings_without_effect_are_counted_as_findings(open_cockpit: Any) -> None:
    X = pa.table({"one": ["a", "b"] * 8, "two": ["c", "c", "d", "d"] * 4})
    model = bayleaf.NaiveBayesClassifier().fit(X, ["no"] * 8 + ["yes"] * 8)
    page = open_cockpit(explorer_html(model), viewport={"width": 400, "height": 800})
    for name, state in (("one", "a"), ("two", "d")):
        feature(page, name).get_by_text(state, exact=True).click()
    assert page.inner_text(".fall tr:nth-child(2) th") == "2 findings"


def test_a_telephone_shows_what_a_try_changes(open_cockpit: Any) -> None:
    size = {"width": 400, "height": 800}
    page = open_cockpit(explorer_html(heart("naive Bayes")), viewport=size)
    feature(page, "chest pain").get_by_text("asymptomatic").click()
    page.locator("#mode-what-if").click()
    wait(page, ".proposals li button").click()
    answer = page.inner_text(".headline").split("\n")[0]
    moved = re.search(r"\d+ in 100 instead of \d+", answer).group()
    assert moved in page.inner_text(".strip")


def test_the_map_shows_effects_on_their_own_as_factors_of_the_odds(
    open_page: Any,
) -> None:
    model = heart("naive Bayes")
    page = open_page(explorer_html(model))
    page.evaluate(f"bayleaf.page.choose({COLUMNS.index('chest_pain')})")
    page.locator("#chosen summary", has_text="on its own").click()
    case = pa.table(
        {n: ["asymptomatic" if n == "chest_pain" else None] for n in COLUMNS}
    )
    (found,) = model.explain(case, of="present")
    (nats,) = [t.contribution for t in found.terms if t.feature == "chest_pain"]
    row = page.locator("#chosen tr", has=page.get_by_text("asymptomatic", exact=True))
    factor = row.locator(".number").first.inner_text()
    assert factor[0] == "×"
    assert float(factor[1:]) == pytest.approx(np.exp(nats), rel=0.006)


def test_where_nothing_is_entered_nothing_is_compared_with_it(
    open_cockpit: Any,
) -> None:
    page = open_cockpit(explorer_html(heart("naive Bayes")))
    page.locator("#write-letter").click()
    assert "in 100 before anything was known" not in page.inner_text("#letter-body")
    page.locator("#letter-close").click()
    page.locator("#mode-what-if").click()
    wait(page, ".proposals li")
    assert "Had this been different" not in page.inner_text(".proposals")


def test_what_if_explains_the_marks_that_it_has(open_cockpit: Any) -> None:
    for name, has_intervals in (("naive Bayes", False), ("averaged KDB", True)):
        page = open_cockpit(explorer_html(heart(name)))
        feature(page, "chest pain").get_by_text("asymptomatic").click()
        page.locator("#mode-what-if").click()
        note = page.locator(".proposals .note", has_text="ticked as fixed")
        note.wait_for()
        assert ("In brackets: 95 %" in note.inner_text()) == has_intervals, name


def test_a_page_of_rounded_counts_says_that_it_differs(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB"), min_count=5))
    assert "This page differs from the model" in page.inner_text("#quality")
    assert "the model's own answer may differ" in page.inner_text("#now")


def test_features_are_ordered_by_what_each_reveals_of_the_class(
    open_cockpit: Any,
) -> None:
    for name in ("averaged KDB", "TAN"):
        page = open_cockpit(explorer_html(heart(name)))
        order = page.locator(".feature-name").all_inner_texts()
        assert set(order[:2]) == {"thallium scan", "chest pain"}
        assert page.locator(".slide rect").count() > 2


# Steps of a slider: what each computes and changes, the time it takes next to that of
# the same change entered at once, and the answer that it shows.
STEPS = """([label, n]) => {
  const { session, page: { cockpit } } = window.bayleaf;
  const { engine } = session;
  const slider = document.querySelector(`.slide input[aria-label^="${label}"]`);
  const entry = slider.closest(".entry");
  const [variable] = [...cockpit.findings.rows].find(([, row]) => row.node === entry);
  let runs = 0;
  for (const [owner, name] of [[engine.program, "nats"], [engine, "deviations"]]) {
    const plain = owner[name];
    owner[name] = function counted(...given) {
      runs += 1;
      return plain.apply(this, given);
    };
  }
  const observer = new MutationObserver(() => {});
  observer.observe(document.body,
    { attributes: true, characterData: true, childList: true, subtree: true });
  const drawn = [entry, ...document.querySelectorAll("#now, .strip, #picture")];
  const isElsewhere = ({ target }) => !drawn.some((part) => part.contains(target));
  const timed = (change) => {
    const start = performance.now();
    change();
    return performance.now() - start;
  };
  const step = (k) => {
    slider.value = Number(slider.min) + (k / n) * (slider.max - slider.min);
    runs = 0;
    observer.takeRecords();
    const time = timed(() => slider.dispatchEvent(new Event("input")));
    const records = observer.takeRecords();
    const mask = session.evidence[variable];
    return {
      time, runs, mask, changes: records.length,
      elsewhere: records.filter(isElsewhere).map(({ target }) => target.outerHTML),
      entered: Number(mask.entered), state: mask.indexOf(1),
      chance: cockpit.answer.chance, said: cockpit.headline.line.textContent,
      factor: entry.querySelector(".factor").textContent,
    };
  };
  const all = Array.from({ length: n + 1 }, (_, k) => k);
  const [first, second] = [all.map(step), all.map(step)];
  const still = step(n);
  slider.dispatchEvent(new Event("change"));
  const reasons = document.getElementById("reasons-body").textContent;
  const plain = second.map(({ mask }) => timed(() => session.put(variable, mask)));
  return { first, second, still, reasons, plain };
}"""


@pytest.mark.parametrize("name", ["age", "maximum_heart_rate"])
def test_a_step_of_a_slider_looks_up_the_answer_and_draws_only_that(
    name: str, open_cockpit: Any
) -> None:
    model = heart("averaged KDB")
    page = open_cockpit(explorer_html(model))
    for field, state in (("sex", "male"), ("chest pain", "asymptomatic")):
        feature(page, field).get_by_text(state, exact=True).click()
    found = page.evaluate(STEPS, [name.replace("_", " "), 30])
    seen: set[int] = set()
    for step in found["first"]:
        # The answer, its reasons and its interval, once for each state.
        assert step["runs"] == (0 if step["state"] in seen else 3)
        seen.add(step["state"])
    assert len(seen) > 10
    steps = found["second"]
    cells = {"sex": "male", "chest_pain": "asymptomatic"}
    rows = pa.table(
        {
            column: pa.array([cells.get(column)] * len(steps), pa.string())
            if column in ("thallium_scan", *cells)
            else [step["entered"] if column == name else None for step in steps]
            for column in COLUMNS
        }
    )
    for step, chance in zip(steps, model.predict_proba(rows)[:, 1], strict=True):
        assert step["chance"] == pytest.approx(chance, abs=1e-9)
        assert step["said"].startswith(f"About {round(100 * chance)} in 100")
        assert step["runs"] == 0
        assert step["elsewhere"] == []
    # A slider that stays where it is changes nothing.
    assert found["still"]["runs"] == found["still"]["changes"] == 0
    # Let go, it leaves what the same change leaves that is entered at once.
    assert page.text_content("#reasons-body") == found["reasons"]
    assert steps[-1]["factor"][2:6] in found["reasons"]
    # The least time is that of a step in which no other program ran.
    assert min(step["time"] for step in steps) < min(found["plain"]) / 2


def test_the_mark_on_a_curve_follows_its_slider(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB")))
    box = feature(page, "maximum heart rate").get_by_role("textbox")
    box.fill("132")
    page.locator(".shape path.mine").wait_for()
    slider = feature(page, "maximum heart rate").get_by_role("slider")
    marked = """slider => {
      const curve = document.querySelector(".shape");
      slider.value = 180;
      slider.dispatchEvent(new Event("input"));
      const line = curve.querySelector("line.mine");
      return [curve.isConnected, curve.querySelector(".bin.on").x.baseVal.value,
        line.x1.baseVal.value, curve.parentNode.querySelector(".read").textContent];
    }"""
    is_kept, bar, line, read = slider.evaluate(marked)
    assert is_kept
    assert 0 <= line - bar < 30
    assert read.startswith("180: ")


def test_intervals_are_credible_intervals_of_the_model(open_cockpit: Any) -> None:
    model = heart("averaged KDB")
    page = open_cockpit(explorer_html(model))
    computed = """states => {
      const { session, page } = window.bayleaf;
      const { outcome } = page.cockpit;
      const evidence = session.evidence.map((_, v) => ((states[v] ?? -1) < 0 ? null
        : Uint8Array.from({ length: session.card(v) }, (_, s) => +(s === states[v]))));
      const answer = outcome.answer(evidence);
      const [{ widths }] = [...outcome.effects(0, evidence, answer)].slice(-1);
      return [Array.from(session.engine.variance(evidence)),
        outcome.interval(evidence, answer), Array.from(widths)];
    }"""
    X, _ = load_heart(return_X_y=True)
    X = X.select(COLUMNS).slice(0, 6).to_pydict()
    for row, n_known in enumerate((0, 1, 2, 3, 4, 5)):
        for column in COLUMNS[n_known:]:
            X[column][row] = None
    rows = pa.table({name: pa.array(own) for name, own in X.items()})
    codes = rows_of(model, rows)
    variances = model.model_._levels(codes).variance()
    intervals = credible_intervals(model, rows)
    for row, interval in enumerate(intervals):
        states = [int(codes.column(v)[row]) for v in range(len(COLUMNS))]
        known = [s if X[c][row] is not None else -1 for c, s in zip(COLUMNS, states)]
        variance, found, widths = page.evaluate(computed, known)
        np.testing.assert_allclose(variance, variances[row], atol=1e-9)
        ends = [interval.classes[1].low, interval.classes[1].high]
        np.testing.assert_allclose([found["low"], found["high"]], ends, atol=1e-9)
        if row == 1:
            # One thing is known: its term varies as the answer does.
            width = 1.959963984540054 * np.sqrt(variances[row].sum())
            assert widths[known[0]] == pytest.approx(width, abs=1e-9)
        given = {c: X[c][row] for c in COLUMNS[:row] if X[c][row] is not None}
        effects = feature_effects(model, given, COLUMNS[0], of=model.classes_[1])
        np.testing.assert_allclose(widths, effects.half_widths, atol=1e-9)
    # Where nothing is known there is nothing to be uncertain of.
    assert "95 % interval" not in page.inner_text(".facts")
    page.evaluate("window.bayleaf.session.choose(0, 0)")
    assert "95 % interval" in page.inner_text(".facts")
    assert "95 %" not in open_cockpit(explorer_html(heart("TAN"))).inner_text("#now")


def test_a_case_is_pasted_and_taken_back_with_the_keyboard(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB")))
    page.get_by_text("Paste a case").click()
    page.locator(".paste textarea").fill("age,sex\n62,male")
    page.get_by_role("button", name="Enter this case").click()
    assert page.inner_text("#message") == "The case was set."
    assert page.get_by_role("textbox", name="age", exact=True).input_value() == "62"
    assert "sex: male" in page.inner_text("#reasons-body")
    page.get_by_role("button", name="What if").click()
    feature(page, "thallium scan").get_by_text("normal").click()
    page.get_by_role("radio", name="normal").focus()
    page.keyboard.press("Control+z")
    assert headline(page) == "About 44 in 100 cases are “present”."
    pressed = page.get_by_role("button", name="Findings", exact=True)
    assert pressed.get_attribute("aria-pressed") == "true"


def test_the_last_undo_leads_to_redo_and_back(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("naive Bayes")))
    feature(page, "chest pain").get_by_text("asymptomatic").click()
    for pressed, other in [("undo", "redo"), ("redo", "undo")]:
        page.locator(f"#{pressed}").press("Enter")
        assert page.evaluate("document.activeElement.id") == other
    page.locator("#undo").press("Control+z")
    assert page.evaluate("document.activeElement.id") == "redo"


def reached_by_tab(page: Any) -> list[str]:
    """The names of what 60 presses of Tab lead to."""
    name = """() => {
      const e = document.activeElement;
      return e.getAttribute("aria-label") ?? (e.labels?.[0] ?? e).textContent;
    }"""
    names = []
    for _ in range(60):
        page.keyboard.press("Tab")
        names.append(page.evaluate(name).split("most")[0])
    return names


def test_every_field_is_one_stop_of_tab(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB"), words=WORDS))
    box = page.get_by_role("textbox", name="Age, years", exact=True)
    box.fill("62")
    reached = reached_by_tab(page)
    names = {"Skip to the findings", "Skip to the answer", "Cockpit", "Letter"}
    names |= {"Ask me", "What if", "Age, years", "not known", "Order "}
    assert names - set(reached) == set()
    once = ("Age", "Age, years, slider", "Clear Age")
    assert not set(once) & set(reached)
    # The box moves in steps as its slider does, and is cleared as a text is.
    box.focus()
    for key, age in (("ArrowUp", "63"), ("PageDown", "53"), ("ArrowDown", "52")):
        page.keyboard.press(key)
        assert box.input_value() == age
    assert "Age 52" in page.inner_text(".facts")
    assert page.inner_text("#picture-heading") == "Age, years"
    box.fill("")
    assert headline(page) == "About 44 in 100 patients have heart disease."
    # The picture is that of the field with the focus, after what was just entered.
    page.keyboard.press("Shift+Tab")
    assert page.inner_text("#picture-heading") == "Age, years"
    page.keyboard.press("Shift+Tab")
    entry = page.locator(".entry", has=page.locator(":focus"))
    label = entry.get_attribute("aria-label")
    assert label != "Age"
    page.locator("#picture-heading", has_text=label).wait_for()
    # Behind the fields it is again that of what was entered, with its table.
    outside = "() => !document.activeElement.closest('#findings-body')"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(outside):
            break
    assert page.inner_text("#picture-heading") == "Age, years"
    assert page.get_by_text("Values as a table").is_visible()


def test_in_a_narrow_window_names_are_stops_that_open_pictures(
    open_cockpit: Any,
) -> None:
    size = {"width": 400, "height": 800}
    page = open_cockpit(explorer_html(heart("averaged KDB")), viewport=size)
    assert {"age", "thallium scan"} <= set(reached_by_tab(page))
    feature(page, "sex").locator(".feature-name").focus()
    page.keyboard.press("Enter")
    page.locator(".entry.touched #picture").wait_for()


def test_skip_links_lead_to_the_findings_and_onwards_from_the_answer(
    open_cockpit: Any,
) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB")))

    def focus() -> Any:
        return page.evaluate(
            "[document.activeElement.id, document.activeElement.className]"
        )

    page.locator("#skip-findings").focus()
    page.keyboard.press("Enter")
    first = page.locator(".entry", has=page.locator(":focus"))
    assert (
        first.get_attribute("aria-label")
        == page.locator(".feature-name").first.inner_text()
    )
    for name, target in (
        ("Why", "reasons-heading"),
        ("Most useful next", "next"),
        ("How good is this model?", "quality-heading"),
    ):
        link = page.locator(".jumps").get_by_role("button", name=name)
        link.focus()
        assert link.bounding_box()["height"] > 20
        page.keyboard.press("Enter")
        assert target in focus()
    page.locator(".jumps").get_by_role("button", name="What would change it").focus()
    page.keyboard.press("Enter")
    assert "proposals" in focus()
    page.get_by_role("button", name="Close What if").click()
    assert "now" in focus()
    page.locator("#mode-ask").click()
    wait(page, ".question:not([aria-busy])")
    page.locator("#skip-findings").focus()
    page.keyboard.press("Enter")
    assert "question-heading" in focus()


def test_on_a_telephone_the_answer_stays_in_view(open_cockpit: Any) -> None:
    size = {"width": 400, "height": 800}
    page = open_cockpit(explorer_html(heart("averaged KDB")), viewport=size)
    assert not page.is_visible(".strip")
    feature(page, "age").get_by_role("textbox").fill("62")
    wait(page, "#reasons").scroll_into_view_if_needed()
    page.locator(".strip").wait_for()
    line = page.inner_text(".strip")
    count = re.search(r"\d+ in 100", headline(page)).group()
    assert line.startswith(f"present: {count}")
    assert not page.is_visible(".entry #picture")
    feature(page, "age").locator(".feature-name").click()
    # The picture of a finding is below it, where its name was chosen.
    page.locator(".entry.touched #picture").wait_for()
    feature(page, "sex").get_by_text("male", exact=True).click()
    assert not page.is_visible(".entry #picture")
    page.locator(".strip").click()
    page.locator(".strip").wait_for(state="hidden")


def test_a_question_leads_to_its_field_on_a_small_telephone(open_cockpit: Any) -> None:
    size = {"width": 360, "height": 640}
    page = open_cockpit(explorer_html(heart("averaged KDB")), viewport=size)
    for question in page.locator(".next li button").all():
        question.click()
        focused = page.locator(":focus")
        entry = page.locator(".entry", has=focused)
        top = page.locator("#modes").bounding_box()["height"]
        bottom = page.locator(".strip").bounding_box()["y"]
        for part in (entry.locator(".feature-name"), focused):
            box = part.bounding_box()
            assert box["y"] >= top, question
            assert box["y"] + box["height"] <= bottom, question


@pytest.mark.parametrize("width", [400, 1280])
def test_what_is_pressed_stays_where_it_is(width: int, open_cockpit: Any) -> None:
    size = {"width": width, "height": 800}
    page = open_cockpit(explorer_html(heart("averaged KDB")), viewport=size)
    fixed = page.evaluate("innerHeight") - 100
    pressed = 0

    def press(place: Any) -> None:
        nonlocal pressed
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        if box["y"] > fixed:
            # The answer in a line covers the end of a telephone's window.
            page.evaluate("window.scrollBy(0, 200)")
            box = place.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(100)
        # Proposals are looked for anew.
        place.wait_for()
        pressed += 1
        assert abs(place.bounding_box()["y"] - box["y"]) < 2, place

    for name in ("thallium scan", "chest pain", "sex"):
        for pick in (feature(page, name).locator(".pick:not(.unknown)").last,) * 2:
            press(pick)
        press(feature(page, name).locator(".feature-name"))
        press(feature(page, name).locator(".pick:not(.unknown)").first)
    page.get_by_role("button", name="What if").click()
    press(wait(page, ".proposals li button"))
    assert pressed == 13


def test_a_finger_that_scrolls_over_a_slider_enters_nothing(open_cockpit: Any) -> None:
    size = {"width": 400, "height": 800}
    page = open_cockpit(
        explorer_html(heart("averaged KDB")), viewport=size, has_touch=True
    )
    person = Person(page, "touch")
    slider = page.get_by_role("slider", name="age, slider")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    before = page.evaluate("scrollY")
    person.swipe(box["x"] + 0.7 * box["width"], box["y"] + 10, 200)
    page.wait_for_function(f"scrollY > {before} + 50")
    page.wait_for_timeout(300)
    assert page.get_by_role("textbox", name="age", exact=True).input_value() == ""
    assert "0 of 5 known" in page.inner_text("#findings")
    # A tap on it enters a number.
    person.press(slider)
    page.get_by_text("1 of 5 known").wait_for()


def test_intervals_of_many_classes_are_drawn(open_cockpit: Any) -> None:
    case = classifier_case("averaged KDB")
    page = open_cockpit(explorer_html(case.model))
    X, _ = table()
    rows = X.slice(0, 3)
    intervals = credible_intervals(case.model, rows)
    codes = rows_of(case.model, rows)
    for row, interval in enumerate(intervals):
        states = [int(codes.column(v)[row]) for v in range(6)]
        found = page.evaluate(
            """states => {
              const { session, page } = window.bayleaf;
              states.forEach((s, v) => session.put(v, Uint8Array.from(
                { length: session.card(v) }, (_, k) => +(k === s))));
              return [page.cockpit.answer.target, page.cockpit.interval];
            }""",
            states,
        )
        target, ends = found
        own = interval.classes[target]
        np.testing.assert_allclose(
            [ends["low"], ends["high"]], [own.low, own.high], atol=1e-9
        )


def test_suggested_cases_are_judged_by_models_that_had_not_seen_them(
    open_cockpit: Any,
) -> None:
    X, y = load_heart(return_X_y=True)
    X = X.select(["thallium_scan", "chest_pain", "sex"])
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    html = explorer_html(model, rows=X.append_column("class", [y]))
    page = open_cockpit(html)
    page.get_by_role("button", name="Open a case that misled the model").click()
    row = int(page.get_by_role("spinbutton", name="Row").input_value()) - 1
    others = np.arange(len(y)) != row
    again = bayleaf.NaiveBayesClassifier().fit(X.filter(pa.array(others)), y[others])
    posterior = again.predict_proba(X.slice(row, 1))[0, 1]
    assert (posterior > 0.5) != (y[row] == "present")
    assert page.inner_text(".recorded") == (
        f"Recorded outcome: {y[row]}. A model that had not seen this case gave it "
        f"{round(100 * posterior)} in 100: wrong."
    )
    page.locator("#reset").click()
    assert page.get_by_role("button", name="Open a clear case").is_visible()
    page = open_cockpit(explorer_html(model, rows=X.append_column("class", [y[::-1]])))
    own = "Chosen by the model's own answers; it may have learned from these cases."
    assert page.inner_text(".starts + .note") == own
    page.get_by_role("button", name="Open a clear case").press("Enter")
    assert page.evaluate("document.activeElement.id") == "now"
    assert "The model, which may have learned from this one, was right here." in (
        page.inner_text(".recorded")
    )


def test_where_questions_would_end_most_useful_next_remarks_so(
    open_cockpit: Any,
) -> None:
    page = open_cockpit(explorer_html(heart("TAN"), words=WORDS))
    page.evaluate(
        "[[1, 1], [2, 1], [4, 0]].forEach(([v, s]) => bayleaf.session.choose(v, s))"
    )
    note = page.locator(".next .note", has_text="You may know enough: knowing all")
    note.wait_for()
    # The questions stay, next to the remark.
    assert page.locator(".next a, .next button").first.is_visible()


# Intervals of the curve, those that are drawn thick, and half widths of effects.
THICK = """() => {
  const { outcome, touched, answer } = bayleaf.page.cockpit;
  const [all, thick] = [...document.querySelectorAll(".shape .effects")].map((path) =>
    (path.getAttribute("d").match(/H/g) ?? []).length);
  const effects = [...outcome.effects(touched, outcome.nothing, answer)].at(-1);
  return { all, thick, widths: Array.from(effects.widths) };
}"""


def test_effects_of_few_rows_are_drawn_thin_and_read_as_vague(
    open_cockpit: Any,
) -> None:
    rng = np.random.default_rng(1)
    hours = np.concatenate([rng.uniform(10, 50, 500), rng.uniform(60, 70, 12)])
    y = np.where(hours > 55, 1, rng.random(512) < 0.2 + 0.5 * (hours > 30))
    X = pa.table({"hours": hours, "noise": rng.normal(size=512)})
    page = open_cockpit(explorer_html(MODELS["averaged KDB"]().fit(X, y)))
    page.evaluate("bayleaf.page.cockpit.look(0)")
    page.locator(".shape .effects").first.wait_for()
    found = page.evaluate(THICK)
    vague = [width > np.log(2) for width in found["widths"]]
    assert 0 < sum(vague) < len(vague) == found["all"]
    assert found["thick"] == len(vague) - sum(vague)
    for state in (vague.index(True), vague.index(False)):
        page.evaluate("state => bayleaf.session.choose(0, state)", state)
        text = page.inner_text("#picture .read")
        assert ("Vague: its 95 % interval goes from" in text) == vague[state]


def test_a_date_is_typed_as_a_date(open_cockpit: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    days = np.datetime64("2020-01-01") + rng.integers(0, 200, 300) + 90 * y
    X = pa.table(
        {"seen": [str(day) for day in days], "size": 20 + 9 * y + 9 * rng.random(300)}
    )
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    page = open_cockpit(explorer_html(model))
    box = page.get_by_role("textbox", name="seen: days")
    assert box.get_attribute("inputmode") == "text"
    size = page.get_by_role("textbox", name="size")
    assert size.get_attribute("inputmode") == "decimal"
    box.fill("2020-05-20")
    box.press("Tab")
    place = model.model_.domain.names.index("seen: days")
    state = page.evaluate("v => bayleaf.session.evidence[v].indexOf(1)", place)
    codes = model._prepare(X.slice(0, 1).set_column(0, "seen", [["2020-05-20"]]))[1]
    assert state == codes.column(place)[0]
    assert box.input_value() == "2020-05-20"


def test_heads_and_labels_stand_clear_of_what_they_name(open_cockpit: Any) -> None:
    page = open_cockpit(explorer_html(heart("averaged KDB")))
    page.evaluate("bayleaf.page.cockpit.look(0); bayleaf.session.choose(0, 0)")
    page.locator(".shape .effects").first.wait_for()
    ends, curve, bars = page.evaluate(
        """() => {
          const box = (part) => part.getBBox();
          const [up, down] = [..."▲▼"].map((sign) => box([
            ...document.querySelectorAll(".shape text")].find((own) =>
            own.textContent.startsWith(sign))));
          const lines = [...document.querySelectorAll(".shape .zero")].map(box);
          const grid = [...document.querySelectorAll(".shape .grid")].map(box);
          const rows = Math.min(...[...document.querySelectorAll(".shape .bin")]
            .map((own) => box(own).y));
          return [[up.y + up.height, down.y, down.y + down.height],
            [Math.min(...grid.map(({ y }) => y)), Math.max(...grid.map(({ y }) => y))],
            rows];
        }"""
    )
    assert ends[0] <= curve[0]
    assert curve[1] <= ends[1]
    assert ends[2] <= bars
    page.locator("#write-letter").click()
    aligned = page.evaluate(
        """() => ["thead th:last-child", "tbody td:last-child"].map((place) =>
          getComputedStyle(document.querySelector(`#letter-body table ${place}`))
          .textAlign)"""
    )
    assert aligned == ["end", "end"]


# Words of names, between blanks and the places where they may be broken, on two lines.
CUT_WORDS = """() => {
  const cut = [];
  const places = ".feature-name, .fall th button, .next button, #picture-heading";
  for (const place of document.querySelectorAll(places)) {
    const walk = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      for (const found of walk.currentNode.data.matchAll(/[^ -]+-?/g)) {
        const range = document.createRange();
        range.setStart(walk.currentNode, found.index);
        range.setEnd(walk.currentNode, found.index + found[0].length);
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) {
          cut.push(found[0]);
        }
      }
    }
  }
  return cut;
}"""


def test_long_names_are_broken_between_their_words(open_cockpit: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    names = [
        "resting_electrocardiographic_results_at_admission",
        "restingElectrocardiographicResultsAtAdmission",
        "worst.concave.points.of.the.cell.nuclei",
        "ratio-of-haemoglobin/to-glucose-in-blood",
    ]
    X = pa.table(
        {name: np.where(rng.random(200) < 0.3 + 0.4 * y, "a", "b") for name in names}
    )
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    size = {"width": 400, "height": 800}
    page = open_cockpit(explorer_html(model), viewport=size)
    page.locator(".next button").first.wait_for()
    assert page.evaluate(CUT_WORDS) == []
    for row in page.locator(".entry").all():
        row.locator(".pick:not(.unknown)").first.click()
        assert page.evaluate(CUT_WORDS) == []


def test_labels_of_the_axis_of_why_do_not_overlap(open_cockpit: Any) -> None:
    size = {"width": 400, "height": 800}
    page = open_cockpit(explorer_html(heart("naive Bayes")), viewport=size)
    page.evaluate("[0, 1, 2, 3, 4].forEach((v) => bayleaf.session.choose(v, 0))")
    labels = page.locator(".fall .ticks i")
    boxes = [label.bounding_box() for label in labels.all()]
    assert len(boxes) > 2
    for left, right in pairwise(boxes):
        assert left["x"] + left["width"] < right["x"]
