from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import langseth2006_page
from bayleaf.reproduction import langseth2006
from bayleaf.reproduction.cells import Result, Results
from bayleaf.reproduction.paper_tables import Sources, read_printed
from bayleaf.reproduction.protocols import Verdict


def results() -> Results:
    """The same accuracy on every cell."""
    return Results(
        Result(cell, {"accuracy": 80.0 + cell.number("seed")}, "data folder")
        for cell in langseth2006.cells()
    )


def test_every_printed_figure_has_a_verdict() -> None:
    found = langseth2006.comparisons(results())
    assert len(found) == 6 * 23
    assert Verdict.NOT_RUN not in {one.verdict for one in found}
    assert {len(one.ours) for one in found if one.labels[0] == "chess"} == {10}


def test_averages_are_over_seeds_that_all_sets_have() -> None:
    found = langseth2006.averages(results(), "NB")
    assert found == [80.0, 81.0, 82.0, 83.0, 84.0]
    some = Results(r for r in results() if r.cell["set"] != "chess")
    assert langseth2006.averages(some, "NB") == []


def test_printed_averages_are_those_of_the_printed_rows() -> None:
    for column, printed in langseth2006.PRINTED_AVERAGES.items():
        rows = read_printed("langseth_nielsen_2006_table2")
        mean = np.mean([float(row[column]) for row in rows])
        assert mean == pytest.approx(printed, abs=0.015)


@pytest.mark.parametrize(
    ("column", "printed", "expected"),
    [
        ("nb", 5e-12, 1.3e-5),
        ("tan", 6e-6, 6.9e-3),
        ("c5", 6e-11, 3.0e-5),
        ("nn", 0.02, 0.10),
    ],
)
def test_the_printed_p_values_cannot_come_of_the_printed_table(
    column: str, printed: float, expected: float
) -> None:
    rows = read_printed("langseth_nielsen_2006_table2")
    difference = [float(row["hnb"]) - float(row[column]) for row in rows]
    squares = [
        float(row["hnb_sd"]) ** 2 + float(row[f"{column}_sd"]) ** 2 for row in rows
    ]
    p, least = langseth2006_page.recomputed_p(column)
    assert p == pytest.approx(
        norm.sf(sum(difference) / np.sqrt(sum(squares))), rel=1e-9
    )
    assert p == pytest.approx(expected, rel=0.05)
    assert 4 * printed < least < p


def test_a_short_run_says_what_it_leaves_out() -> None:
    quick = Results(r for r in results() if r.cell.quick)
    page = langseth2006_page.page(quick)
    assert "Left out of this run: one hidden layer." in page
    assert "against decision tree |\n" in page


def test_the_neural_network_is_left_to_the_full_run() -> None:
    quick = {cell["model"] for cell in langseth2006.cells() if cell.quick}
    assert quick == set(langseth2006.MODELS) - {"one hidden layer"}


def test_words_of_another_copy_of_a_table_are_nominal() -> None:
    table = langseth2006.load(Sources(None), "heart")
    assert {"age", "st_depression"} <= set(table.numeric)
    assert not {"sex", "chest_pain"} & set(table.numeric)
    assert table.X.num_rows == len(table.y) == 270


@pytest.mark.parametrize("model", ["NB", "HNB algorithm3", "decision tree"])
def test_a_cell_has_the_same_figure_every_time(model: str) -> None:
    wanted = {"set": "monks-3", "model": model, "seed": 1}
    (cell,) = [c for c in langseth2006.cells() if c.fits(wanted)]
    first, second = (langseth2006.run(cell, Sources(None)) for _ in range(2))
    assert first == second
    assert 80.0 < first["accuracy"] <= 100.0
