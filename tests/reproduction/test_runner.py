from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from bayleaf.progress import listening
from bayleaf.reproduction.paper_tables import Sources, read_printed
from bayleaf.reproduction.protocols import Comparison
from bayleaf.reproduction.runner import Reproduction, comparison_table, number, write


def reproduction(folder: Path, *, quick: bool = False) -> Reproduction:
    return Reproduction("example", Sources(None), folder, quick=quick)


def test_every_cell_is_run_once(example: Any, tmp_path: Path) -> None:
    reproduction(tmp_path).run(1)
    assert example.runs == example.cells()
    reproduction(tmp_path).run(1)
    assert len(example.runs) == 6


def test_an_interrupted_run_goes_on_where_it_stopped(
    example: Any, tmp_path: Path
) -> None:
    example.stop_at = 4
    with pytest.raises(KeyboardInterrupt):
        reproduction(tmp_path).run(1)
    assert reproduction(tmp_path).open_cells() == example.cells()[4:]
    times = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.json")}
    assert len(times) == 4
    example.stop_at = None
    whole = reproduction(tmp_path)
    whole.run(1)
    write(whole)
    assert example.runs == example.cells()
    assert {p: p.stat().st_mtime_ns for p in times} == times
    uninterrupted = reproduction(tmp_path / "other")
    uninterrupted.run(1)
    write(uninterrupted)
    for name in ("example.csv", "example.md"):
        again = (tmp_path / "other" / name).read_bytes()
        assert (tmp_path / name).read_bytes() == again


def test_the_table_alone_keeps_finished_cells(example: Any, tmp_path: Path) -> None:
    first = reproduction(tmp_path)
    first.run(1)
    write(first)
    for path in (tmp_path / "cells" / "example").iterdir():
        path.unlink()
    assert reproduction(tmp_path).open_cells() == []


def test_a_short_run_is_the_beginning_of_a_long_one(
    example: Any, tmp_path: Path
) -> None:
    reproduction(tmp_path, quick=True).run(1)
    assert [cell["seed"] for cell in example.runs] == [0, 0]
    reproduction(tmp_path).run(1)
    assert len(example.runs) == 6
    assert len(reproduction(tmp_path, quick=True).results()) == 6


def test_how_far_it_is_gone_is_told_with_a_count(example: Any, tmp_path: Path) -> None:
    reproduction(tmp_path, quick=True).run(1)
    told: list[str] = []
    with listening(told.append):
        reproduction(tmp_path).run(1)
    assert told[0] == "example: 2 of 6 cells"
    assert re.fullmatch(r"example: 3 of 6 .* \(25 %, \d+ s left\)", told[1])
    assert told[-1] == "example: 6 of 6 cells, model KDB, k 1, seed 2"


def test_cells_without_their_table_are_not_run(example: Any, tmp_path: Path) -> None:
    example.needs = "adult"
    run = reproduction(tmp_path)
    run.run(1)
    assert run.wanted == []
    assert run.missing == ["adult"]
    write(run)
    page = (tmp_path / "example.md").read_text()
    assert "- adult: jbrownlee/Datasets; UCI Adult" in page
    assert "2 printed figures: 2 not run" in page


def test_figures_of_other_data_are_not_kept(example: Any, tmp_path: Path) -> None:
    run = reproduction(tmp_path)
    run.run(1)
    write(run)
    data = tmp_path / "data"
    (data / "small").mkdir(parents=True)
    (data / "small" / "corral.csv").write_text("a,class\n")
    other = Reproduction("example", Sources(data), tmp_path)
    assert other.open_cells() == example.cells()
    # Where the table is not there at all, what was finished counts.
    example.needs = "adult"
    assert len(reproduction(tmp_path).results()) == 6


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
