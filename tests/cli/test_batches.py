"""Commands over folders and globs of files, and tables that are read in batches."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet
import pytest

import bayleaf
from bayleaf.classifiers.shared.stored_tables import Reading
from bayleaf.data.memory import size_in_bytes
from bayleaf.datasets import load_heart
from offenders import check_each

Run = Callable[..., Any]
DROPPED = load_heart().frame.column_names[5:-1]


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """The heart table in three Parquet files, one of them a folder below."""
    table = pa.Table.from_pandas(load_heart().frame.to_pandas(), preserve_index=False)
    (tmp_path / "parts" / "more").mkdir(parents=True)
    for i, name in enumerate(("a", "b", "more/c")):
        piece = table.slice(90 * i, 90)
        pa_parquet.write_table(piece, tmp_path / "parts" / f"{name}.parquet")
    pa_csv.write_csv(table, tmp_path / "heart.csv")
    return tmp_path / "parts"


def test_a_folder_fits_as_its_table(run: Run, parts: Path, tmp_path: Path) -> None:
    words = ("--target", "disease", "--model", "kdb", "--k", "2", "-o")
    pa_parquet.write_table(pa_parquet.read_table(parts), tmp_path / "whole.parquet")
    assert run("fit", tmp_path / "whole.parquet", *words, tmp_path / "1.json").code == 0
    done = run("fit", parts, *words, tmp_path / "2.json")
    assert done.code == 0
    assert "written to" in done.err
    one, two = ((tmp_path / f"{i}.json").read_bytes() for i in (1, 2))
    assert one == two


def test_csv_files_fit_as_a_glob(run: Run, parts: Path, tmp_path: Path) -> None:
    words = ("--target", "disease", "--model", "nb", "-o")
    csv = tmp_path / "heart.csv"
    assert run("fit", csv, *words, tmp_path / "1.json").code == 0
    for more in (["--memory", "1GB"], ["--store", tmp_path / "heart.codes"]):
        assert run("fit", csv, *more, *words, tmp_path / "2.json").code == 0
        one, two = (json.loads((tmp_path / f"{i}.json").read_text()) for i in (1, 2))
        assert one["model"] == two["model"]
    assert (tmp_path / "heart.codes").exists()


def test_many_files_are_predicted_into_a_folder(
    run: Run, parts: Path, tmp_path: Path
) -> None:
    model, out = tmp_path / "m.json", tmp_path / "out"
    assert (
        run("fit", parts, "--target", "disease", "--model", "nb", "-o", model).code == 0
    )
    first = run("predict", model, parts, "-o", out)
    assert (first.code, "3 files predicted" in first.err) == (0, True)
    found = pa_parquet.read_table(out / "more" / "c.parquet")
    assert found.num_rows == 90
    assert "prediction" in found.schema.names
    # What is there stays; what is not, or is older than its rows, is predicted.
    os.unlink(out / "b.parquet")
    before = (out / "a.parquet").stat().st_mtime_ns
    again = run("predict", model, parts, "-o", out)
    assert "1 file predicted" in again.err
    assert (out / "a.parquet").stat().st_mtime_ns == before
    later = before + 10**9
    os.utime(parts / "a.parquet", ns=(later, later))
    assert "1 file predicted" in run("predict", model, parts, "-o", out).err


def test_folders_of_others_are_left_alone(
    run: Run, parts: Path, tmp_path: Path
) -> None:
    model, other = tmp_path / "m.json", tmp_path / "o.json"
    for path, kind in ((model, "nb"), (other, "tan")):
        assert (
            run("fit", parts, "--target", "disease", "--model", kind, "-o", path).code
            == 0
        )
    assert run("predict", model, parts, "-o", tmp_path / "out").code == 0
    refused = run("predict", other, parts, "-o", tmp_path / "out")
    assert (refused.code, "of another model" in refused.err) == (2, True)
    refused = run("predict", model, parts, "-o", parts)
    assert (refused.code, "read as files of the table" in refused.err) == (2, True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    refused = run("predict", model, parts, "-o", tmp_path / "mine")
    assert (refused.code, "holds other files" in refused.err) == (2, True)
    refused = run("predict", model, parts, "-o", model)
    assert (refused.code, "name a folder" in refused.err) == (2, True)


UNREADABLE = [
    (["none/*.parquet"], "no file has such a name"),
    (["-", "--memory", "1GB"], "cannot be read in batches"),
    (["PARTS", "--memory", "much"], "must be a size such as 2GB"),
    (["PARTS", "--drop", "agee"], "did you mean age"),
    (["PARTS", "--model", "regressor"], "takes a table in memory"),
]


def test_what_cannot_be_read_in_batches_is_reported(
    run: Run, parts: Path, tmp_path: Path
) -> None:
    def check(case: tuple[list[str], str]) -> None:
        words, message = case
        data = [str(parts) if word == "PARTS" else word for word in words]
        done = run("fit", *data, "--target", "disease", "-o", tmp_path / "m.json")
        assert (done.code, message in done.err, done.err.count("\n")) == (2, True, 1)

    check_each(UNREADABLE, check)


def test_columns_can_be_left_out_of_batches(
    run: Run, parts: Path, tmp_path: Path
) -> None:
    model = tmp_path / "m.json"
    words = ("--target", "disease", "--drop", "age", "--model", "nb", "-o", model)
    assert run("fit", parts, *words).code == 0
    names = {variable["name"] for variable in json.loads(model.read_text())["domain"]}
    assert "age" not in names


def test_a_density_is_learned_from_a_folder_as_from_its_table(
    run: Run, parts: Path, tmp_path: Path
) -> None:
    # Fewer columns make the search short.
    drop = (word for name in DROPPED for word in ("--drop", name))
    words = ("--density", "--n-restarts", "1", *drop, "-o")
    pa_parquet.write_table(pa_parquet.read_table(parts), tmp_path / "whole.parquet")
    assert run("fit", tmp_path / "whole.parquet", *words, tmp_path / "1.json").code == 0
    store = tmp_path / "codes"
    for more in (["--memory", "2GB"], ["--store", store], ["--store", store]):
        done = run("fit", parts, *words, tmp_path / "2.json", *more)
        assert (done.code, "FLAT" in done.out) == (0, True)
        one, two = ((tmp_path / f"{i}.json").read_bytes() for i in (1, 2))
        assert one == two
    assert store.exists()


def test_partitions_are_columns_of_fits_and_predictions(
    run: Run, parts: Path, tmp_path: Path
) -> None:
    table = pa_parquet.read_table(parts)
    pa_dataset.write_dataset(
        table,
        tmp_path / "hive",
        format="parquet",
        partitioning=["sex"],
        partitioning_flavor="hive",
    )
    model, out = tmp_path / "m.json", tmp_path / "out"
    words = ("--target", "disease", "--model", "nb", "-o", model)
    assert run("fit", tmp_path / "hive", *words).code == 0
    done = run("predict", model, tmp_path / "hive", "-o", out)
    assert (done.code, "2 files predicted" in done.err) == (0, True)
    assert "not seen in training" not in done.err
    found = pa_dataset.dataset(out, partitioning="hive").to_table()
    assert found.num_rows == table.num_rows
    assert {path.parent.name[:4] for path in out.rglob("*.parquet")} == {"sex="}


def test_python_goes_on_with_what_the_command_line_began(
    run: Run, parts: Path, tmp_path: Path
) -> None:
    model, out = tmp_path / "m.json", tmp_path / "out"
    words = ("--target", "disease", "--model", "nb", "-o", model)
    assert run("fit", parts, *words).code == 0
    assert run("predict", model, parts, "-o", out).code == 0
    expected = pa_parquet.read_table(out / "b.parquet")
    os.unlink(out / "b.parquet")
    done = bayleaf.predict_to_folder(bayleaf.load(model), parts, out)
    assert (done.n_files, done.n_kept) == (1, 2)
    assert pa_parquet.read_table(out / "b.parquet").equals(expected)


def test_removed_predictions_are_reported(
    run: Run, parts: Path, tmp_path: Path
) -> None:
    model, out, table = tmp_path / "m.json", tmp_path / "out", tmp_path / "table"
    words = ("--target", "disease", "--model", "nb", "-o", model)
    assert run("fit", parts, *words).code == 0
    shutil.copytree(parts, table)
    assert run("predict", model, table, "-o", out).code == 0
    os.unlink(table / "b.parquet")
    done = run("predict", model, table, "-o", out)
    assert (done.code, "1 removed, whose tables were deleted" in done.err) == (0, True)


def test_a_disk_that_fills_up_in_predicting_is_said(
    run: Run, parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, out = tmp_path / "m.json", tmp_path / "out"
    words = ("--target", "disease", "--model", "nb", "-o", model)
    assert run("fit", parts, *words).code == 0

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(pa_parquet.ParquetWriter, "write_batch", full)
        done = run("predict", model, parts, "-o", out)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "the disk has no room; make room and run it again" in done.err
    assert [path.name for path in out.iterdir()] == ["_bayleaf.json"]
    assert run("predict", model, parts, "-o", out).code == 0


@pytest.mark.parametrize(
    ("memory", "rows"),
    [(None, 1_000_000), ("8KB", 10_000), ("2.4 GB", 3_750_000), ("1GiB", 1_677_721)],
)
def test_memory_bounds_the_rows(memory: str | None, rows: int) -> None:
    n_bytes = None if memory is None else size_in_bytes(memory, "--memory")
    assert Reading("y", None, 1_000_000, memory=n_bytes).row_limit(12) == rows
