"""Names in documents are text, whatever they hold."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.results.document import Document, Facts, Name, Table
from bayleaf.results.markdown import markdown_of
from bayleaf.wording import plain, shown_name
from offenders import check_each
from report.hostile import NAMES

markdown_it = pytest.importorskip(
    "markdown_it", reason="install markdown-it-py to test what Markdown comes to"
)

# All that a card is made of.
ALLOWED = {
    "root",
    "inline",
    "text",
    "text_special",
    "code_inline",
    "heading",
    "paragraph",
    "bullet_list",
    "list_item",
    "strong",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}
INJECTIONS = (
    "](javascript:alert(1))",
    "[a](javascript:alert(1))",
    "![x](http://example.invalid/x.png)",
    "<script>alert(1)</script>",
    "<http://example.invalid>",
    "a|b",
    "|",
    "a\\|b",
    "a\\\\|<img src=x>",
    "` |<img src=x onerror=1>",
    "``x`",
    "`",
    "```\ncode\n```",
    "name\n\n# heading\n\n- item",
    "| a | b |\n| --- | --- |\n| c | d |",
    "*bold* _and_ __more__ ~~gone~~",
    "&lt;b&gt; &#124; &amp;",
    "[ref]: http://example.invalid",
    "<!-- comment",
    "\\",
    "a\\",
    " ",
    "",
    "{{ 7 * 7 }} ${x} $y$",
)


def kinds_of(text: str) -> set[str]:
    """Kinds of everything that a reader of Markdown finds, HTML let through."""
    read = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table")
    found = set()
    for token in read.parse(text):
        for own in (token, *(token.children or ())):
            kind = own.type
            found.add(kind.removesuffix("_open").removesuffix("_close"))
    return found


def texts_of(text: str, kind: str) -> list[str]:
    """What a reader sees in each element of a kind."""
    read = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = read.parse(text)
    return [
        "".join(own.content for own in after.children or ())
        for before, after in itertools.pairwise(tokens)
        if before.type == f"{kind}_open" and after.type == "inline"
    ]


def card_of(name: str) -> str:
    """A small card that has a name everywhere."""
    heads = ("column", "value", "n")
    row = (Name(name), ("is ", Name(name), " and ", Name(name)), "1")
    table = Table(heads, (row, row), ("Table of ", Name(name)), n_words=2)
    parts = [
        Document("Part", [Facts([("Fact", Name(name))]), ("A ", Name(name), ".")]),
        Document("More", [table]),
        Document("Words", [Facts([("Fact", Name(name))])]),
    ]
    return markdown_of(Document(("Title of ", Name(name)), parts))


def assert_inert(name: str) -> None:
    """A card with a name is made of text alone, and shows the whole name."""
    text, shown = card_of(name), plain(shown_name(name), 80)
    assert kinds_of(text) <= ALLOWED
    assert texts_of(text, "h1") == []
    assert len(texts_of(text, "heading")) == 4
    cells = texts_of(text, "td")
    assert len(cells) == 6
    assert cells[2] == cells[5] == "1"
    # A run of spaces between bars alone is drawn, as nobody would see it.
    assert cells[0].replace("\N{OPEN BOX}", " ") == shown
    told = cells[1].replace("\N{OPEN BOX}", " ")
    assert told == f"is {shown} and {shown}"


def test_a_hostile_name_is_text() -> None:
    check_each([*INJECTIONS, *NAMES[:6], *NAMES[7:]], assert_inert, repr)


@settings(max_examples=60)
@given(st.text(st.sampled_from("\\`|*_[]()<>!&#~${}a.:/ \n-+=1\t"), max_size=12))
def test_any_signs_are_text(name: str) -> None:
    assert_inert(name)


@settings(max_examples=60)
@given(st.text(st.sampled_from("\\`|*_[]()<>!&#~${}a.:/ \n-+=1\t"), max_size=12))
def test_what_a_person_writes_is_text(words: str) -> None:
    facts = Facts([("Purpose", (words, "!"))])
    text = markdown_of(Document("Title", [Document("Part", [facts])]))
    assert kinds_of(text) <= ALLOWED
    (line,) = texts_of(text, "paragraph")
    assert line.split() == f"Purpose: {plain(words, 80)}!".split()


def test_addresses_are_no_links() -> None:
    text = markdown_of(Document("T", ["see http://a.b www.c.d"]))
    assert "http\\://a.b www\\.c.d" in text
