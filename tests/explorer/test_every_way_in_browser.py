"""Everything on the page by mouse, finger and keyboard, in wide and narrow windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import bayleaf
from bayleaf.datasets import load_heart
from bayleaf.explorer import explorer_html

pytestmark = pytest.mark.slow

Press = Callable[[str], None]
CHIPS = ".chip"


@pytest.fixture(scope="module")
def html() -> str:
    """A page with rows, and training rows to edit the model."""
    X, y = load_heart(return_X_y=True)
    X = X.select(["age", "sex", "chest_pain", "st_depression", "st_slope"])
    model = bayleaf.TANClassifier().fit(X, y)
    return explorer_html(model, rows=X, edit=X.append_column("class", [list(y)]))


# Telephones are touched; in the long tests every width is used in every way.
SCREENS = [(400, "touch"), (1280, "mouse"), (1280, "keyboard")]
OTHERS = [(400, "mouse"), (400, "keyboard"), (1280, "touch")]


@pytest.fixture(
    params=[*SCREENS, *(pytest.param(one, marks=pytest.mark.long) for one in OTHERS)],
    ids=lambda screen: f"{screen[0]}-{screen[1]}",
)
def screen(request: pytest.FixtureRequest) -> tuple[int, str]:
    """Width of the window, and how the page is used."""
    width, way = request.param
    return width, way


@pytest.fixture
def way(screen: tuple[int, str]) -> str:
    """How the page is used."""
    return screen[1]


@pytest.fixture
def page(screen: tuple[int, str], html: str, way: str, open_page: Any) -> Any:
    """The page in a window of some width."""
    size = {"width": screen[0], "height": 900}
    return open_page(html, viewport=size, has_touch=way == "touch")


@pytest.fixture
def press(page: Any, way: str) -> Press:
    """Press what a selector finds first."""

    def pressed(selector: str) -> None:
        target = page.locator(selector).first
        if way == "mouse":
            target.click()
        elif way == "touch":
            target.tap()
        else:
            target.focus()
            page.keyboard.press("Enter")

    return pressed


def chips(page: Any) -> list[str]:
    """What is set."""
    return [
        text.removesuffix(" ×")
        for text in page.locator("#known .chip").all_inner_texts()
    ]


def choose(page: Any, name: str) -> None:
    """Find a variable, which brings it into its panel."""
    page.fill("#find", name)
    page.press("#find", "Enter")
    assert page.inner_text("#chosen-heading") == name
    page.press("#find", "Escape")


def test_a_case_is_set_weighed_undone_and_compared(
    page: Any, way: str, press: Press
) -> None:
    choose(page, "chest_pain")
    press("#chosen .state >> nth=0")
    assert chips(page) == ["chest_pain = asymptomatic"]
    press("#undo")
    assert chips(page) == []
    press("#redo")
    assert chips(page) == ["chest_pain = asymptomatic"]
    press("#menu-name")
    press("#rule-out")
    press("#chosen .state >> nth=1")
    assert chips(page) == ["chest_pain ≠ atypical angina"]
    press("#menu-name")
    press("#rule-out")
    press("#reset")
    assert chips(page) == []
    press("#chosen summary:has-text('Uncertain')")
    slider = page.locator("#chosen input[type=range]").first
    if way == "keyboard":
        slider.focus()
        page.keyboard.press("PageDown")
    else:
        box = slider.bounding_box()
        slider.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    assert chips(page)[0].startswith("chest_pain uncertain: ")
    choose(page, "age")
    numbers = page.locator(".numbers input")
    numbers.nth(0).fill("61")
    press(".numbers button >> nth=0")
    assert chips(page)[0].startswith("age")
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    press(".keep")
    assert page.evaluate("window.bayleaf.session.kept.size") == 1
    press("#case > summary")
    press("#pin")
    page.fill("#case-text", "45,male,typical angina,0.2,flat")
    press("#case-take")
    assert len(chips(page)) == 5
    assert "chest_pain" in page.inner_text("#compared")
    press("#swap")
    assert len(chips(page)) == 2
    press("#case-next")
    assert page.input_value("#case-row") == "1"
    press(CHIPS)
    assert len(chips(page)) == 4


def test_questions_are_asked_and_answered(page: Any, press: Press) -> None:
    for name, state in (("sex", "male"), ("chest_pain", "asymptomatic")):
        choose(page, name)
        press(f"#chosen .state:has-text('{state}') >> nth=0")
    press("#ask-next > summary")
    page.wait_for_selector("#ask-next-table tbody tr")
    assert page.locator("#ask-next-table tbody tr").count() == 3
    press("#ask-next-table .link")
    assert page.inner_text("#chosen-heading") not in ("sex", "chest_pain")
    press("#tab-expert")
    press("#most-probable > summary")
    page.wait_for_selector("#most-probable-list li")
    assert page.locator("#most-probable-list li").count() == 4
    press("#sensitivity > summary")
    page.wait_for_selector("#sensitivity-table tbody tr")
    assert "P(class" in page.inner_text("#sensitivity-table")
    press("#tab-map")
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    assert page.locator("#why-table tbody tr").count() == 3
    page.wait_for_function(
        "() => !document.getElementById('what-if-line').innerText.includes('Searching')"
    )
    before = page.inner_text("#verdict")
    press("#what-if-list button")
    assert page.inner_text("#verdict") != before
    press("#chosen summary:has-text('Table')")
    page.wait_for_selector(".cpd tbody tr")
    assert "rows" in page.inner_text(".cpd thead")
    press("#chosen summary:has-text('on its own')")
    assert "rows" in page.inner_text("#chosen")


def test_the_model_is_edited(page: Any, press: Press) -> None:
    choose(page, "age")
    press("#edit > summary")
    page.wait_for_selector("#edit-list li")
    first = page.inner_text("#edit-line")
    press("#edit-list button:has-text('▸')")
    assert page.inner_text("#edit-line") != first
    press("#edit-undo")
    assert page.inner_text("#edit-line") == first
    press("#edit-list button:has-text('Add arrow')")
    assert page.inner_text("#edit-line") != first
    press("#edit-reset")
    assert page.inner_text("#edit-line") == first


def test_the_map_is_drawn_in_other_ways(page: Any, press: Press) -> None:
    def now() -> list[Any]:
        found = page.evaluate(
            """() => {
              const { isList, level, withClass, at } = window.bayleaf.page.map;
              return [isList, level, withClass, at.scale];
            }"""
        )
        return list(found)

    if now()[0]:
        press("#list")
    assert now()[0] is False
    press("#menu-name")
    press("#class-arcs")
    assert now()[2] is True
    scale = now()[3]
    press("#zoom-in")
    assert now()[3] > scale
    press("#fit")
    press("#list")
    assert now()[0] is True
    press("#monitors .card:has(#variable-1) .state")
    page.wait_for_selector("#known .chip")
    assert chips(page) == ["sex = female"]
    theme = page.evaluate("document.documentElement.dataset.theme")
    press("#menu-name")
    press("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") != theme
    assert (
        page.evaluate("document.documentElement.scrollWidth")
        <= page.viewport_size["width"]
    )


def test_a_state_keeps_the_focus_when_the_window_changes(page: Any) -> None:
    if not page.evaluate("window.bayleaf.page.map.isList"):
        page.locator("#list").click()
    page.locator("#monitors .card:has(#variable-1) .state").first.focus()
    page.evaluate("document.activeElement.id = 'with-focus'")
    size = page.viewport_size
    page.set_viewport_size({"width": size["width"] + 40, "height": size["height"]})
    page.evaluate("new Promise((done) => { setTimeout(done, 50); })")
    assert page.evaluate("document.activeElement.id") == "with-focus"
