"""Networks and intervals as SVG."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from bayleaf.pictures.svg import (
    Interval,
    bars_svg,
    density_bins,
    intervals_svg,
    network_svg,
    steps_svg,
)


def structure(
    kinds: str, arcs: list[tuple[int, int, float | None]], **others: Any
) -> dict[str, Any]:
    """A structure with a node for each letter: f, l, or c."""
    names = {"f": "feature", "l": "latent", "c": "class"}
    return {
        "nodes": [
            {"name": f"node_{place}", "kind": names[kind]}
            for place, kind in enumerate(kinds)
        ],
        "arcs": [{"parent": p, "child": c, "weight": w} for p, c, w in arcs],
        "n_arcs_left_out": 0,
        **others,
    }


def test_parents_stand_above_their_children() -> None:
    svg, note = network_svg(structure("fff", [(0, 1, None), (1, 2, None)]))
    heights = [float(y) for y in re.findall(r'<rect x="[\d.]+" y="([\d.]+)"', svg)]
    assert heights == sorted(heights)
    assert len(set(heights)) == 3
    assert svg.count('class="arc"') == 2
    assert note == ""


def test_arcs_of_a_class_over_many_features_are_told_instead() -> None:
    arcs: list[tuple[int, int, float | None]] = [(9, child, None) for child in range(9)]
    alone, note = network_svg(structure("fffffffffc", arcs))
    assert alone.count('class="arc light"') == 9
    assert note == ""
    among, note = network_svg(structure("fffffffffc", [*arcs, (0, 1, None)]))
    assert among.count("marker-end") == 1
    assert "parent of 9 of the variables" in note


def test_the_heaviest_arcs_of_averages_are_drawn() -> None:
    arcs: list[tuple[int, int, float | None]] = [
        (p, c, 1.0 / (1 + p + c)) for p in range(8) for c in range(8) if p < c
    ]
    ranked = sorted(arcs, key=lambda arc: -(arc[2] or 0))
    svg, note = network_svg(structure("ffffffff", ranked, n_arcs_left_out=5))
    assert svg.count("marker-end") == 12
    assert note == "The heaviest 12 of 33 arcs are drawn."


def test_too_many_nodes_are_not_drawn() -> None:
    assert network_svg(structure("f" * 151, [])) == (
        "",
        "A picture of 151 variables could not be read.",
    )


def test_long_names_are_whole_on_higher_nodes_and_beside_intervals() -> None:
    found = structure("ff", [(0, 1, None)])
    name = "share_of_days_in_hospital_within_the_last_twelve_months"
    found["nodes"][0]["name"] = name
    svg, _ = network_svg(found)
    heights = [float(h) for h in re.findall(r'height="([\d.]+)" rx', svg)]
    assert heights[0] > heights[1] == 38
    for picture in (svg, intervals_svg("t", [name.replace("_", " "), "b"], SERIES)):
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
        assert name.replace("_", " ") in " ".join(texts)


def test_letters_with_accents_are_as_wide_as_those_without() -> None:
    nodes = [{"name": "Höhe für Größe", "kind": "feature"}]
    drawn = {"nodes": nodes, "arcs": [], "n_arcs_left_out": 0}
    assert "textLength" not in network_svg(drawn)[0]
    nodes[0]["name"] = "高さと大きさと幅と高さと"
    assert "textLength" in network_svg(drawn)[0]


def test_long_words_break_in_the_middle() -> None:
    svg = intervals_svg("Rates", ["Beratungsgespräche laut Ur-Mietvertrag-Neu"], [])
    texts = [text for text in re.findall(r">([^<>]+)</text>", svg) if "%" not in text]
    assert texts == ["Beratungsgespräche", "laut Ur-", "Mietvertrag-Neu"]
    svg, _ = network_svg(
        {
            "nodes": [
                {
                    "name": "Beratungsgespräch_über Rückzahlungsverhalten",
                    "kind": "feature",
                }
            ],
            "arcs": [],
            "n_arcs_left_out": 0,
        }
    )
    assert re.findall(r">([^<>]+)</text>", svg) == [
        "Beratungsgespräch",
        "über Rückzahlung",
        "sverhalten",
    ]


def test_names_are_escaped_on_the_node_and_in_its_title() -> None:
    found = structure("f", [])
    found["nodes"][0]["name"] = "<b>a very long name of a column</b> & more"
    svg, _ = network_svg(found)
    assert "<b>" not in svg
    assert "<title>&lt;b&gt;a very long name of a column&lt;/b&gt; &amp; more" in svg
    assert max(map(len, re.findall(r">([^<]*)</text>", svg))) < 40


SERIES = [
    ("found", [Interval(0.5, 0.25, 0.75), Interval(None, None, None)]),
    ("selected", [Interval(0.0, 0.0, 0.1), Interval(1.0, None, None)]),
]


def drawn(names: list[str]) -> ElementTree.Element:
    """The image as a tree."""
    return ElementTree.fromstring(
        re.sub(r"^<p>.*?</p>", "", intervals_svg("t", names, SERIES))
    )


def test_points_stand_where_their_shares_are() -> None:
    centres = [float(c.get("cx")) for c in drawn(["a", "b"]).iter("circle")]
    start, end = sorted(centres)[0], sorted(centres)[-1]
    assert sorted((c - start) / (end - start) for c in centres) == [0.0, 0.5, 1.0]


def test_a_share_that_is_not_known_has_no_point() -> None:
    assert len(list(drawn(["a", "b"]).iter("circle"))) == 3


def test_names_are_text() -> None:
    texts = [t.text for t in drawn(["<script>", "b"]).iter("text")]
    assert "<script>" in texts
    assert "<script>" not in intervals_svg("<script>", ["<script>", "b"], SERIES)


def test_rows_of_unequal_intervals_are_drawn_per_unit() -> None:
    bins = density_bins([0.0, 1.0, 5.0, 5.01, 10.0], [4.0, 8.0, 1.0, 19.0])
    assert bins == [(0.0, 1.0, 4.0), (1.0, 5.0, 2.0), (5.0, 10.0, 4.0)]
    svg = steps_svg("age", [0.5, -0.5, 0.1], [4.0, 8.0], [0.0, 1.0, 5.0])
    heights = re.findall(r'class="rows".*?height="([\d.]+)"', svg)
    assert [float(height) for height in heights] == [26.0, 13.0]
    assert "missing: +0.10" in svg
    assert svg.count("H222.0") == 2


def test_drawings_of_several_features_share_a_scale() -> None:
    span = (-4.0, 4.0)
    widths = []
    for values in ([-1.0, 2.0], [-4.0, 4.0]):
        svg = bars_svg("x", [(str(v), v, "") for v in values], span)
        rects = re.findall(r'<rect.*?width="([\d.]+)"', svg)
        widths += [float(width) for width in rects]
    assert [w / widths[3] for w in widths] == pytest.approx([0.25, 0.5, 1, 1], abs=0.01)
    heights = []
    for values in ([-1.0, 1.0], [-4.0, 4.0]):
        svg = steps_svg("x", values, [1.0, 1.0], [0.0, 1.0, 2.0], span=span)
        (curve,) = re.findall(r'class="steps" d="(.*?)"', svg)
        low, high = (float(y) for y in re.findall(r" ([\d.]+)H", curve))
        heights.append(low - high)
    assert heights[1] == pytest.approx(4 * heights[0], abs=0.2)


def test_nodes_have_a_bar_for_each_state_and_count_those_left_out() -> None:
    found = structure("ff", [(0, 1, None)])
    found["nodes"][0]["bars"] = [("no", 0.25), ("yes", 0.75)]
    found["nodes"][1]["bars"] = [(f"s{i}", 0.1) for i in range(10)]
    svg, _ = network_svg(found)
    widths = [float(w) for w in re.findall(r'class="state".*?width="([\d.]+)"', svg)]
    box = float(re.findall(r'<rect x="[^>]*?width="([\d.]+)"', svg)[0])
    assert widths[:2] == pytest.approx([0.25 * (box - 8), 0.75 * (box - 8)], abs=0.06)
    assert len(widths) == 2 + 6
    assert "75.0 %" in svg
    assert "and 4 other states" in svg


def test_boxes_with_bars_are_as_wide_as_their_texts() -> None:
    boxes = []
    for state in ("no", "a state of many words"):
        found = structure("ff", [(0, 1, None)])
        for node in found["nodes"]:
            node["bars"] = [(state, 0.25), ("yes", 0.75)]
        svg, _ = network_svg(found)
        boxes.append(float(re.findall(r'<rect x="[^>]*?width="([\d.]+)"', svg)[0]))
    assert 70 < boxes[0] < 100
    assert 140 < boxes[1] <= 160


def test_drawings_with_bars_that_a_telephone_would_scroll_are_marked() -> None:
    def is_broad(n_children: int, bars: Any) -> bool:
        arcs = [(0, i + 1, None) for i in range(n_children)]
        svg, _ = network_svg(structure("f" * (n_children + 1), arcs) | bars)
        return 'class="network broad"' in svg

    nodes = [{"name": "a", "kind": "feature", "bars": [("yes", 0.4), ("no", 0.6)]}]
    assert is_broad(7, {"nodes": 8 * nodes})
    assert not is_broad(3, {"nodes": 4 * nodes})
    assert not is_broad(7, {})
