"""Names stand on a card as text, whatever they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bayleaf.classifiers import CLASSIFIERS
from bayleaf.report import About, model_card, summarize
from bayleaf.wording import plain, shown_name
from report.hostile import NAMES, TARGET, hostile_table
from results.test_markdown import ALLOWED, kinds_of, texts_of


@pytest.fixture(scope="module")
def hostile_card() -> str:
    """The card of a model of a table whose names are all hostile."""
    table = hostile_table()
    model = CLASSIFIERS["nb"](random_state=0).fit(table[[*NAMES]], table[TARGET])
    table["a|b\n# c"] = ["x|<img>", "`y`", "](javascript:1)"] * (len(table) // 3)
    by = [NAMES[0], NAMES[1], "a|b\n# c"]
    summary = summarize(model, table, n_folds=2, by=by)
    return model_card(summary, About(purpose="<b>[x](y)</b>", source="a/`|.csv"))


def test_a_card_of_a_hostile_table_is_text(hostile_card: str) -> None:
    assert kinds_of(hostile_card) <= ALLOWED
    assert "\x00" not in hostile_card
    assert "\x1b" not in hostile_card
    titles = texts_of(hostile_card, "heading")
    assert len(titles) == 8
    assert titles[-1] == "What it cannot know"


def test_a_card_of_a_hostile_table_shows_its_names(hostile_card: str) -> None:
    cells = texts_of(hostile_card, "td")
    for name in NAMES:
        assert plain(shown_name(name), 80) in cells
    assert {"x|<img>", "`y`", "](javascript:1)"} <= set(cells)


def test_cards_of_all_kinds_are_well_formed(
    fitted: Callable[[str], Any], heart: Any
) -> None:
    summary = summarize(fitted("tan"), heart, n_folds=2, by="sex")
    text = model_card(summary, About(written="2026-01-02"))
    assert kinds_of(text) <= ALLOWED
    assert not any(line.endswith(" ") for line in text.splitlines())
