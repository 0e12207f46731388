from __future__ import annotations

import math

import pytest

from bayleaf.reproduction.paper_tables import read_printed
from bayleaf.reproduction.protocols import Comparison
from bayleaf.reproduction.verdict_page import comparison_table, number


def test_a_row_has_the_paper_s_figure_ours_and_the_verdict() -> None:
    table = comparison_table(
        [
            Comparison(("iris", "NB"), 94.0, 2.0, [93.0, 93.0]),
            Comparison(("dna", "NB"), 94.0, None, []),
            Comparison(("text", "NB"), 87.0, None, [82.25], "it is not published"),
        ],
        ["set", "model"],
    )
    assert table.splitlines() == [
        "| set | model | paper | ours | seeds | difference in sd | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| iris | NB | 94.0 ± 2.0 | 93.0 ± 0.0 | 2 | -0.5 | within 2 sd |",
        "| dna | NB | 94.0 | - | 0 | - | not run |",
        "| text | NB | 87.0 | 82.2 | 1 | - | not identifiable: it is not published |",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.04, "+0.0"), (1.25, "+1.2"), (math.nan, "-"), (math.inf, "no spread")],
)
def test_no_zero_has_a_sign_of_its_own(value: float, text: str) -> None:
    assert number(value, 1, signed=True) == text


def test_printed_tables_are_whole() -> None:
    assert len(read_printed("sahami_1996_table2")) == 24
    rows = read_printed("langseth_nielsen_2006_table2")
    assert len(rows) == 22
    assert rows[0]["dataset"] == "postop"
