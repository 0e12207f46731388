from __future__ import annotations

import math

import pytest

import sahami1996_page
from bayleaf.reproduction import sahami1996
from bayleaf.reproduction.cells import Cell, Result, Results
from bayleaf.reproduction.paper_tables import Sources
from bayleaf.reproduction.protocols import Verdict


def finished(cell: Cell) -> Result:
    """Figures that grow with k, on every cell."""
    folds = {f"fold {j}": 90.0 + j + cell.number("k") for j in range(10)}
    return Result(cell, {"accuracy": 94.5, "sd": 3.0, **folds}, "data folder")


def test_every_printed_figure_has_a_verdict() -> None:
    results = Results(map(finished, sahami1996.cells()))
    found = sahami1996.comparisons(results)
    assert len(found) == 48
    assert all(len(one.ours) == (1 if one.labels[0] == "Text" else 5) for one in found)
    assert Verdict.NOT_RUN not in {one.verdict for one in found}
    (corral,) = [one for one in found if one.labels == ("Corral", "3", "-")]
    assert corral.verdict == Verdict.NOT_IDENTIFIABLE
    assert corral.printed_sd == pytest.approx(17.2 / math.sqrt(10))


def test_a_page_of_nothing_says_that_nothing_was_run() -> None:
    page = sahami1996_page.page(Results([]))
    assert page.count("not run") == 39
    assert "## Corral" not in page


def test_the_page_tells_what_cannot_come_out() -> None:
    page = sahami1996_page.page(Results(map(finished, sahami1996.cells())))
    assert "## Corral at k = 3 without a threshold" in page
    for smoothing in sahami1996.SMOOTHINGS:
        assert f"| {smoothing} |" in page
    assert page.count("5 of 5") + page.count("0 of 5") == 30


def test_short_runs_leave_the_text_to_the_full_one() -> None:
    quick = [cell for cell in sahami1996.cells() if cell.quick]
    assert {cell["set"] for cell in quick} == set(sahami1996.TABLES)
    assert len(quick) < 100


def test_corral_is_learned_with_one_dependence() -> None:
    wanted = {"set": "Corral", "threshold": None, "smoothing": "laplace", "seed": 0}
    (cell,) = [c for c in sahami1996.cells() if c.fits({**wanted, "k": 1})]
    figures = sahami1996.run(cell, Sources(None))
    assert figures["accuracy"] == pytest.approx(
        sum(figures[f"fold {j}"] for j in range(10)) / 10
    )
    assert figures["accuracy"] > 96.0
