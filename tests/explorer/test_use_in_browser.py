"""What a person does on the page, with mouse, finger and keyboard."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayleaf import AODEClassifier, NaiveBayesClassifier
from bayleaf.explorer import explorer_html
from bayleaf.inference.evidence import Range
from bayleaf.models.bayesian_network import BayesianNetwork
from covering import pairwise
from explorer.cases import Case, classifier_case, density_case, file_case
from explorer.test_page import HOSTILE, hostile_network

pytestmark = pytest.mark.slow

WIDTHS = {"narrow": 400, "wide": 1280}


def state(page: Any, variable: int, code: int) -> Any:
    """The button of one state, on the map or, where it has no label, beside it."""
    level = page.evaluate("window.bayleaf.page.map.level")
    if level in ("names", "bars") or (level == "labels" and code > 5):
        page.locator(f"#variable-{variable} .name").click()
        return page.locator("#chosen-name + .states .state").nth(code)
    return page.locator(f"#variable-{variable} + .states .state").nth(code)


def shown(page: Any, variable: int) -> list[float]:
    """Percentages of a variable's states, as they can be read."""
    values = page.locator(f"#variable-{variable} + .states .value").all_text_contents()
    return [float(re.sub(r"[<>%\s]", "", text)) for text in values]


def verdict_of(page: Any) -> str:
    """What the page says of the class; its spaces do not break before a sign."""
    return str(page.locator("#verdict").inner_text()).replace("\u00a0", " ")


def expected_percent(case: Case, states: dict[int, int]) -> list[float]:
    """Percentages of the classes, as Python computes them."""
    return (100 * case.class_proba(states)).tolist()


@pytest.fixture(scope="module")
def tan() -> Case:
    """A calibrated tree-augmented naive Bayes classifier."""
    return classifier_case("TAN")


@pytest.mark.few(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_three_clicks_give_a_class_and_undo_takes_the_last_back(
    width: int, scheme: str, tan: Case, open_page: Any, tmp_path: Path
) -> None:
    size = {"width": width, "height": 800}
    page = open_page(explorer_html(tan.model), viewport=size, color_scheme=scheme)
    row = {0: 1, 1: 2, 3: 0}
    for variable, code in row.items():
        state(page, variable, code).click()
        assert state(page, variable, code).get_attribute("aria-pressed") == "true"
    want = expected_percent(tan, row)
    assert shown(page, 6) == pytest.approx(want, abs=0.051)
    verdict = verdict_of(page)
    assert f"class: class {int(np.argmax(want))} {max(want):.1f} %" in verdict
    assert page.locator(".chip").all_inner_texts() == [
        "x0 = s1 ×",
        "x1 = s2 ×",
        "x3 = s0 ×",
    ]
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    assert "times as likely as class" in page.locator("#why-line").inner_text()
    heads = page.locator("#why-table thead th").all_inner_texts()
    assert heads[-2:] == ["given those above", "alone"]
    assert page.locator("#why-table tbody tr").count() == 4
    page.locator("#undo").click()
    del row[3]
    assert shown(page, 6) == pytest.approx(expected_percent(tan, row), abs=0.051)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    picture = tmp_path / "page.png"
    page.screenshot(path=picture)
    assert picture.stat().st_size > 10_000


def test_control_z_undoes_and_reset_forgets_all(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model))
    before = shown(page, 6)
    state(page, 0, 1).click()
    state(page, 1, 1).click()
    page.keyboard.press("Control+z")
    assert shown(page, 6) == pytest.approx(expected_percent(tan, {0: 1}), abs=0.051)
    page.locator("#reset").click()
    assert shown(page, 6) == before
    page.keyboard.press("Control+z")
    assert shown(page, 6) == pytest.approx(expected_percent(tan, {0: 1}), abs=0.051)


def test_a_state_chosen_again_is_taken_back(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model))
    before = shown(page, 6)
    state(page, 0, 1).click()
    assert shown(page, 6) != before
    state(page, 0, 1).click()
    assert shown(page, 6) == before


@pytest.mark.parametrize("way", ["shift", "button", "delete", "long press"])
def test_a_state_is_ruled_out_in_every_way(way: str, tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model), has_touch=True)
    button = state(page, 0, 1)
    if way == "shift":
        button.click(modifiers=["Shift"])
    elif way == "button":
        page.locator("#menu-name").click()
        page.locator("#rule-out").click()
        assert page.inner_text("#menu-name") == "Menu: ruling out"
        button.click()
    elif way == "delete":
        button.focus()
        page.keyboard.press("Delete")
    else:
        button.dispatch_event("pointerdown", {"pointerType": "touch"})
        page.wait_for_selector(".state.out")
        button.dispatch_event("pointerup", {"pointerType": "touch"})
        button.dispatch_event("click")
    assert shown(page, 0)[1] == 0
    assert "ruled out" in button.inner_text()
    want = tan.posteriors({0: np.array([1, 0, 1], dtype=np.uint8)})
    assert want is not None
    assert shown(page, 1) == pytest.approx((100 * want[1]).tolist(), abs=0.051)


def test_the_page_can_be_used_by_keyboard_alone(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model), viewport={"width": 1280, "height": 900})

    def focus_is_on(text: str) -> bool:
        return bool(
            page.evaluate(
                """text => document.activeElement.closest('.card')
                  ?.querySelector('h3').textContent === text""",
                text,
            )
        )

    for _ in range(40):
        page.keyboard.press("Tab")
        if focus_is_on("x0"):
            break
    assert focus_is_on("x0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert shown(page, 6) == pytest.approx(expected_percent(tan, {0: 1}), abs=0.051)
    # From card to card as they stand on the map.
    order = page.locator("#monitors h3").all_inner_texts()
    after = order[order.index("x0") + 1]
    page.keyboard.press("Tab")
    assert focus_is_on(after)
    page.keyboard.press("End")
    page.keyboard.press("Space")
    both = expected_percent(tan, {0: 1, int(after[1:]): 2})
    assert shown(page, 6) == pytest.approx(both, abs=0.051)
    page.keyboard.press("Shift+Tab")
    # Focus comes back to the state that was left.
    label = "document.activeElement.querySelector('.label').innerText"
    assert page.evaluate(label) == "s1"
    page.keyboard.press("Shift+Enter")
    assert page.locator(".chip").first.inner_text() == "x0 ≠ s1 ×"
    page.keyboard.press("Control+z")
    assert shown(page, 6) == pytest.approx(both, abs=0.051)


def test_the_address_restores_what_is_set(tan: Case, open_page: Any) -> None:
    html = explorer_html(tan.model)
    page = open_page(html)
    state(page, 0, 1).click()
    state(page, 1, 2).click(modifiers=["Shift"])
    want = shown(page, 6)
    fragment = "#" + page.url.split("#")[1]
    assert fragment.endswith("&0=1&1!2")
    again = open_page(html, fragment)
    assert shown(again, 6) == want
    assert again.locator("#undo").is_disabled()
    again.evaluate("() => { location.hash = ''; }")
    again.wait_for_function("() => !document.querySelector('.chip')")
    assert shown(again, 6) != want
    again.evaluate("hash => { location.hash = hash; }", fragment)
    again.wait_for_selector(".chip")
    assert shown(again, 6) == want


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "items", ["99=1", "0=99", "0=", "0=1.2.0", "x", "0=1e3", "%", "0!0.1.2"]
)
def test_nonsense_in_an_address_is_left_out(
    items: str, tan: Case, open_page: Any
) -> None:
    html = explorer_html(tan.model)
    page = open_page(html)
    fingerprint = page.evaluate("window.bayleaf.session.model.fingerprint")
    again = open_page(html, f"#{fingerprint}&{items}&1=1")
    assert again.locator(".chip").all_inner_texts() == ["x1 = s1 ×"]


def test_an_address_of_another_model_is_refused(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model), "#01234567&0=1")
    assert page.locator(".chip").count() == 0
    assert "another model" in page.locator("#message").inner_text()


def test_what_if_flips_the_answer(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model))
    for variable in (0, 1, 3):
        state(page, variable, 0).click()
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    before = verdict_of(page).split(",")[0].rsplit(" ", 2)[0]
    first = page.locator("#what-if-list li").first
    first.wait_for()
    promised = re.search(r": (class \d) with ([\d.]+)\s%", first.inner_text())
    assert promised
    first.get_by_role("button").click()
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    after = verdict_of(page)
    assert not after.startswith(before)
    assert after.startswith(f"class: {promised[1]} {promised[2]} %")


def test_what_if_takes_a_goal_and_a_try_is_taken_back(
    tan: Case, open_page: Any
) -> None:
    page = open_page(explorer_html(tan.model))
    for variable in (0, 1, 3):
        state(page, variable, 0).click()
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    before = verdict_of(page)
    logs = page.evaluate("Array.from(window.bayleaf.session.answer().logs)")
    target = int(np.argmax(logs))
    page.locator("#what-if-goal select").select_option(f"below {target}")
    page.locator("#what-if-goal input").fill("30")
    page.locator("#what-if-goal input").press("Enter")
    first = page.locator("#what-if-list li").first
    first.wait_for()
    told = first.inner_text().replace("\u00a0", " ")
    assert f"{100 * np.exp(logs[target]):.1f} % → " in told
    lowered = float(told.split("→ ")[1].rstrip(" %"))
    assert lowered < 30
    first.get_by_role("button").click()
    assert shown(page, 6)[target] == lowered
    assert "Tried: " in page.inner_text("#what-if-tried")
    page.wait_for_function("() => !window.bayleaf.page.isWorking")
    focused = "document.activeElement.innerText"
    assert page.evaluate(focused) == "Take it back"
    page.keyboard.press("Enter")
    page.wait_for_function("() => !window.bayleaf.page.isWorking")
    assert page.evaluate(focused) == "What if"
    assert verdict_of(page) == before
    assert page.inner_text("#what-if-tried") == ""


def test_several_states_are_left_in_an_average(open_page: Any) -> None:
    case = classifier_case("AODE")
    page = open_page(explorer_html(case.model))
    state(page, 0, 1).click(modifiers=["Shift"])
    assert page.locator(".chip").all_inner_texts() == ["x0 ≠ s1 ×"]
    assert case.predictor is not None
    codes = [case.codes({0: code}) for code in (0, 2)]
    joint = sum(np.exp(case.predictor.model.class_log_scores(row)[0]) for row in codes)
    assert shown(page, 6) == pytest.approx(100 * joint / joint.sum(), abs=0.051)


def test_latent_variables_show_their_rules(open_page: Any) -> None:
    page = open_page(explorer_html(classifier_case("HNB").model))
    page.locator(".card.latent .name").first.click()
    rules = page.locator("#chosen .card.latent details").first
    rules.locator("summary").click()
    assert "x4" in rules.inner_text()


def test_a_network_without_a_class_is_asked_for_any_variable(
    open_page: Any, tmp_path: Path
) -> None:
    case = file_case(tmp_path)
    html = explorer_html(case.model)
    page = open_page(html)
    page.locator("#ask").select_option(label="node3")
    state(page, 0, 1).click()
    want = case.posteriors({0: np.array([0, 1], dtype=np.uint8)})
    assert want is not None
    best = int(np.argmax(want[3]))
    verdict = verdict_of(page)
    assert verdict.startswith(f"node3: a{best} {100 * want[3][best]:.1f} %")
    again = open_page(html, "#" + page.url.split("#")[1])
    assert verdict_of(again) == verdict
    # State a0 of this variable has probability zero under all parents.
    state(page, 3, 0).click()
    assert "impossible" in verdict_of(page)


def test_why_compares_any_states_along_open_ways(open_page: Any) -> None:
    network = BayesianNetwork.from_tables(
        states={
            "a": ["x", "y"],
            "c": ["x", "y"],
            "b": ["x", "y"],
            "z": ["low", "high"],
        },
        parents={"b": ["a", "c"], "z": ["a"]},
        tables={
            "a": [0.5, 0.5],
            "c": [0.3, 0.7],
            "b": [[[0.9, 0.1], [0.5, 0.5]], [[0.4, 0.6], [0.2, 0.8]]],
            "z": [[0.9, 0.1], [0.2, 0.8]],
        },
    )
    page = open_page(explorer_html(network))
    names = list(network.domain.names)
    for name, code in {"b": 0, "c": 1}.items():
        page.evaluate(f"window.bayleaf.session.choose({names.index(name)}, {code})")
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    low, high = network.query({"b": "x", "c": "y"}, ["z"])["z"].probabilities
    told = page.locator("#why-line").inner_text()
    assert f"low is {low / high:.3g} times as likely as high" in told
    rows = page.locator("#why-table tbody th").all_inner_texts()
    assert [row.split("\n") for row in rows[1:]] == [
        ["c = y", "no link to z here"],
        ["b = x", "b ← a → z"],
    ]
    before = page.locator("#why-table tbody tr").nth(2).locator(".number").first
    assert before.inner_text().startswith("×")
    page.locator("#why-line select").first.select_option(label="high")
    assert before.inner_text().startswith("÷")


def test_a_group_of_values_leaves_its_states(open_page: Any) -> None:
    case = density_case()
    page = open_page(explorer_html(case.model))
    page.locator("#variable-0 .name").click()
    group = page.get_by_role("button", name="low").first
    group.click()
    want = case.posteriors({0: np.array([1, 1, 0], dtype=np.uint8)})
    assert want is not None
    assert shown(page, 0) == pytest.approx((100 * want[0]).tolist(), abs=0.051)
    group.click()
    assert page.locator(".chip").count() == 0


@pytest.mark.parametrize(
    "labels",
    [["only"] * 40, [True, False] * 20, list(range(40))],
    ids=["one", "two", "forty"],
)
def test_any_number_of_classes_is_shown(labels: list[Any], open_page: Any) -> None:
    X = pa.table({"x": [f"s{i % 3}" for i in range(40)]})
    for kind in (NaiveBayesClassifier, AODEClassifier):
        page = open_page(explorer_html(kind().fit(X, labels)))
        state(page, 0, 1).click()
        assert len(shown(page, 1)) == len(set(labels))
        assert sum(shown(page, 1)) == pytest.approx(100, abs=2.1)
        page.wait_for_function("() => !window.bayleaf.page.isPending")
        told = page.locator("#why-line").inner_text()
        assert told.startswith("Why") == (len(set(labels)) > 1)


def test_hostile_names_are_text(open_page: Any) -> None:
    page = open_page(explorer_html(hostile_network(), title=HOSTILE[0]))
    assert page.locator("script").count() == 2
    assert HOSTILE[0] in page.locator("h3 .name").all_text_contents()
    assert page.locator("#title").inner_text() == HOSTILE[0]
    # A name that turns the direction of text leaves the sentence around it alone.
    state(page, 9, 5).click()
    assert f": \u2068{HOSTILE[5]}\u2069 " in verdict_of(page)
    state(page, 7, 7).click()
    state(page, 1, 1).click()
    assert page.locator("script").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


LOOKS = [["HNB", "AODE", "density"], ["light", "dark"], [*WIDTHS.values()]]
PAIRS = pairwise(*LOOKS)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("kind", "scheme", "width"),
    [
        look if look in PAIRS else pytest.param(*look, marks=pytest.mark.long)
        for look in product(*LOOKS)
    ],
)
def test_axe_finds_nothing(
    kind: str, scheme: str, width: int, open_page: Any, axe_script: str
) -> None:
    case = density_case() if kind == "density" else classifier_case(kind)
    size = {"width": width, "height": 800}
    # The page's policy would keep axe's script out.
    page = open_page(
        explorer_html(case.model), viewport=size, color_scheme=scheme, bypass_csp=True
    )
    for variable in range(3):
        state(page, variable, 0).click()
    page.locator("#what-if-list li").first.wait_for()
    # Every panel open, a second case beside this one, something found.
    page.evaluate(
        """() => {
          const { page, session } = window.bayleaf;
          session.pin(session.evidence);
          session.put(2, null);
          page.choose(4);
          const panels = document.querySelectorAll(".side details");
          for (const panel of panels) panel.open = true;
        }"""
    )
    page.fill("#find", "x1")
    page.wait_for_timeout(300)
    page.evaluate(axe_script)
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 20
    assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []


@pytest.mark.filterwarnings("ignore:.*intervals count as a whole")
@pytest.mark.parametrize(
    ("text", "low", "high", "is_open"),
    [
        ("number=0.1..1.5", 0.1, 1.5, False),
        ("number <= 0.4", -np.inf, 0.4, False),
        ("NUMBER>0.4", 0.4, np.inf, True),
        ("whole=2..3", 2, 3, False),
        ("whole<3", -np.inf, 3, True),
    ],
)
def test_bounds_written_into_the_field_are_set(
    text: str, low: float, high: float, is_open: bool, open_page: Any
) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = pa.table(
        {"number": rng.normal(size=400) + 2 * y, "whole": rng.integers(1, 5, 400)}
    )
    model = NaiveBayesClassifier().fit(X, y)
    page = open_page(explorer_html(model))
    page.locator("#find").fill(text)
    page.locator("#find").press("Enter")
    assert page.locator("#message").inner_text().startswith("Set: ")
    name = text[:6].lower().strip("<=>")
    name = "number" if name.startswith("number") else "whole"
    bounds = Range(
        None if np.isinf(low) else low,
        None if np.isinf(high) else high,
        is_open and np.isfinite(low),
        is_open and np.isfinite(high),
    )
    expected = model.network_.query({name: bounds}, ["class"])["class"].probabilities
    found = page.evaluate(
        "Array.from(window.bayleaf.session.posteriors()[window.bayleaf.session.model.class])"
    )
    np.testing.assert_allclose(found, expected, atol=1e-9)
