from __future__ import annotations

from pathlib import Path

import pytest

from bayleaf.reproduction.cells import Cell, CellStore, Result, Results
from offenders import check_each

CELLS = [
    Cell.of(["iris"], quick=k is None, set="iris", k=k, model="NB, flat", seed=seed)
    for k in (None, 1)
    for seed in range(2)
]


def store_in(folder: Path) -> CellStore:
    return CellStore(folder / "cells", folder / "paper.csv")


def result(cell: Cell, accuracy: float = 93.75) -> Result:
    return Result(cell, {"accuracy": accuracy, "sd": 1 / 3}, "data folder")


def test_cells_with_the_same_values_are_the_same_cell() -> None:
    assert Cell.of(["a"], quick=True, seed=0) == Cell.of(["b"], seed=0)
    assert Cell.of(["a"], seed=0) != Cell.of(["a"], seed=1)


def test_a_value_is_read_by_name() -> None:
    assert CELLS[0]["k"] is None
    assert CELLS[0].text("k") == ""
    assert CELLS[2].number("k") == 1
    with pytest.raises(TypeError, match=r"set of the cell .* is not an integer"):
        CELLS[0].number("set")


def test_names_that_differ_in_signs_alone_have_files_of_their_own() -> None:
    one, other = (Cell.of([], model=name) for name in ("HNB+", "HNB*"))
    assert one.file_name != other.file_name


def test_a_finished_cell_is_read_again_as_it_was_written(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write(result(CELLS[2]))
    found = store.read(CELLS)
    assert list(found) == [CELLS[2]]
    assert found[CELLS[2]].figures == {"accuracy": 93.75, "sd": 0.3333333333}
    assert found[CELLS[2]].origin == "data folder"


def test_the_table_holds_what_the_files_of_cells_hold(tmp_path: Path) -> None:
    first, second = store_in(tmp_path / "a"), store_in(tmp_path / "b")
    for cell in CELLS:
        first.write(result(cell))
    (tmp_path / "b").mkdir()
    found = first.read(CELLS)
    second.write_table(Results(found[cell] for cell in CELLS))
    assert second.read(CELLS) == found
    lines = second.table.read_text().splitlines()
    assert lines[0] == "set,k,model,seed,accuracy,sd,data"
    assert lines[1] == 'iris,,"NB, flat",0,93.75,0.3333333333,data folder'


def test_a_cell_s_own_file_outdoes_the_table(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write_table(Results([result(CELLS[0], 50.0)]))
    store.write(result(CELLS[0], 60.0))
    assert store.read(CELLS)[CELLS[0]].figures["accuracy"] == 60.0


def test_rows_of_cells_that_the_protocol_lacks_are_not_read(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write_table(Results(map(result, CELLS)))
    assert list(store.read(CELLS[:1])) == CELLS[:1]


def test_a_file_that_is_no_result_is_named(tmp_path: Path) -> None:
    def check(text: str) -> None:
        store = store_in(tmp_path)
        store.write(result(CELLS[0]))
        path = store.folder / CELLS[0].file_name
        path.write_text(text)
        with pytest.raises(ValueError, match=f"{path.name} is no result file"):
            store.read(CELLS)

    check_each(
        [
            "",
            "[]",
            '{"cell": {}}',
            '{"figures": {"a": "b"}}',
            '{"figures": {"a": NaN}, "data": "d"}',
        ],
        check,
    )


def test_a_table_of_something_else_is_refused(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.table.write_text("set,seed,accuracy\niris,0,93\n")
    with pytest.raises(ValueError, match=r"paper\.csv has no column 'k'"):
        store.read(CELLS)


def test_a_table_with_words_for_figures_is_refused(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.table.write_text("set,k,model,seed,accuracy,data\niris,,x,0,1,d\n")
    assert store.read(CELLS) == {}
    store.table.write_text('set,k,model,seed,accuracy,data\niris,,"NB, flat",0,?,d\n')
    with pytest.raises(ValueError, match="holds something that is no number"):
        store.read(CELLS)
    for figures in ("nan,d", "1,d,7"):
        store.table.write_text(
            f'set,k,model,seed,accuracy,data\niris,,"NB, flat",0,{figures}\n'
        )
        with pytest.raises(ValueError, match="holds something that is no number"):
            store.read(CELLS)


def test_the_table_of_a_run_without_data_is_no_obstacle_to_the_next(
    tmp_path: Path,
) -> None:
    store = store_in(tmp_path)
    store.write_table(Results([]))
    assert store.read(CELLS) == {}


def test_a_table_that_is_no_text_is_named(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.table.write_bytes(b"\xff\xfe\x00set")
    with pytest.raises(ValueError, match=r"paper\.csv is no CSV file of UTF-8 text"):
        store.read(CELLS)


def test_results_are_found_by_values() -> None:
    results = Results(result(cell, i) for i, cell in enumerate(CELLS))
    assert results.figures("accuracy", k=1).tolist() == [2.0, 3.0]
    assert results.figures("accuracy", k=None, seed=1).tolist() == [1.0]
    assert results.figures("brier", k=1).tolist() == []
    assert len(results.where(model="TAN")) == 0


def test_files_of_processes_that_were_stopped_are_removed(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.prepare()
    store.write(result(CELLS[0]))
    (store.folder / ".x.json.abc.part").write_text("{")
    store.remove_partial_files()
    names = {path.name for path in store.folder.iterdir()}
    assert names == {".gitignore", CELLS[0].file_name}
