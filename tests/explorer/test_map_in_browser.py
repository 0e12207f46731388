"""The map: moved, zoomed, laid out otherwise, searched, printed."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import bayleaf
from bayleaf.data.discretizers import EqualFrequencyDiscretizer
from bayleaf.datasets import load_heart
from bayleaf.explorer import explorer_html, write_explorer
from bayleaf.models.bayesian_network import BayesianNetwork
from explorer.cases import Case, classifier_case
from printed import printed_pages

pytestmark = pytest.mark.slow

AT = "() => ({ ...window.bayleaf.page.map.at })"
WHOLE = "all => all.map((one) => one.outerHTML)"
IDS = "all => all.map((one) => one.id)"
TITLES = "all => all.map((one) => one.title)"
FOCUSED = "document.activeElement.closest('.card').querySelector('h3').title"
CARD = """() =>
  document.activeElement.closest("#monitors .card")?.querySelector("h3").title"""
ZOOM = """to => {
  const { map } = window.bayleaf.page;
  map.zoom(to / map.at.scale); }"""
EXERCISE = "exercise_induced_angina"


def chain_network(n: int, seed: int = 0, reach: int = 12) -> BayesianNetwork:
    """Variables with one or two parents among some before them."""
    rng = np.random.default_rng(seed)
    names = [f"variable_{i}" for i in range(n)]
    parents = {}
    for i in range(1, n):
        near = rng.integers(max(0, i - reach), i, size=1 + int(rng.random() < 0.2))
        parents[names[i]] = [names[j] for j in sorted(set(near.tolist()))]
    tables = {
        name: rng.dirichlet(np.ones(3), size=[3] * len(parents.get(name, [])))
        for name in names
    }
    states = {name: ["low", "middle", "high"] for name in names}
    return BayesianNetwork.from_tables(states, tables, parents)


@pytest.fixture(scope="module")
def tan() -> Case:
    """A tree-augmented naive Bayes classifier of six features."""
    return classifier_case("TAN")


@pytest.fixture(scope="module")
def large() -> str:
    """The page of a network of 200 variables."""
    return explorer_html(chain_network(200))


def box(page: Any, variable: int) -> dict[str, float]:
    """Where a variable's box is seen."""
    place = page.locator(f"#monitors .card:has(#variable-{variable})").bounding_box()
    assert place is not None
    return dict(place)


def test_the_map_fills_the_window_and_everything_is_on_it(
    tan: Case, open_page: Any
) -> None:
    page = open_page(explorer_html(tan.model), viewport={"width": 1280, "height": 900})
    frame = page.locator("#drawing").bounding_box()
    assert frame["width"] > 700
    assert frame["height"] > 600
    assert page.evaluate("document.documentElement.scrollHeight") <= 900
    for variable in range(7):
        place = box(page, variable)
        assert place["x"] >= frame["x"]
        assert place["y"] >= frame["y"]
        assert place["x"] + place["width"] <= frame["x"] + frame["width"] + 1
        assert place["y"] + place["height"] <= frame["y"] + frame["height"] + 1


def test_no_arc_of_the_page_runs_behind_a_foreign_box(
    large: str, open_page: Any
) -> None:
    """On the whole map and on what remains of it near the question."""
    page = open_page(large)
    for distance in ("1", "3", "Infinity"):
        page.evaluate(f"window.bayleaf.page.map.setDistance({distance})")
        n_behind, n_arcs = page.evaluate(
            """() => { const { boxes, ways } = window.bayleaf.page.map.drawing;
              let behind = 0;
              const paths = [...document.querySelectorAll("#graph .arc")];
              ways.forEach(({ parent, child }, i) => {
                const path = paths[i]; const length = path.getTotalLength();
                for (let k = 0; k <= 200; k += 1) {
                  const { x, y } = path.getPointAtLength(length * k / 200);
                  for (const [node, [left, top, width, height]] of boxes) {
                    if (node === parent || node === child) continue;
                    if (x > left + 1 && x < left + width - 1
                      && y > top + 1 && y < top + height - 1) behind += 1;
                  }
                }
              });
              return [behind, ways.length]; }"""
        )
        assert n_behind == 0
        assert n_arcs > 0


def test_wheel_buttons_and_keys_zoom_and_move(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model))
    start = page.evaluate(AT)
    page.locator("#zoom-in").click()
    assert page.evaluate(AT)["scale"] == pytest.approx(1.25 * start["scale"])
    page.locator("#zoom-out").click()
    frame = page.locator("#drawing").bounding_box()
    x, y = frame["x"] + 30, frame["y"] + 40
    page.mouse.move(x, y)
    before = page.evaluate(AT)
    page.mouse.wheel(0, -300)
    page.wait_for_function(
        "was => window.bayleaf.page.map.at.scale > was", arg=before["scale"]
    )
    after = page.evaluate(AT)
    # What is under the pointer stays there.
    for side, place in (("x", 30), ("y", 40)):
        was = (place - before[side]) / before["scale"]
        assert (place - after[side]) / after["scale"] == pytest.approx(was, abs=1.5)
    page.locator("#drawing").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(AT)["x"] == pytest.approx(after["x"] - 80)
    page.keyboard.press("0")
    fitted = page.evaluate(AT)
    assert fitted == pytest.approx(start)


def test_the_map_and_its_boxes_are_dragged(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model))
    frame = page.locator("#drawing").bounding_box()
    before = page.evaluate(AT)
    page.mouse.move(frame["x"] + 8, frame["y"] + frame["height"] - 8)
    page.mouse.down()
    page.mouse.move(frame["x"] + 68, frame["y"] + frame["height"] - 38, steps=4)
    page.mouse.up()
    after = page.evaluate(AT)
    assert after["x"] - before["x"] == pytest.approx(60, abs=6)
    assert after["y"] - before["y"] == pytest.approx(-30, abs=6)
    page.locator("#fit").click()
    place = box(page, 1)
    way = page.locator("#graph .arc").first.get_attribute("d")
    ways = page.locator("#graph .arc").evaluate_all(
        "all => all.map((a) => a.outerHTML)"
    )
    page.mouse.move(place["x"] + 20, place["y"] + 8)
    page.mouse.down()
    page.mouse.move(place["x"] + 70, place["y"] + 28, steps=4)
    page.mouse.up()
    moved = box(page, 1)
    assert moved["x"] - place["x"] == pytest.approx(50, abs=8)
    again = page.locator("#graph .arc").evaluate_all(
        "all => all.map((a) => a.outerHTML)"
    )
    assert again != ways
    page.locator("#menu-name").click()
    page.locator("#tidy").click()
    assert box(page, 1)["x"] == pytest.approx(place["x"], abs=1)
    assert page.locator("#graph .arc").first.get_attribute("d") == way


def test_two_fingers_zoom(tan: Case, open_page: Any) -> None:
    page = open_page(
        explorer_html(tan.model), viewport={"width": 400, "height": 800}, has_touch=True
    )
    assert page.locator("#list").get_attribute("aria-pressed") == "true"
    page.locator("#list").click()
    before = page.evaluate(AT)["scale"]
    fire = """([kind, id, x, y]) => document.getElementById("drawing").dispatchEvent(
      new PointerEvent(kind, { pointerId: id, clientX: x, clientY: y, bubbles: true,
        pointerType: "touch", isPrimary: id === 1 }))"""
    for event in (
        ("pointerdown", 1, 100, 400),
        ("pointerdown", 2, 200, 400),
        ("pointermove", 2, 300, 400),
        ("pointerup", 2, 300, 400),
        ("pointerup", 1, 100, 400),
    ):
        page.evaluate(fire, list(event))
    assert page.evaluate(AT)["scale"] == pytest.approx(2 * before)
    page.locator("#fit").tap()
    page.locator("#variable-2 .name").tap()
    page.locator("#chosen-name + .states .state").first.tap()
    assert page.locator(".chip").count() == 1


def test_parents_children_and_the_blanket_stand_out(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model))
    network = tan.network
    assert network is not None
    for variable in (0, 3):
        page.mouse.move(1, 1)
        page.locator(f"#variable-{variable}").hover()
        parents = set(network.dag.parents[variable])
        children = {c for c in range(7) if variable in network.dag.parents[c]}
        blanket = {p for c in children for p in network.dag.parents[c]}
        blanket -= parents | children | {variable}
        for kind, expected in (
            ("is-parent", parents),
            ("is-child", children),
            ("is-blanket", blanket),
        ):
            ids = page.locator(f".{kind} h3").evaluate_all(
                "all => all.map((h) => h.id)"
            )
            assert {int(one.split("-")[1]) for one in ids} == expected
        near = page.locator("#graph .arc.on").count()
        drawn = parents | children
        assert near == len(drawn - ({6} if 6 in parents else set()))


def test_arcs_of_the_class_are_marks_or_drawn(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model))
    assert page.locator(".card.marked").count() == 6
    assert page.locator("#graph .arc").count() == 5
    note = page.inner_text("#drawing-note")
    assert "depend on class, whose arrows are not drawn" in note
    page.locator("#menu-name").click()
    page.locator("#class-arcs").click()
    assert page.locator(".card.marked").count() == 0
    assert page.locator("#graph .arc").count() == 11
    assert page.locator("#class-arcs").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize(
    ("text", "names", "first"),
    [
        ("chest pain", ["chest_pain"], "chest_pain"),
        ("PAIN chest", ["chest_pain"], "chest_pain"),
        (
            "angina",
            ["chest_pain", "exercise_induced_angina"],
            "exercise_induced_angina",
        ),
        ("xyz", [], None),
    ],
)
def test_find_marks_what_it_finds_and_enter_goes_there(
    text: str, names: list[str], first: str | None, open_page: Any
) -> None:
    X, y = load_heart(return_X_y=True)
    page = open_page(explorer_html(bayleaf.TANClassifier().fit(X, y)))
    page.fill("#find", text)
    found = page.locator(".card.found h3").evaluate_all(
        "all => all.map((h) => h.title)"
    )
    assert sorted(found) == names
    told = page.inner_text("#found")
    assert told.startswith(f"{len(names)} found" if names else "nothing found")
    page.press("#find", "Enter")
    if first is not None:
        assert page.evaluate(FOCUSED) == first
        assert page.inner_text("#chosen-heading") == first
    assert page.locator(".chip").count() == 0
    for n_shown in (len(names), 14):
        page.locator("#list").click()
        assert page.locator("#monitors .card:visible").count() == n_shown
    page.fill("#find", "")
    assert page.locator(".card.found").count() == 0
    page.fill("#find", "sex=male")
    page.press("#find", "Enter")
    assert page.locator(".chip").all_inner_texts() == ["sex = male ×"]


LETTERS = """() => {
  const { scale } = window.bayleaf.page.map.at;
  return [...document.querySelectorAll("#monitors *")].filter((one) =>
    one.offsetParent && [...one.childNodes].some((part) => part.nodeType === 3))
    .map((one) => scale * parseFloat(getComputedStyle(one).fontSize)); }"""


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [(1280, 800), (1600, 1000), (400, 800)])
def test_letters_of_the_map_have_eleven_pixels_and_states_are_seen(
    size: tuple[int, int], open_page: Any
) -> None:
    network = chain_network(37)
    viewport = {"width": size[0], "height": size[1]}
    page = open_page(explorer_html(network), viewport=viewport)
    if size[0] < 600:
        page.locator("#list").click()
    else:
        page.locator("#fit").click()
        assert page.locator("#monitors .fill").first.is_visible()
    for factor in (1, 1.5, 1.5, 0.3):
        page.evaluate(f"window.bayleaf.page.map.zoom({factor})")
        letters = page.evaluate(LETTERS)
        assert letters
        assert min(letters) >= 11 - 1e-2


def test_a_message_goes_with_what_is_done_next(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model))
    page.fill("#find", "x0=s0")
    page.press("#find", "Enter")
    assert page.inner_text("#message") == "Set: x0 is s0."
    page.locator("#tab-cockpit").click()
    assert page.inner_text("#message") == ""


NAMES_CUT = """() => [...document.querySelectorAll("#monitors .name")]
  .filter((name) => name.scrollHeight > name.clientHeight + 1)
  .map((name) => name.textContent)"""


def test_names_of_one_long_word_are_broken_not_cut(open_page: Any) -> None:
    long = "Donaudampfschiffahrtselektrizitätenhauptbetriebswerkbauunter"
    names = ["STROKEVOLUME", "ERRLOWOUTPUT", "encephalopathy", long, "收缩压" * 8]
    states = {name: ["low", "high"] for name in names}
    tables = {name: np.array([0.5, 0.5]) for name in names}
    network = BayesianNetwork.from_tables(states, tables, {})
    page = open_page(explorer_html(network))
    for scale in (0.45, 0.8, 1.0):
        page.evaluate(ZOOM, scale)
        assert page.evaluate(NAMES_CUT) == []


VALUES_CUT = """() => [...document.querySelectorAll("#monitors .state")]
  .filter((row) => row.offsetParent)
  .flatMap((row) => { const label = row.querySelector(".label");
    return label.scrollWidth > label.clientWidth + 1
      || label.scrollHeight > label.clientHeight + 1
      || row.getBoundingClientRect().height < 12.6 ? [label.textContent] : []; })"""


def test_names_of_values_are_whole_in_boxes_as_wide_as_they_need(
    open_page: Any,
) -> None:
    states = {
        "FIO2": ["LOW", "NORMAL"],
        "age": ["age65_100", "(128.5, 131]", "2000-20000"],
        "st": ["<= 54.5", "> 54.5"],
        "cirrhosis": ["decompensate", "compensate", "absent"],
        "work": ["employed in the public sector", "none"],
        "ecg": ["normal", "left ventricular hypertrophy", "ST-T abnormality"],
        "температура": ["нормальная", "повышенная незначительно"],
        "血圧": ["正常", "高い、すぐに治療が必要"],
    }
    tables = {name: np.ones(len(own)) / len(own) for name, own in states.items()}
    network = BayesianNetwork.from_tables(states, tables, {})
    page = open_page(explorer_html(network))
    # Not stretched as in a window that has room.
    page.evaluate(
        """() => { const { about, cards } = window.bayleaf.page.map;
          about.nodes.forEach((node, i) => {
            const [, , width] = about.drawings.wide.boxes[i];
            cards.get(node).card.style.width = `${width}px`; }); }"""
    )
    for scale in (0.6, 0.7, 0.84, 1.0):
        page.evaluate(ZOOM, scale)
        assert page.evaluate(VALUES_CUT) == [], scale
    boxes = page.evaluate("window.bayleaf.page.map.about.drawings.wide.boxes")
    widths = [width for _, _, width, _ in boxes]
    assert min(widths) >= 130
    assert max(widths) <= 280
    assert widths[0] < 200 < widths[3] < widths[4]


def test_the_mark_of_the_variable_asked_for_leaves_its_name(open_page: Any) -> None:
    names = ["HYPOVOLEMIA", "LVFAILURE", "CATECHOL"]
    states = {name: ["TRUE", "FALSE"] for name in names}
    tables = {name: np.array([0.2, 0.8]) for name in names}
    network = BayesianNetwork.from_tables(states, tables, {})
    page = open_page(explorer_html(network))
    cut = {}
    for asked in ("CATECHOL", "HYPOVOLEMIA"):
        page.locator("#ask").select_option(asked)
        for scale in (0.45, 0.5, 0.6, 0.7):
            page.evaluate(ZOOM, scale)
            cut[asked, scale] = page.evaluate(NAMES_CUT)
    assert cut["HYPOVOLEMIA", 0.5] == cut["HYPOVOLEMIA", 0.6] == []
    for (_, scale), names in cut.items():
        assert names == cut["CATECHOL", scale], scale


def test_a_map_shows_names_then_bars_then_labels(large: str, open_page: Any) -> None:
    page = open_page(large)
    found = []
    for scale in (0.2, 0.4, 0.8):
        page.evaluate(
            ZOOM,
            scale,
        )
        found.append(
            [
                page.locator(f"#monitors {part} >> nth=0").is_visible()
                for part in (".name", ".fill", ".label")
            ]
        )
    assert found == [[True, False, False], [True, True, False], [True, True, True]]


def test_a_large_map_shows_the_first_rows_of_tables(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model))
    page.evaluate(ZOOM, 2.2)
    page.evaluate("() => window.bayleaf.page.map.reveal(1)")
    place = page.locator("#monitors .card:has(#variable-1) .table-in-box")
    network = tan.network
    assert network is not None
    n_rows = network.cpds[1].probabilities[..., 0].size
    n_shown = place.locator("tbody tr").count()
    assert 0 < n_shown < n_rows
    assert place.locator(".link").inner_text() == f"{n_rows - n_shown} more rows"
    inside, around = place.locator(".link").bounding_box(), box(page, 1)
    assert inside["y"] + inside["height"] <= around["y"] + around["height"] + 1
    assert min(page.evaluate(LETTERS)) >= 11 - 1e-2
    place.locator(".link").click()
    assert page.inner_text("#chosen-heading") == "x1"
    page.evaluate(ZOOM, 1.0)
    assert not place.is_visible()


@pytest.mark.few(2)
@pytest.mark.parametrize("scale", [0.2, 0.4, 0.8, None])
def test_every_box_opens_its_states_and_is_reached_by_tab(
    scale: float | None, tan: Case, open_page: Any
) -> None:
    page = open_page(explorer_html(tan.model))
    if scale is None:
        page.locator("#list").click()
    else:
        page.evaluate(ZOOM, scale)
        place = box(page, 2)
        page.mouse.click(place["x"] + place["width"] - 3, place["y"] + 3)
        assert page.inner_text("#chosen-heading") == "x2"
        assert page.locator("#chosen .state").first.is_visible()
    page.locator("#drawing" if scale else "#list").focus()
    reached = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(CARD))
    assert reached >= {"class", *(f"x{i}" for i in range(6))}
    page.locator("#monitors .card:has(#variable-3) .name").focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#chosen-heading") == "x3"
    assert page.evaluate("() => Boolean(document.activeElement.closest('#chosen'))")


def test_a_question_without_relatives_opens_on_the_largest_part(open_page: Any) -> None:
    network = chain_network(80)
    states = {v.name: list(v.states) for v in network.domain} | {"z": ["no", "yes"]}
    names = network.domain.names
    parents = {
        names[child]: [names[p] for p in above]
        for child, above in enumerate(network.dag.parents)
        if above
    }
    tables = {n: network.cpds[i].probabilities for i, n in enumerate(names)}
    tables["z"] = np.array([0.5, 0.5])
    page = open_page(
        explorer_html(BayesianNetwork.from_tables(states, tables, parents))
    )
    assert page.locator("#monitors .card").count() > 10
    assert int(page.locator("#distance").get_attribute("max") or 0) > 2


@pytest.fixture(scope="module")
def many_values() -> str:
    """The page of a number of twenty intervals and a text of sixteen values."""
    rng = np.random.default_rng(0)
    hours = rng.normal(50, 10, 400)
    town = [f"town {v}" for v in np.minimum(rng.geometric(0.2, 400), 16)]
    X = pa.table({"hours": hours, "town": town})
    y = np.where(hours + rng.normal(0, 5, 400) > 55, "late", "early")
    cuts = EqualFrequencyDiscretizer(n_bins=20)
    return explorer_html(bayleaf.TANClassifier(discretizer=cuts).fit(X, y))


@pytest.mark.parametrize("width", [400, 1280])
def test_texts_of_many_values_show_the_most_probable(
    width: int, many_values: str, open_page: Any
) -> None:
    page = open_page(many_values, viewport={"width": width, "height": 800})
    card = page.locator("#monitors .card").filter(has_text="town")
    for evidence in ([], [2, 1]):
        if evidence:
            page.evaluate("([v, s]) => bayleaf.session.choose(v, s)", evidence)
        proba = page.evaluate("Array.from(bayleaf.session.posteriors()[1])")
        shown = card.locator(".state:visible .value").all_inner_texts()
        most = np.sort(proba)[-6:]
        assert len(shown) == 6
        least = min(float(text.split()[0]) for text in shown)
        assert least == pytest.approx(100 * most[0], abs=0.06)
    assert card.locator(".more").inner_text() == "10 more values"
    page.evaluate("bayleaf.session.choose(1, 12)")
    assert card.locator(".state:visible[aria-pressed=true]").count() == 1


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("is_list", [False, True])
def test_numbers_of_many_intervals_are_histograms(
    is_list: bool, width: int, many_values: str, open_page: Any
) -> None:
    page = open_page(many_values, viewport={"width": width, "height": 800})
    button = page.locator("#list")
    if (button.get_attribute("aria-pressed") == "true") != is_list:
        button.click()
    card = page.locator("#monitors .card").filter(has_text="hours")
    boxes = card.locator(".bin").evaluate_all(
        "bars => bars.map(b => ['x', 'width', 'height'].map(k => b[k].baseVal.value))"
    )
    left, widths, heights = np.array(boxes).T
    # Areas are probabilities, up to the gaps between bars.
    areas = widths * heights
    proba = np.array(page.evaluate("Array.from(bayleaf.session.initial[0])"))
    low, high = map(float, card.locator(".distribution span").all_text_contents())
    cuts = np.array(page.evaluate("bayleaf.session.model.variables[0].cuts"))
    ends = low + (high - low) / 200 * left[1:]
    below = [proba[: np.abs(cuts - end).argmin() + 1].sum() for end in ends]
    np.testing.assert_allclose(areas.cumsum()[:-1] / areas.sum(), below, atol=0.03)
    assert card.locator(".state:visible").count() == 0
    assert card.locator(".bin.on").count() == 0
    card.get_by_role("button", name="Set a number").click()
    page.get_by_role("textbox", name="hours is", exact=True).fill("52.5")
    page.get_by_role("button", name="Set", exact=True).click()
    assert page.inner_text("#message").startswith("Set: hours is 52.5 (")
    places = [card, page.locator("#chosen .card")]
    for place in places:
        assert place.locator(".bin.on").count() == 1
        assert len(place.locator(".bin").all()) == len(areas)
        [chosen] = place.locator(".state:visible").all()
        assert chosen.locator(".label").inner_text() == "52.5"
    # What is set is taken back where it is shown.
    card.locator(".state:visible").click()
    assert card.locator(".bin.on, .state:visible").count() == 0


def test_the_map_counts_in_words_of_every_reader(large: str, open_page: Any) -> None:
    page = open_page(large)
    page.locator("#distance").fill("1")
    assert page.inner_text("#distance-said") == "1 step around"
    # Files of networks and About have arcs, and Expert is for those who know states.
    text = page.evaluate(
        """() => [...document.querySelectorAll("header, #view-map > section, .panel")]
          .filter((part) => !part.closest("#view-expert"))
          .map((part) => part.textContent).join(" ")"""
    )
    assert "arrows" in text
    assert not re.search(r"\b(arcs?|states?)\b", text, re.I)


def test_a_large_network_opens_near_its_question(large: str, open_page: Any) -> None:
    page = open_page(large)
    near = page.locator("#monitors .card").count()
    assert 1 < near < 60
    assert f"{near} of them shown" in page.inner_text("#drawing-note")
    slider = page.locator("#distance")
    slider.focus()
    page.keyboard.press("End")
    assert page.locator("#monitors .card").count() == 200
    assert page.inner_text("#distance-said") == "all variables"
    page.locator("#zoom-in").click()
    assert page.locator("#minimap").is_visible()
    page.locator("#fit").click()
    assert not page.locator("#minimap").is_visible()
    # Far from what is shown, what was found is brought into view.
    slider.focus()
    page.keyboard.press("Home")
    assert not page.locator("#minimap").is_visible()
    page.fill("#find", "variable 0")
    page.press("#find", "Enter")
    shown = page.evaluate(
        "document.activeElement.closest('.card').querySelector('h3').title"
    )
    frame = page.locator("#drawing").bounding_box()
    place = page.locator(".card:focus-within").bounding_box()
    assert shown.startswith("variable_")
    assert frame["x"] - 1 <= place["x"] <= frame["x"] + frame["width"]
    assert frame["y"] - 1 <= place["y"] <= frame["y"] + frame["height"]


@pytest.fixture(scope="module")
def deep() -> str:
    """The page of a chain of 300 variables, whose drawing is high and narrow."""
    names = [f"variable_{i}" for i in range(300)]
    table = np.array([[0.9, 0.1], [0.2, 0.8]])
    tables = {name: table if i else table[0] for i, name in enumerate(names)}
    parents = {child: [parent] for parent, child in pairwise(names)}
    states = {name: ["low", "high"] for name in names}
    return explorer_html(BayesianNetwork.from_tables(states, tables, parents))


def test_a_deep_network_opens_with_as_many_steps_as_can_be_read(
    deep: str, open_page: Any
) -> None:
    page = open_page(deep, viewport={"width": 1280, "height": 800})
    n_shown = page.locator("#monitors .card").count()
    assert 5 < n_shown < 30
    assert page.inner_text("#distance-said") == f"{n_shown - 1} steps around"
    assert page.locator("#minimap").is_hidden()
    assert page.evaluate(NAMES_CUT) == []


def test_all_of_a_deep_network_is_fitted_in_and_what_is_found_can_be_read(
    deep: str, open_page: Any
) -> None:
    page = open_page(deep, viewport={"width": 1280, "height": 800})
    page.locator("#distance").focus()
    page.keyboard.press("End")
    assert page.evaluate(NAMES_CUT) == []
    page.locator("#fit").click()
    frame = page.locator("#drawing").bounding_box()
    for variable in (0, 299):
        place = box(page, variable)
        assert frame["y"] <= place["y"]
        assert place["y"] + place["height"] <= frame["y"] + frame["height"]
    # There is no room for letters, but boxes have names that Tab reaches.
    opacity = "name => getComputedStyle(name.closest('h3')).opacity"
    assert page.locator("#monitors .name").first.evaluate(opacity) == "0"
    page.fill("#find", "variable 17")
    assert page.locator("#drawing").bounding_box() == frame
    page.press("#find", "Enter")
    assert page.evaluate(FOCUSED) == "variable_17"
    assert page.locator(".card:focus-within .fill").first.is_visible()
    assert page.evaluate(NAMES_CUT) == []
    place = box(page, 17)
    middle = frame["y"] + frame["height"] / 2
    assert place["y"] + place["height"] / 2 == pytest.approx(middle, abs=40)


LOOKED = """() => [...document.querySelectorAll("#monitors .looked h3")]
  .map((heading) => heading.title)"""


def is_in_frame(page: Any, variable: int) -> bool:
    """Whether all of a variable's box is in sight."""
    frame, place = page.locator("#drawing").bounding_box(), box(page, variable)
    return all(
        frame[side] - 1 <= place[side]
        and place[side] + place[size] <= frame[side] + frame[size] + 1
        for side, size in (("x", "width"), ("y", "height"))
    )


def test_the_map_shows_what_is_asked_for_and_looked_at(
    large: str, open_page: Any
) -> None:
    page = open_page(large, viewport={"width": 1280, "height": 800})
    page.locator("#ask").select_option("variable_3")
    assert is_in_frame(page, 3)
    assert page.evaluate(LOOKED) == ["variable_3"]
    assert page.locator("#monitors .asked").count() == 1
    page.locator("#zoom-in").click(click_count=6)
    page.get_by_role("button", name="Variable", exact=True).click()
    page.locator(".relatives .link").first.click()
    (looked,) = page.evaluate(LOOKED)
    assert looked != "variable_3"
    assert page.inner_text("#chosen-heading") == looked
    assert is_in_frame(page, int(looked.split("_")[1]))


def test_what_is_found_without_relatives_is_among_others(open_page: Any) -> None:
    network = chain_network(80)
    states = {v.name: list(v.states) for v in network.domain} | {"z": ["no", "yes"]}
    names = network.domain.names
    tables = {n: network.cpds[i].probabilities for i, n in enumerate(names)}
    parents = {
        names[child]: [names[p] for p in above]
        for child, above in enumerate(network.dag.parents)
    }
    alone = BayesianNetwork.from_tables(states, tables | {"z": [0.5, 0.5]}, parents)
    page = open_page(explorer_html(alone))
    page.locator("#ask").select_option("variable_40")
    page.fill("#find", "z")
    page.press("#find", "Enter")
    assert page.evaluate(FOCUSED) == "z"
    assert page.locator("#monitors .card").count() > 5
    assert page.locator("#distance").is_visible()


def test_keys_zoom_about_the_box_that_has_the_focus(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model))
    page.evaluate("window.bayleaf.page.map.focus(3)")
    before = box(page, 3)
    page.keyboard.press("+")
    after = box(page, 3)
    assert after["width"] > 1.2 * before["width"]
    for side, size in (("x", "width"), ("y", "height")):
        middles = [place[side] + place[size] / 2 for place in (before, after)]
        assert middles[0] == pytest.approx(middles[1], abs=1)


def test_arrows_of_what_is_near_stay_in_the_map(open_page: Any) -> None:
    page = open_page(explorer_html(chain_network(80, reach=80)))
    for centre in range(0, 80, 15):
        left, over = page.evaluate(
            """centre => { const { map } = window.bayleaf.page;
              map.centre = centre;
              map.setDistance(1);
              const { ways, width } = map.drawing;
              const places = ways.flatMap(({ way }) => way).filter((_, k) => k % 2 < 1);
              return [Math.min(...places), Math.max(...places) - width]; }""",
            centre,
        )
        assert left > -24, centre
        assert over < 24, centre


def test_the_minimap_moves_the_map(large: str, open_page: Any) -> None:
    page = open_page(large)
    page.evaluate("window.bayleaf.page.map.setDistance(Infinity)")
    page.evaluate("window.bayleaf.page.map.zoom(4)")
    before = page.evaluate(AT)
    place = page.locator("#minimap").bounding_box()
    page.mouse.click(place["x"] + 3, place["y"] + place["height"] - 3)
    after = page.evaluate(AT)
    assert after["scale"] == before["scale"]
    assert (after["x"], after["y"]) != (before["x"], before["y"])


def test_a_page_of_two_hundred_variables_is_small(large: str) -> None:
    assert len(large.encode("utf-8", "replace")) < 1_000_000


def test_the_list_holds_every_state_in_reach_of_the_keyboard(
    tan: Case, open_page: Any
) -> None:
    page = open_page(explorer_html(tan.model))
    page.locator("#list").click()
    # What is not painted yet has a text, but none that is seen.
    heads = page.locator("#monitors h3").all_text_contents()
    assert heads[0].startswith("class")
    assert heads[1:] == [f"x{i}" for i in range(6)]
    assert not page.locator("#graph").is_visible()
    page.locator("#variable-0 + .states .state").first.click()
    assert page.locator(".chip").count() == 1
    page.locator("#list").click()
    assert page.locator("#graph").is_visible()


def test_variables_of_any_value_are_listed_in_one_line(open_page: Any) -> None:
    names, tables = ["wet", "idle", "odd", "rain"], np.array([[0.9, 0.1], [0.2, 0.8]])
    states = {name: ["no", "yes"] for name in names} | {
        name: ["any value"] for name in names[1:3]
    }
    network = BayesianNetwork.from_tables(
        states,
        {"wet": tables, "idle": np.ones(1), "odd": np.ones(1), "rain": tables[0]},
        {"wet": ["rain"]},
    )
    page = open_page(explorer_html(network))
    page.locator("#list").click()
    heads = page.locator("#monitors h3").all_text_contents()
    assert sorted(heads) == ["rain", "wet"]
    assert "any value: idle, odd" in page.inner_text("#drawing-note")
    page.locator("#drawing-note button").first.click()
    assert page.inner_text("#chosen-heading") == "idle"
    page.locator("#tab-expert").click()
    page.locator("#most-probable summary").click()
    page.wait_for_selector("#most-probable-list li")
    items = page.locator("#most-probable-list li").all_inner_texts()
    assert items[-1] == "any value: idle, odd"
    assert len(items) == 3


def pixels_like(image: Any, colour: tuple[int, int, int]) -> int:
    """Number of pixels of nearly a colour in an image of RGB values."""
    distance = np.abs(image[..., :3].astype(int) - colour).max(axis=-1)
    return int((distance <= 6).sum())


@pytest.mark.parametrize("kind", ["TAN", "averaged KDB"])
def test_map_and_answer_are_printed_on_one_sheet_with_their_bars(
    kind: str, browser: Any, tmp_path: Path
) -> None:
    pdfium = pytest.importorskip("pypdfium2", reason="pypdfium2 reads what is printed")
    path = tmp_path / "page.html"
    write_explorer(classifier_case(kind).model, path)
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.locator("#tab-map").click()
    page.evaluate("window.bayleaf.session.choose(0, 0)")
    for part in ("variable", "why", "what-if", "ask-next"):
        page.evaluate(f"document.getElementById('{part}').open = false")
    # Without the graphics of the background, as printers do it.
    page.pdf(path=tmp_path / "page.pdf", format="A4", print_background=False)
    page.wait_for_selector("#ask-next:not([open])", state="attached")
    context.close()
    document = pdfium.PdfDocument(tmp_path / "page.pdf")
    text = document[0].get_textpage().get_text_range()
    # Parts that are closed are printed, with what they compute when they are opened.
    whole = " ".join(own.get_textpage().get_text_range() for own in document)
    for part in ("Ask next", "Question", "instead of", "rather than"):
        assert part in whole
    for name in ("Prediction", "x5", "Known so far", "x0 = s0"):
        assert name in text
    image = document[0].render(scale=2, rev_byteorder=True).to_numpy()
    assert pixels_like(image, (0xBC, 0xD9, 0xF2)) > 2_000
    assert "Undo" not in text


def test_wide_paper_shows_the_map_in_its_frame(open_page: Any) -> None:
    page = open_page(explorer_html(classifier_case("TAN").model))
    level = page.locator("#network").get_attribute("data-level")
    page.emulate_media(media="print")
    frame = page.locator("#drawing").bounding_box()
    page.wait_for_timeout(100)
    assert page.locator("#network").get_attribute("data-level") == level
    for card in page.locator("#drawing .card").all():
        box = card.bounding_box()
        assert frame["y"] <= box["y"]
        assert box["y"] + box["height"] <= frame["y"] + frame["height"] + 1


def test_high_panels_are_printed_on_few_full_pages_with_their_heading_repeated(
    open_page: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.where(rng.random((300, 40)) < 0.3, y[:, None], rng.integers(0, 2, (300, 40)))
    page = open_page(explorer_html(bayleaf.TANClassifier().fit(X, y)))
    page.evaluate(
        "() => bayleaf.session.replace(bayleaf.session.evidence.map((_, v) => (v < 40"
        " ? Uint8Array.of(0, 1) : null)))"
    )
    page.wait_for_function("() => !bayleaf.page.isPending")
    sheets = printed_pages(page, tmp_path / "page.pdf")
    assert len(sheets) == 2
    # Once in each column that the table reaches.
    heads = sheets[1][0].count("given those above")
    assert heads == sheets[1][0].count("Finding ‹") > 1
    assert min(filled for _, filled in sheets[:-1]) > 0.75


def test_forced_colours_show_bars_and_what_is_chosen(tan: Case, open_page: Any) -> None:
    page = open_page(explorer_html(tan.model), forced_colors="active")
    page.locator("#list").click()
    page.locator("#variable-0 + .states .state").first.click()
    style = """([selector, name]) =>
      getComputedStyle(document.querySelector(selector))[name]"""
    canvas = page.evaluate(style, ["body", "backgroundColor"])
    fill = page.evaluate(style, ["#variable-1 + .states .fill", "backgroundColor"])
    assert fill not in (canvas, "rgba(0, 0, 0, 0)")
    chosen = "#variable-0 + .states .state[aria-pressed=true]"
    assert page.evaluate(style, [chosen, "outlineStyle"]) == "solid"


def test_where_inference_is_slow_the_chosen_box_is_painted_first(
    tan: Case, open_page: Any
) -> None:
    page = open_page(explorer_html(tan.model))
    before = page.inner_text("#verdict")
    first = page.evaluate(
        """() => {
          const { page, session } = window.bayleaf;
          page.fastest = 1000;
          session.choose(0, 1);
          const [, state] = document.querySelectorAll("#variable-0 ~ .states .state");
          return [
            state.getAttribute("aria-pressed"), page.isPending,
            state.querySelector(".value").textContent,
            document.querySelector("#verdict").textContent,
          ];
        }"""
    )
    assert first == ["true", True, "100.0\xa0%", before]
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    assert page.inner_text("#verdict") != before


def test_of_many_boxes_those_in_view_are_drawn_first(
    large: str, open_page: Any
) -> None:
    page = open_page(large)
    drawn = """() => [...window.bayleaf.page.map.cards.values()]
      .map((card) => card.mask !== undefined)"""
    whole = "window.bayleaf.page.map.setDistance(Infinity)"
    at_once = page.evaluate(f"() => {{ {whole}; return ({drawn})(); }}")
    assert 0 < sum(at_once) < 200
    page.wait_for_function("() => !window.bayleaf.page.isPending")
    assert sum(page.evaluate(drawn)) == 200


def test_boxes_show_where_long_names_differ(open_page: Any) -> None:
    names = [f"the same long beginning of column {end}" for end in ("one", "two")]
    states = {name: ["no", "yes"] for name in names}
    tables = dict.fromkeys(names, np.array([0.5, 0.5]))
    network = BayesianNetwork.from_tables(states, tables, {})
    page = open_page(explorer_html(network), viewport={"width": 1280, "height": 800})
    shown = page.locator("#monitors .name")
    assert sorted(shown.all_inner_texts()) == ["the same…one", "the same…two"]
    for name in names:
        assert page.get_by_role("heading", name=name).count() >= 1


@pytest.fixture(scope="module")
def network() -> BayesianNetwork:
    """A variable of five values that a finding turns round, and one of three."""
    states = {"cause": ["no", "yes"], "blood pressure": ["A", "B", "C", "D", "E"]}
    likely = np.array([0.4, 0.25, 0.2, 0.1, 0.05])
    tables = {"cause": np.array([0.9, 0.1]), "blood pressure": [likely, likely[::-1]]}
    return BayesianNetwork.from_tables(states, tables, {"blood pressure": ["cause"]})


def test_values_keep_their_order_whatever_is_known(
    network: BayesianNetwork, open_page: Any
) -> None:
    page = open_page(explorer_html(network))
    orders = []
    for state in (0, 1):
        page.evaluate("state => bayleaf.session.choose(0, state)", state)
        orders.append(page.locator(".answer-bar .label").all_inner_texts())
        for place in ("#chosen", "#monitors .card:has(#variable-1)"):
            labels = page.locator(f"{place} .label").all_text_contents()
            assert labels == ["A", "B", "C", "D", "E"]
    assert orders == [["A", "B", "C", "D"], ["B", "C", "D", "E"]]


@pytest.mark.parametrize("is_list", [True, False])
def test_marks_of_what_was_before_leave_texts_free(
    is_list: bool, network: BayesianNetwork, open_page: Any
) -> None:
    page = open_page(explorer_html(network), viewport={"width": 400, "height": 800})
    if not is_list:
        page.locator("#list").click()
        page.evaluate(ZOOM, 0.8)
    page.evaluate("bayleaf.session.choose(0, 1)")
    page.wait_for_function("() => !bayleaf.page.isPending")
    row = page.locator("#monitors .card:has(#variable-1) .state").first
    row.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    place = row.bounding_box()
    middle = place | {"y": place["y"] + place["height"] / 2 - 3, "height": 6}

    def images() -> list[bytes]:
        return [page.screenshot(clip=clip) for clip in (place, middle)]

    whole, text = images()
    page.evaluate(
        """() => document.querySelectorAll(".before").forEach((mark) => {
          mark.style.visibility = "hidden"; })"""
    )
    without = images()
    assert whole != without[0]
    assert text == without[1]
