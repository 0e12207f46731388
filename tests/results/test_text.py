"""Documents as text: every part, within the width, without control characters."""

from __future__ import annotations

from bayleaf.results.document import Document, Facts, Figure, Items, Name, Table
from bayleaf.results.text import text_of


def test_every_part_has_its_layout() -> None:
    document = Document(
        "title",
        [
            Facts([("label", "value")]),
            Items(["a", "b", "c"], "list", max_items=2),
            Items(["d"]),
            Figure("<svg></svg>"),
            Table(
                ("name", "n"), [("x", "1"), ("y", "10"), ("z", "")], "table", max_rows=2
            ),
            "end",
        ],
    )
    assert text_of(document).splitlines() == [
        "title",
        "  label            value",
        "  list",
        "    a",
        "    b",
        "    and 1 more",
        "  - d",
        "",
        "table",
        "name           n",
        "----------------",
        "x              1",
        "y             10",
        "",
        "and 1 more",
        "",
        "end",
    ]


def test_long_lines_go_on_below_with_an_indent() -> None:
    words = " ".join(["word"] * 8)
    document = Document(words, [Items([words]), Items([words], "list")])
    assert text_of(document, 24).splitlines() == [
        "word word word word word",
        "word word word",
        "  - word word word word",
        "    word word word word",
        "  list",
        "    word word word word",
        "        word word word",
        "        word",
    ]


def test_wide_tables_repeat_their_names() -> None:
    table = Table(("name", "one", "two", "three"), [("x", "1" * 30, "2" * 30, "3" * 9)])
    lines = text_of(Document("", [table])).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split() for line in lines if line.startswith("name")] == [
        ["name", "one", "two"],
        ["name", "three"],
    ]


def test_control_characters_are_escaped() -> None:
    hostile = "\x1b[31m\n"
    name = (Name(hostile), " of ", hostile)
    parts = [name, Facts([(hostile, name)]), Items([name], hostile)]
    table = Table((hostile, hostile), [(name, hostile)], name)
    text = text_of(Document(hostile, [*parts, table]))
    assert "\x1b" not in text
    assert "\\x1b[31m\\n" in text


def test_long_names_are_whole_on_further_lines() -> None:
    name = "days in hospital given risk, age and most by month"
    table = Table(("name", "p"), [(name, "0.5"), ("b", "0.25")])
    assert text_of(Document("", [table])).splitlines()[2:] == [
        "days in hospital given risk, age and   0.5",
        "  most by month",
        "b                                     0.25",
    ]


def test_numbers_stay_with_their_sign_of_per_cent() -> None:
    lines = text_of(Document("", ["of the rows " * 6 + "that are 12.5 % of"])).split(
        "\n"
    )
    assert lines[1] == "12.5 % of"


def test_wide_terminals_have_room_for_long_names() -> None:
    name = "days in hospital given risk, age and most by month"
    table = Table(("name", "p"), [(name, "0.5")], "")
    assert name not in text_of(Document("", [table]))
    assert name in text_of(Document("", [table]), 100)
