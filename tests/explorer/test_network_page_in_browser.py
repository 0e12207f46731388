"""The page of a network: what people who see one for the first time need of it."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetworkEstimator, NaiveBayesClassifier
from bayleaf.datasets import load_heart, load_network
from bayleaf.explorer import explorer_html
from bayleaf.models.bayesian_network import BayesianNetwork
from explorer.test_map_in_browser import ZOOM

pytestmark = pytest.mark.slow

NARROW = {"width": 400, "height": 800}
# The first state with room in the box, and one without.
SETTINGS = {"alarm": ("HRBP", "HIGH"), "long": ("weekday", "sunday")}
SET = """([name, label]) => {
  const { page, session } = window.bayleaf;
  const v = session.model.variables.findIndex((one) => one.name === name);
  session.choose(v, session.model.variables[v].states.indexOf(label));
  page.map.reveal(v);
  return v; }"""
SEEN = """(variable) => {
  const card = document.getElementById(`variable-${variable}`).closest(".card");
  const inside = card.getBoundingClientRect();
  const label = card.querySelector("[aria-pressed=true] .label");
  const letters = document.createRange();
  letters.selectNodeContents(label);
  const [text, fill] = [letters, card.querySelector("[aria-pressed=true] .fill")]
    .map((one) => one.getBoundingClientRect());
  const row = label.parentElement;
  const colour = getComputedStyle(card.querySelector("[aria-pressed=true] .fill"));
  return {
    label: label.textContent,
    isInside: text.width > 0 && text.top >= inside.top - 1
      && text.bottom <= inside.bottom + 1,
    share: fill.width / row.getBoundingClientRect().width,
    colour: colour.backgroundColor,
    ground: getComputedStyle(document.body).backgroundColor,
  }; }"""


@pytest.fixture(scope="module")
def alarm() -> str:
    """The page of the alarm network."""
    return explorer_html(load_network("alarm"))


@pytest.fixture(scope="module")
def long() -> str:
    """The page of a network with a variable of more states than a box shows."""
    states = {"weekday": ["monday", "tuesday", "wednesday", "thursday", "friday"]}
    states["weekday"] += ["saturday", "sunday"]
    states["open"] = ["no", "yes"]
    tables = {"weekday": [1 / 7] * 7, "open": [[0.2, 0.8]] * 6 + [[0.9, 0.1]]}
    parents = {"open": ["weekday"]}
    return explorer_html(BayesianNetwork.from_tables(states, tables, parents))


@pytest.mark.few(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("network", SETTINGS)
def test_a_box_shows_the_state_that_is_set(
    network: str, scheme: str, open_page: Any, request: pytest.FixtureRequest
) -> None:
    page = open_page(request.getfixturevalue(network), color_scheme=scheme)
    page.emulate_media(reduced_motion="reduce")
    name, label = SETTINGS[network]
    variable = page.evaluate(SET, [name, label])
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    for scale in (0.3, 0.4, 0.59, 0.8, 2.2):
        page.evaluate(ZOOM, scale)
        seen = page.evaluate(SEEN, variable)
        assert seen["label"] == label
        assert seen["isInside"], scale
        assert seen["share"] == pytest.approx(1, abs=0.02)
        assert seen["colour"] not in ("rgba(0, 0, 0, 0)", seen["ground"])


@pytest.mark.parametrize("width", [400, 1280])
def test_the_variable_asked_for_is_marked(
    width: int, alarm: str, open_page: Any
) -> None:
    page = open_page(alarm, viewport={"width": width, "height": 800})
    marks = """([part, side]) => [...document.querySelectorAll(`#monitors ${part}`)]
      .filter((one) => getComputedStyle(one, side).content !== "none")
      .map((one) => one.closest("h3").title)"""
    for name in ("BP", "HR"):
        page.locator("#ask").select_option(label=name)
        page.wait_for_function("() => !window.bayleaf.page.isPending")
        for is_list, part in (
            (False, [".name", "::before"]),
            (True, ["h3", "::after"]),
        ):
            if (page.get_attribute("#list", "aria-pressed") == "true") != is_list:
                page.locator("#list").click()
            assert page.evaluate(marks, part) == [name]
            note = page.inner_text("#drawing-note")
            assert ("asked for" in note) != is_list


PARTED = ["left_heart_size", "heartRateHigh", "blood flow rate"]
LINES = """() => [...document.querySelectorAll("#monitors .card")].map((card) => {
  const inside = card.getBoundingClientRect();
  const name = card.querySelector(".name");
  const lines = [];
  let top = -1e9;
  const walker = document.createTreeWalker(name, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (let i = 0; i < walker.currentNode.length; i += 1) {
      const letter = document.createRange();
      letter.setStart(walker.currentNode, i);
      letter.setEnd(walker.currentNode, i + 1);
      const place = letter.getBoundingClientRect();
      if (place.top > top + 3) lines.push("");
      top = Math.max(top, place.top);
      lines[lines.length - 1] += letter.toString();
    }
  }
  const { bottom, height } = name.getBoundingClientRect();
  return { lines, isWhole: bottom <= inside.bottom + 1, height }; })"""


@pytest.fixture(scope="module")
def parted() -> str:
    """The page of a network whose names are joined of words in three ways."""
    states = {name: ["no", "yes", "perhaps", "unknown"] for name in PARTED}
    tables = {name: [0.1, 0.2, 0.3, 0.4] for name in PARTED}
    return explorer_html(BayesianNetwork.from_tables(states, tables, {}))


@pytest.mark.parametrize("scale", [0.28, 0.5])
def test_names_break_between_the_words_they_are_joined_of(
    scale: float, parted: str, open_page: Any
) -> None:
    page = open_page(parted)
    page.evaluate(ZOOM, scale)
    boxes = page.evaluate(LINES)
    assert {"".join(found["lines"]) for found in boxes} == set(PARTED)
    for found in boxes:
        assert len(found["lines"]) > 1
        assert found["isWhole"]
        # No line is cut through: lines of letters of 11 pixels are 12.65 high.
        n_lines = found["height"] / 12.65
        assert n_lines == pytest.approx(max(1, round(n_lines)), abs=0.1)
        for line, below in pairwise(found["lines"]):
            assert line[-1] in "_ " or below[0].isupper()


BROKEN = r"""([place, word]) => { const found = [];
  for (const part of document.querySelectorAll(place)) {
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { currentNode: { data }, currentNode } = walker;
      for (const { 0: letters, index } of data.matchAll(RegExp(word, "gu"))) {
        const range = document.createRange();
        range.setStart(currentNode, index);
        range.setEnd(currentNode, index + letters.length);
        const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
        if (new Set(tops).size > 1) found.push(letters);
      }
    }
  }
  return found; }"""


@pytest.mark.parametrize("width", [400, 1280, 1600])
def test_words_of_names_are_whole_beside_the_map(
    width: int, alarm: str, open_page: Any
) -> None:
    page = open_page(alarm, viewport={"width": width, "height": 800})
    page.locator("#ask-next").evaluate("panel => { panel.open = true; }")
    page.wait_for_selector("#ask-next-table .link:has-text('STROKEVOLUME')")
    assert page.evaluate(BROKEN, [".side", r"\p{L}+"]) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_long_names_of_findings_break_between_their_words(open_page: Any) -> None:
    name = "number_of_previous_applications_in_the_last_twelve_months"
    states = {"loan": ["repaid", "in_default_within_the_first_year"], name: ["a", "b"]}
    tables = {"loan": [0.6, 0.4], name: [[0.9, 0.1], [0.2, 0.8]]}
    network = BayesianNetwork.from_tables(states, tables, {name: ["loan"]})
    page = open_page(explorer_html(network), viewport={"width": 400, "height": 800})
    page.evaluate("bayleaf.session.ask(0)")
    page.evaluate("bayleaf.session.choose(1, 1)")
    page.wait_for_selector("#what-if-list li")
    assert page.locator("#what-if-list wbr").count() > 5
    for place in ("#known", "#what-if-list", "#why-table"):
        assert page.evaluate(BROKEN, [place, r"\p{L}+"]) == []


@pytest.mark.few(3)
@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scale", [0.2, 0.4, 0.8])
def test_the_whole_name_is_shown_for_pointer_and_keyboard(
    scale: float, width: int, open_page: Any
) -> None:
    # Longer than all lines that a box has for its name.
    name = "the_left_ventricular_end_diastolic_volume_of_the_heart"
    name += "_before_the_operation" * 30
    states = {name: ["no", "yes"], "other": ["no", "yes"]}
    tables = {name: [0.5, 0.5], "other": [[0.5, 0.5], [0.1, 0.9]]}
    network = BayesianNetwork.from_tables(states, tables, {"other": [name]})
    page = open_page(explorer_html(network), viewport={"width": width, "height": 800})
    if page.get_attribute("#list", "aria-pressed") == "true":
        page.locator("#list").click()
    page.evaluate(ZOOM, scale)
    whole = page.locator("#whole-name")
    box = page.locator(".card:has(#variable-0)")
    assert not whole.is_visible()
    for enter, leave in (
        (box.hover, lambda: page.mouse.move(1, 1)),
        (
            lambda: page.evaluate("window.bayleaf.page.map.focus(0)"),
            lambda: page.locator("#find").focus(),
        ),
    ):
        enter()
        assert whole.inner_text().startswith(name)
        place, frame = whole.bounding_box(), page.locator("#drawing").bounding_box()
        assert place["x"] >= frame["x"] - 1
        assert place["x"] + place["width"] <= frame["x"] + frame["width"] + 1
        around = box.bounding_box()
        assert place["y"] + place["height"] <= around["y"] + 2 or (
            place["y"] >= around["y"] + around["height"] - 2
        )
        leave()
        assert not whole.is_visible()


@pytest.mark.parametrize("width", [400, 1280])
def test_where_bars_are_too_small_to_click_a_hint_explains_how_to_set_a_value(
    width: int, alarm: str, open_page: Any
) -> None:
    page = open_page(alarm, viewport={"width": width, "height": 800})
    if width == 400:
        page.locator("#list").click()
        # A telephone begins at a scale at which values can be pressed.
        page.evaluate(ZOOM, 0.5)
    hint = page.locator("#variables-note .far")
    assert hint.is_visible()
    name = page.locator(".card:has(h3[title=HR]) .name")
    name.hover()
    assert "click to set a value" in page.inner_text("#whole-name")
    name.click()
    state = page.locator("#chosen .state", has_text="HIGH")
    place = state.bounding_box()
    assert 0 <= place["y"] <= 800 - place["height"]
    state.click()
    # What is known is written once the answer is painted.
    page.locator(".chip").wait_for()
    assert page.locator(".chip").all_inner_texts() == ["HR = HIGH ×"]
    page.evaluate(ZOOM, 0.8)
    assert not hint.is_visible()


@pytest.mark.parametrize("width", [400, 1280])
def test_find_reports_what_it_set_and_lists_the_exact_name_first(
    width: int, alarm: str, open_page: Any
) -> None:
    page = open_page(alarm, viewport={"width": width, "height": 800})
    example = page.inner_text("label[for=find]").rsplit(" ", 1)[1]
    name, label = example.split("=")
    page.fill("#find", example)
    page.press("#find", "Enter")
    message = page.locator("#message")
    assert message.inner_text() == f"Set: {name} is {label}."
    assert 0 < message.bounding_box()["y"] < 800
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    assert page.locator(".chip").all_inner_texts() == [f"{name} = {label} ×"]
    page.fill("#find", "hr")
    assert page.inner_text("#found").endswith("found; Enter goes to HR")
    if width == 400:
        heads = "() => [...document.querySelectorAll('#monitors .card')].filter("
        heads += "(one) => !one.hidden).map((one) => one.querySelector('h3').title)"
        assert page.evaluate(heads)[:2] == ["HR", "HRBP"]
        page.fill("#find", "")
        in_list = page.evaluate(heads)
        assert len(in_list) == 37
        page.fill("#find", "hr")
    page.press("#find", "Enter")
    focused = "document.activeElement.closest('.card').querySelector('h3').title"
    assert page.evaluate(focused) == "HR"
    page.press("#find", "Enter")
    assert page.evaluate(focused) == "HRBP"


def test_find_names_the_states_of_a_variable(alarm: str, open_page: Any) -> None:
    page = open_page(alarm)
    page.fill("#find", "HR=HIHG")
    assert page.inner_text("#found") == "HR is one of LOW, NORMAL, HIGH"
    page.press("#find", "Enter")
    assert page.locator(".chip").count() == 0


def test_states_that_look_like_numbers_are_found(open_page: Any) -> None:
    states = {"a": ["0", "1"], "b": ["0", "1"]}
    tables = {"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.1, 0.9]]}
    network = BayesianNetwork.from_tables(states, tables, {"b": ["a"]})
    page = open_page(explorer_html(network))
    page.fill("#find", "a=1")
    page.press("#find", "Enter")
    assert page.locator(".chip").all_inner_texts() == ["a = 1 ×"]
    assert page.inner_text("#message") == "Set: a is 1."


def test_the_example_of_find_is_of_the_model(open_page: Any) -> None:
    X, y = load_heart(return_X_y=True)
    page = open_page(explorer_html(NaiveBayesClassifier().fit(X, y)))
    label = page.inner_text("label[for=find]")
    texts = label.split("such as ")[1].split(" or ")
    assert len(texts) == 2
    assert re.fullmatch(r"age=\d\d", texts[1])
    for n_set, text in enumerate(texts):
        assert text.split("=")[0] in X.column_names
        page.fill("#find", text)
        page.press("#find", "Enter")
        assert page.inner_text("#message").startswith("Set: ")
        assert page.locator(".chip").count() == n_set + 1


def percentages(page: Any, name: str, evidence: dict[str, str]) -> dict[str, float]:
    """Percentages of a variable's states under evidence, as Python computes them."""
    found = load_network("alarm").query(evidence, [name])[name]
    return dict(zip(found.states, 100 * found.probabilities, strict=True))


def test_under_a_loss_another_decision_need_not_be_the_likelier(open_page: Any) -> None:
    X, y = load_heart(return_X_y=True)
    X = X.select(["chest_pain", "age", "sex"])
    loss = [[0.0, 4.0], [1.0, 0.0]]
    page = open_page(explorer_html(NaiveBayesClassifier(loss=loss).fit(X, y)))
    for text in ("chest_pain=non-anginal pain", "age=45", "sex=female"):
        page.fill("#find", text)
        page.press("#find", "Enter")
    first = page.locator("#what-if-list li").first
    first.wait_for()
    chance = re.search(r"present with ([\d.]+)\s%", first.inner_text())
    assert 20 < float(chance.group(1)) < 50
    assert "not sure" not in first.inner_text()


def test_what_is_open_is_tried_as_it_usually_turns_out(
    alarm: str, open_page: Any
) -> None:
    page = open_page(alarm)
    choice = page.get_by_role("combobox", name="Variable asked for")
    choice.select_option(label="HYPOVOLEMIA")
    case = {"HISTORY": "TRUE", "CVP": "HIGH", "HRBP": "HIGH"}
    for name, state in case.items():
        page.evaluate(SET, [name, state])
    items = page.locator("#what-if-list li", has_text="not known yet")
    items.first.wait_for()
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    network = load_network("alarm")
    usual = network.query(case)
    for text in items.all_inner_texts():
        name, state, chance = re.search(
            r"(\w+) = (\w+), not known yet: .* → ([\d.]+)\s%", text
        ).groups()
        assert usual[name][state] >= 0.03
        found = percentages(page, "HYPOVOLEMIA", case | {name: state})
        assert float(chance) == pytest.approx(found["TRUE"], abs=0.051)
    items.first.get_by_role("button").click()
    assert page.locator(".chip").count() == len(case) + 1


def test_answers_that_hardly_change_sides_come_last_as_not_sure(open_page: Any) -> None:
    X, y = load_heart(return_X_y=True)
    X = X.select(["chest_pain", "age", "sex"])
    page = open_page(explorer_html(NaiveBayesClassifier().fit(X, y)))
    for text in ("chest_pain=asymptomatic", "age=60", "sex=male"):
        page.fill("#find", text)
        page.press("#find", "Enter")
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    page.locator("#what-if-line", has_text=re.compile("cases:$")).wait_for()
    unsure = []
    for text in page.locator("#what-if-list li").all_inner_texts():
        answer, now = re.search(r"with ([\d.]+)\s%, .*→ ([\d.]+)\s%", text).groups()
        unsure.append(float(answer) - float(now) <= 5)
        assert text.endswith("not sure") == unsure[-1]
    assert unsure == sorted(unsure)
    assert len({*unsure}) == 2
    assert "“Not sure” where" in page.inner_text("#what-if-note")


@pytest.mark.parametrize("width", [400, 1280])
def test_a_try_leaves_the_goal_of_what_if_as_it_is(
    width: int, alarm: str, open_page: Any
) -> None:
    page = open_page(alarm, viewport={"width": width, "height": 800})
    for text in ("HRBP=HIGH", "HISTORY=TRUE"):
        page.fill("#find", text)
        page.press("#find", "Enter")
    goal = page.locator("#what-if-goal")
    first = page.locator("#what-if-list li").first
    first.wait_for()
    # Without a goal of the reader the sentence has its direction.
    chosen = "(one) => one.querySelector('select').selectedOptions[0].textContent"
    assert goal.evaluate(chosen) == "another answer (LOW less likely)"
    select = goal.locator("select")
    assert select.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert "LOW 65.6" in first.inner_text().replace("\u00a0", " ")
    goal.get_by_role("button", name="LOW more likely instead").focus()
    page.keyboard.press("Enter")
    assert goal.evaluate(chosen) == "LOW more likely: at least"
    assert goal.locator("input").input_value() == "70"
    # The button that turns the direction keeps the focus.
    page.keyboard.press("Enter")
    assert goal.evaluate(chosen) == "LOW less likely: below"
    assert goal.locator("input").input_value() == "60"
    # Changes that lead to the goal before this one stay until others are found.
    page.wait_for_function(
        """() => {
          const text = document.querySelector("#what-if-list li")?.textContent ?? "";
          return Number(text.match(/→\\s*([\\d.]+)/)?.[1]) < 60;
        }"""
    )
    first.get_by_role("button").click()
    page.locator("#what-if-line", has_text="Reached: LOW is at ").wait_for()
    assert goal.evaluate(chosen) == "LOW less likely: below"
    assert goal.locator("input").input_value() == "60"
    page.locator("#what-if-tried button").click()
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    goal.locator("select").select_option("")
    first.get_by_role("button").click()
    page.locator("#what-if-line", has_text="Reached: LOW is at ").wait_for()
    assert goal.evaluate(chosen) == "another answer (LOW less likely)"


def test_findings_that_hardly_change_the_answer_are_called_so(
    alarm: str, open_page: Any
) -> None:
    page = open_page(alarm)
    effect = page.locator("#effect")
    n_told = 0
    for asked, evidence in (
        ("HR", {"PAP": "LOW"}),
        ("HR", {"FIO2": "LOW"}),
        ("HR", {"HRBP": "LOW"}),
        ("BP", {"HISTORY": "TRUE", "HRBP": "HIGH"}),
        ("BP", {"PAP": "LOW", "ERRCAUTER": "TRUE"}),
    ):
        page.evaluate("window.bayleaf.session.reset()")
        page.locator("#ask").select_option(label=asked)
        assert effect.inner_text() == ""
        for name, label in evidence.items():
            page.evaluate(SET, [name, label])
        page.wait_for_function("() => !window.bayleaf.page.isPending")
        now, before = (percentages(page, asked, own) for own in (evidence, {}))
        told = effect.inner_text().replace("\u00a0", " ")
        if max(abs(now[label] - before[label]) for label in now) > 3:
            assert told == ""
            continue
        n_told += 1
        best = max(now, key=now.__getitem__)
        numbers = f"{best} {now[best]:.1f} % with"
        without = f"{before[best]:.1f} % without."
        subject = (
            "These findings hardly change"
            if len(evidence) > 1
            else ("This finding hardly changes")
        )
        assert told.startswith(f"{subject} {asked}: {numbers}")
        assert told.endswith(without)
    assert n_told == 3


LOW_CONTROLS = """[...document.querySelectorAll("button, summary, select, input")]
  .filter((one) => one.checkVisibility() && getComputedStyle(one).display !== "inline"
    && one.getBoundingClientRect().height < 23.9)
  .map(({ tagName, id, innerText }) => `${tagName} ${id} ${innerText}`)"""


def test_controls_on_a_telephone_are_high_enough_for_a_finger(
    alarm: str, open_page: Any
) -> None:
    X, y = load_heart(return_X_y=True)
    cockpit = explorer_html(NaiveBayesClassifier().fit(X, y))
    for html in (alarm, cockpit):
        page = open_page(html, viewport={"width": 400, "height": 800}, has_touch=True)
        assert page.evaluate(LOW_CONTROLS) == []
        if page.locator("#tab-cockpit").is_visible():
            page.locator("#tab-cockpit").tap()
            assert page.evaluate(LOW_CONTROLS) == []


def test_on_a_telephone_little_stays_above_the_list_but_the_answer_and_ways_on(
    alarm: str, open_page: Any
) -> None:
    page = open_page(alarm, viewport=NARROW, has_touch=True)
    last = page.locator("#monitors .state").last
    last.scroll_into_view_if_needed()
    kept = page.locator("#in-sight").bounding_box()
    assert kept["y"] == pytest.approx(0, abs=1)
    assert kept["height"] < NARROW["height"] / 6
    for part in ("#verdict", "#jumps button:visible >> nth=-1"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= kept["height"], part
    # The question has scrolled away.
    box = page.locator("#ask").bounding_box()
    assert box["y"] + box["height"] <= 0
    last.tap()
    kept, chosen = page.locator("#in-sight").bounding_box(), last.bounding_box()
    assert kept["height"] <= chosen["y"]


def test_long_names_are_no_examples_of_find(open_page: Any) -> None:
    X, y = load_heart(return_X_y=True)
    names = [f"{name}, as it was measured at admission" for name in X.column_names]
    model = NaiveBayesClassifier().fit(X.rename_columns(names), y)
    page = open_page(explorer_html(model))
    assert page.inner_text("#find-line label") == "Find"


def test_a_heading_breaks_between_the_words_of_a_name(open_page: Any) -> None:
    model = BayesianNetworkEstimator().fit([["a", "x"], ["b", "y"]] * 4)
    page = open_page(
        explorer_html(model, "BayesianNetworkEstimator"),
        viewport={"width": 900, "height": 700},
    )
    page.evaluate("document.getElementById('title').style.flex = '0 1 8rem'")
    lines = """() => {
      const range = document.createRange();
      const tops = [...document.querySelectorAll("#title")].flatMap((h) =>
        [...h.childNodes].filter((part) => part.nodeType === 3).map((part) => {
          range.selectNodeContents(part);
          return [part.data, range.getClientRects().length];
        }));
      return tops;
    }"""
    assert page.evaluate(lines) == [["Bayesian", 1], ["Network", 1], ["Estimator", 1]]


def test_asking_for_a_variable_leaves_the_page_where_it_is(
    alarm: str, open_page: Any
) -> None:
    page = open_page(alarm, viewport=NARROW, has_touch=True)
    ask = page.get_by_role("combobox", name="Variable asked for")
    ask.select_option(label="HYPOVOLEMIA")
    page.get_by_text("HYPOVOLEMIA: ").first.wait_for()
    page.wait_for_timeout(300)
    assert page.evaluate("window.scrollY") == 0
    assert page.inner_text("#chosen-heading") == "HYPOVOLEMIA"


def test_findings_that_hardly_fit_together_are_counted_in_times(
    alarm: str, open_page: Any
) -> None:
    page = open_page(alarm)
    page.evaluate(SET, ["HRBP", "HIGH"])
    page.evaluate(SET, ["HREKG", "LOW"])
    known = {"HRBP": "HIGH", "HREKG": "LOW"}
    times = f"{np.exp(load_network('alarm').conflict(known)):.2g} times"
    warning = page.locator("#conflict")
    warning.get_by_text("hardly fit together").wait_for()
    text = warning.inner_text()
    assert f"hardly fit together: {times} less probable than if they had" in text
    assert f"HRBP = HIGH ({times})" in text
    assert "bits" not in text


def test_a_finding_that_changes_nothing_multiplies_by_one(
    alarm: str, open_page: Any
) -> None:
    page = open_page(alarm)
    page.get_by_role("combobox", name="Variable asked for").select_option(
        label="HYPOVOLEMIA"
    )
    page.evaluate(SET, ["HRBP", "HIGH"])
    row = page.locator("#why-table tbody tr", has_text="HRBP = HIGH")
    row.wait_for()
    assert row.locator(".number").all_inner_texts() == ["×1", "×1"]
    assert "no link to HYPOVOLEMIA here" in row.inner_text()
    remark = "One without a link to the answer may change what those below it do."
    assert remark not in page.inner_text("#why-line")
    page.evaluate(SET, ["HISTORY", "TRUE"])
    page.evaluate(SET, ["CVP", "HIGH"])
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    assert remark in page.inner_text("#why-line")
    page.evaluate("document.getElementById('unit').value = 'nats'")
    page.evaluate("window.bayleaf.session.tell()")
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    assert "adds to the logarithm of these odds, in nats" in page.inner_text(
        "#why-line"
    )


def test_the_answer_is_reached_and_wrong_values_are_named(
    alarm: str, open_page: Any
) -> None:
    page = open_page(alarm)
    page.get_by_role("button", name="Skip to the answer").press("Enter")
    assert page.evaluate("document.activeElement.id") == "answer"
    page.fill("#find", "SAO2=VERYLOW")
    bars = page.locator(".node:has-text('HRBP') .fill").first
    blue = bars.evaluate("(own) => getComputedStyle(own).backgroundColor")
    page.press("#find", "Enter")
    told = page.inner_text("#message")
    assert told == "VERYLOW is not a value: SAO2 is one of LOW, NORMAL, HIGH."
    assert page.evaluate("document.activeElement.id") == "find"
    page.fill("#find", "")
    after = bars.evaluate("(own) => getComputedStyle(own).backgroundColor")
    assert after == blue


def test_goals_and_costs_are_typed_without_losing_ones_place(
    alarm: str, open_page: Any
) -> None:
    page = open_page(alarm)
    for text in ("HRBP=HIGH", "HISTORY=TRUE"):
        page.fill("#find", text)
        page.press("#find", "Enter")
    goal = page.locator("#what-if-goal")
    goal.get_by_role("button", name="LOW more likely instead").press("Enter")
    line = goal.get_by_role("spinbutton")
    line.fill("150")
    page.keyboard.press("Tab")
    assert line.input_value() == "150"
    line.fill("90")
    page.keyboard.press("Tab")
    page.wait_for_timeout(100)
    assert line.input_value() == "90"
    focused = "document.activeElement.dataset.key"
    assert page.evaluate(focused) == "turn"
    page.locator("#ask-next summary").click()
    cost = page.get_by_role("spinbutton", name=re.compile("^Cost of")).first
    cost.wait_for()
    cost.fill("5")
    page.keyboard.press("Tab")
    page.wait_for_timeout(100)
    assert page.evaluate(focused).startswith("ask-")
