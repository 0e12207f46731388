"""The page of a network: what people who see one for the first time need of it."""

from __future__ import annotations

from typing import Any

import pytest

from bayleaf.datasets import load_network
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
    marks = """(part) => [...document.querySelectorAll("#monitors h3")].filter((one) =>
      getComputedStyle(one, part).content !== "none").map((one) => one.title)"""
    for name in ("BP", "HR"):
        page.locator("#ask").select_option(label=name)
        page.wait_for_function("() => !window.bayleaf.page.isPending")
        for is_list, part in ((False, "::before"), (True, "::after")):
            if (page.get_attribute("#list", "aria-pressed") == "true") != is_list:
                page.locator("#list").click()
            assert page.evaluate(marks, part) == [name]
            said = page.inner_text("#drawing-note")
            assert ("asked for" in said) != is_list
