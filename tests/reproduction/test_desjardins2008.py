from __future__ import annotations

from typing import Any

import pytest

import desjardins2008_page
from bayleaf.reproduction import desjardins2008
from bayleaf.reproduction.cells import Cell, Result, Results
from bayleaf.reproduction.paper_tables import Sources
from bayleaf.reproduction.protocols import Verdict


def finished(cell: Cell) -> Result:
    """Figures that grow with the fold."""
    fold = cell.number("fold")
    figures = {"log_likelihood": -25000.0 - fold, "parameters": 200.0 + fold}
    return Result(cell, figures | {"edges": 10.0, "bits": 1e5}, "data folder")


@pytest.fixture(scope="module")
def results() -> Results:
    return Results(map(finished, desjardins2008.cells()))


@pytest.fixture(scope="module")
def whole_page(results: Results) -> str:
    """The page of all results; each of its figures is searched for among all."""
    return desjardins2008_page.page(results)


def _cell(**wanted: Any) -> Cell:
    (cell,) = [c for c in desjardins2008.cells() if c.fits(wanted)]
    return cell


def test_every_printed_figure_has_a_verdict(results: Results) -> None:
    found = desjardins2008.comparisons(results)
    # Nine methods on three sets, four of them with five sizes: three figures each.
    assert len(found) == 3 * (9 * 3 + 4 * 5)
    assert {len(one.ours) for one in found} == {5}
    unlike = {one.labels[2] for one in found if one.reason}
    assert unlike == {"log-likelihood"}
    assert Verdict.NOT_RUN not in {one.verdict for one in found}


def test_every_printed_likelihood_is_above_its_bound(results: Results) -> None:
    found = [one for one in desjardins2008.comparisons(results) if one.reason]
    assert len(found) == 9 * 3 + 4 * 5
    for one in found:
        name = one.labels[0].split(",")[0]
        assert one.printed > desjardins2008.HIGHEST[name] + 1000.0


def test_fewer_parameters_are_better(results: Results) -> None:
    found = {one.labels: one for one in desjardins2008.comparisons(results)}
    # The paper has 272.0 of FLAT and 161.5 of TABS-L, ours are 202 here.
    verdicts = [
        found["nursery", method, "parameters"].verdict
        for method in ("FLAT", "TABS-L hamming")
    ]
    assert verdicts == [Verdict.BETTER, Verdict.WORSE]


def test_protocols_are_not_mixed(results: Results) -> None:
    short = desjardins2008.mean(results, "adult", "FLAT", 2)
    full = desjardins2008.mean(results, "adult", "FLAT", 5)
    assert (short.parameters, full.parameters) == (200.5, 202.0)


def test_an_unfinished_protocol_has_no_means(results: Results) -> None:
    quick = Results(result for result in results if result.cell.quick)
    page = desjardins2008_page.page(quick)
    assert "| FLAT | - | - | -25169 / 173 / 7.6 |" in page
    assert "cannot be those of a distribution" in page


@pytest.mark.slow
def test_the_page_sets_means_beside_those_expected(whole_page: str) -> None:
    page = whole_page
    assert "| FLAT | -25002 / 202 / 10.0 | +0.66 | -25169 / 173 / 7.6 |" in page
    assert "| mushroom | +0 | 1.00 to 1.00 | 1.00 | 1.00 | 1.00 | +0 |" in page
    assert "-127.54 below" in page


def test_given_hierarchies_are_not_made_up() -> None:
    cell = _cell(set="mushroom", method="ABS-E", restarts=3, fold=0)
    figures = desjardins2008.run(cell, Sources(None))
    assert figures == {}
    page = desjardins2008_page.page(Results([Result(cell, figures, "shipped")]))
    assert "were not there (avh/mushroom.json of the data folder)" in page


@pytest.mark.slow
def test_a_page_with_all_hierarchies_misses_none(whole_page: str) -> None:
    assert "hierarchies of values were not there" not in whole_page


def test_the_shipped_mushroom_table_has_the_complete_rows() -> None:
    table = desjardins2008.load(Sources(None), "mushroom")
    assert table.shape == (5644, 23)


def test_folds_are_dealt_once_and_hold_every_row() -> None:
    deals = [desjardins2008.deal(23, fold) for fold in range(5)]
    tests = [row for _, test_rows in deals for row in test_rows.tolist()]
    assert sorted(tests) == list(range(23))
    for rows, test_rows in deals:
        assert sorted([*rows.tolist(), *test_rows.tolist()]) == list(range(23))


def test_more_rows_hold_those_of_fewer() -> None:
    rows, _ = desjardins2008.deal(1000, 3)
    few, many = (desjardins2008.some_of(rows, size, 3) for size in (100, 300))
    assert len(few) == 100
    assert len(many) == 300
    assert set(few.tolist()) < set(many.tolist()) < set(rows.tolist())


def test_short_runs_have_one_fold_of_every_set() -> None:
    quick = [cell for cell in desjardins2008.cells() if cell.quick]
    assert {cell["set"] for cell in quick} == set(desjardins2008.SETS)
    assert {cell["fold"] for cell in quick} == {0}
