"""Figures with their intervals as SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from bayleaf.pictures.intervals import Interval, intervals_svg

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
