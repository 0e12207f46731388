"""Predictions of tables beyond memory: part by part, whole, and going on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf import (
    AveragedKDBRegressor,
    BayesianNetworkEstimator,
    NaiveBayesClassifier,
    TANClassifier,
    predict_to_folder,
)
from bayleaf.predictions import prediction_files
from offenders import check_each
from oracles.batched_tables import reader, the_table


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return the_table(400)


@pytest.fixture(scope="module")
def model(table: pa.Table) -> TANClassifier:
    return TANClassifier().fit(table, target="label")


def in_files(table: pa.Table, folder: Path) -> Path:
    """The table in three Parquet files."""
    folder.mkdir()
    for i in range(3):
        piece = table.slice(150 * i, 150)
        pa_parquet.write_table(piece, folder / f"{i}.parquet")
    return folder


def predicted(folder: Path) -> pa.Table:
    """All predictions of a folder."""
    return pa.concat_tables(
        pa_parquet.read_table(path) for path in sorted(folder.glob("*.parquet"))
    )


def check(found: pa.Table, model: Any, table: pa.Table) -> None:
    """The predictions are those of the model for the table in memory."""
    features = table.drop_columns(["label"])
    probabilities = model.predict_proba(features)
    for label, column in zip(model.classes_, probabilities.T, strict=True):
        np.testing.assert_array_equal(found[f"probability_{label}"], column)
    assert found["prediction"].to_pylist() == model.predict(features).tolist()
    assert found.column_names[: table.num_columns] == table.column_names


def test_every_file_of_a_table_gets_a_file_of_predictions(
    table: pa.Table, model: TANClassifier, tmp_path: Path
) -> None:
    source, out = in_files(table, tmp_path / "in"), tmp_path / "out"
    done = predict_to_folder(model, source, out)
    assert (done.n_files, done.n_rows, done.n_kept) == (3, 400, 0)
    check(predicted(out), model, table)
    again = predict_to_folder(model, source, out)
    assert (again.n_files, again.n_rows, again.n_kept) == (0, 0, 3)


@pytest.mark.parametrize("make", ["reader", "lazy", "dataset", "frame"])
def test_tables_that_are_no_files_are_cut_into_files(
    make: str, table: pa.Table, model: TANClassifier, tmp_path: Path
) -> None:
    folder = in_files(table, tmp_path / "in")

    def check_files(size: int) -> None:
        source = {
            "reader": reader(table, 77),
            "lazy": pl.scan_parquet(folder),
            "dataset": pa_dataset.dataset(folder),
            "frame": table,
        }[make]
        out = tmp_path / f"out {size}"
        done = predict_to_folder(model, source, out, rows_per_file=size)
        assert (done.n_files, done.n_rows) == (-(-400 // size), 400)
        files = sorted(out.glob("*.pa*"))
        lengths = [pa_parquet.read_metadata(path).num_rows for path in files]
        assert lengths == [size] * (400 // size) + [400 % size] * bool(400 % size)
        check(predicted(out), model, table)

    check_each([64, 100, 1000], check_files)


@pytest.mark.parametrize("in_parts", [True, False])
def test_an_interrupted_prediction_goes_on(
    in_parts: bool,
    table: pa.Table,
    model: TANClassifier,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, out = in_files(table, tmp_path / "in"), tmp_path / "out"
    source: Any = folder if in_parts else pl.scan_parquet(folder)
    write, n_written = prediction_files._write, 0

    def interrupted(target: Path, batches: Any) -> int:
        nonlocal n_written
        n_written += 1
        if n_written == 3:
            # In the middle of a file.
            return write(target, _cut_off(batches))
        return write(target, batches)

    with monkeypatch.context() as patch:
        patch.setattr(prediction_files, "_write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            predict_to_folder(model, source, out, rows_per_file=150)
    assert sorted(p.suffix for p in out.iterdir()) == [".json", ".parquet", ".parquet"]
    before = [p.stat().st_mtime_ns for p in sorted(out.glob("*.parquet"))]
    done = predict_to_folder(model, source, out, rows_per_file=150)
    assert (done.n_files, done.n_rows, done.n_kept) == (1, 100, 2)
    assert [p.stat().st_mtime_ns for p in sorted(out.glob("*.parquet"))][:2] == before
    check(predicted(out), model, table)


def _cut_off(batches: Any) -> Any:
    yield next(batches)
    raise KeyboardInterrupt


def test_partitions_stay_partitions(table: pa.Table, tmp_path: Path) -> None:
    model = NaiveBayesClassifier().fit(table, target="label")
    pa_dataset.write_dataset(
        table,
        tmp_path / "in",
        format="parquet",
        partitioning=["few"],
        partitioning_flavor="hive",
    )
    done = predict_to_folder(model, tmp_path / "in", tmp_path / "out")
    assert done.n_rows == 400
    folders = {path.parent.name for path in (tmp_path / "out").rglob("*.parquet")}
    assert folders == {f"few={i}" for i in range(-2, 4)}
    found = pa_dataset.dataset(tmp_path / "out", partitioning="hive").to_table()
    rows = {row["wide"]: row for row in found.to_pylist()}
    expected = model.predict_proba(table.drop_columns(["label"]))[:, 1]
    for row, probability in zip(table.to_pylist(), expected, strict=True):
        assert rows[row["wide"]]["probability_pos"] == probability
        assert rows[row["wide"]]["few"] == row["few"]


def test_unknown_values_of_all_files_are_counted(
    table: pa.Table, model: TANClassifier, tmp_path: Path
) -> None:
    odd = table.set_column(0, "text", pa.array(["new"] * 7 + ["x"] * 393))
    few = reader(odd.slice(0, 30), 10)
    done = predict_to_folder(model, few, tmp_path / "out", rows_per_file=3)
    assert done.unknown == {"text": 7}


def test_csv_files_are_predicted_too(tmp_path: Path) -> None:
    plain = the_table(100).select(["text", "few", "number", "label"])
    model = NaiveBayesClassifier().fit(plain, target="label")
    pa_csv.write_csv(plain, tmp_path / "t.csv")
    predict_to_folder(model, tmp_path / "t.csv", tmp_path / "out")
    found = pa_parquet.read_table(tmp_path / "out" / "t.parquet")
    check(found, model, plain)


@pytest.mark.slow
def test_a_numeric_target_gets_quantiles(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    frame = pa.table({"x": x, "z": rng.choice(["a", "b"], 60)})
    model = AveragedKDBRegressor(random_state=0).fit(frame, x + rng.normal(size=60))
    predict_to_folder(model, frame, tmp_path / "out")
    found = predicted(tmp_path / "out")
    np.testing.assert_array_equal(found["prediction"], model.predict(frame))
    assert found.column_names[-2:] == ["quantile_0.5", "quantile_0.95"]


def test_what_cannot_be_predicted_is_said(
    table: pa.Table, model: TANClassifier, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    predict_to_folder(model, table, out, rows_per_file=200)
    for changed in (
        {"model": NaiveBayesClassifier().fit(table, target="label")},
        {"probabilities": False},
        {"rows_per_file": 100},
    ):
        with pytest.raises(ValueError, match="holds predictions of another model, or"):
            predict_to_folder(
                **{"model": model, "rows_per_file": 200, **changed},
                table=table,
                folder=out,
            )
    less = table.rename_columns(["texts", *table.column_names[1:]])
    more = table.append_column("prediction", table["few"])
    with pytest.raises(ValueError, match=r"has no column 'text'; did you mean"):
        predict_to_folder(model, less, tmp_path / "less")
    with pytest.raises(ValueError, match="has no rows"):
        predict_to_folder(model, table.slice(0, 0), tmp_path / "none")
    with pytest.raises(ValueError, match="a column 'prediction' already"):
        predict_to_folder(model, more, tmp_path / "more")
    both = [tmp_path / "a.csv", tmp_path / "a.parquet"]
    for path in both:
        path.touch()
    with pytest.raises(ValueError, match="would be predicted into"):
        predict_to_folder(model, both, out)
    with pytest.raises(TypeError, match="takes a fitted classifier or regressor"):
        predict_to_folder(BayesianNetworkEstimator(), table, out)
    with pytest.raises(ValueError, match="rows_per_file"):
        predict_to_folder(model, table, out, rows_per_file=0)


@pytest.mark.slow
def test_a_full_disk_is_said_and_leaves_no_half_file(
    table: pa.Table, model: TANClassifier, tmp_path: Path
) -> None:
    pytest.importorskip("resource")
    source = in_files(table, tmp_path / "in")
    program = (
        "import resource, signal, sys, bayleaf\n"
        "model = bayleaf.load(sys.argv[1])\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "bayleaf.predict_to_folder(model, sys.argv[2], sys.argv[3] + '0')\n"
        "from bayleaf.predictions import folder\n"
        "folder._digest = lambda model: 'same'\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9000,) * 2)\n"
        "try:\n"
        "    bayleaf.predict_to_folder(model, sys.argv[2], sys.argv[3])\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    model.save(tmp_path / "m.json")
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "m.json", source, tmp_path / "out"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert done.stdout.count("\n") == 1
    assert "the disk has no room; make room and run it again" in done.stdout
    assert done.stderr == ""
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["_bayleaf.json"]


def test_a_replaced_file_is_predicted_again(
    table: pa.Table,
    model: TANClassifier,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, out = in_files(table, tmp_path / "in"), tmp_path / "out"
    predict_to_folder(model, source, out)
    state = os.stat(source / "0.parquet")
    # Files that are moved, or copied with their times, may be older than predictions.
    pa_parquet.write_table(table.slice(0, 10), tmp_path / "older")
    os.utime(tmp_path / "older", (1e9, 1e9))
    os.replace(tmp_path / "older", source / "0.parquet")
    done = predict_to_folder(model, source, out)
    assert (done.n_files, done.n_rows, done.n_kept) == (1, 10, 2)
    # One of the same size and time differs in its content.
    swapped = pa.concat_tables([table.slice(5, 5), table.slice(0, 5)])
    pa_parquet.write_table(swapped, source / "0.parquet")
    before = (source / "0.parquet").read_bytes()
    os.utime(source / "0.parquet", ns=(state.st_atime_ns, state.st_mtime_ns))
    assert predict_to_folder(model, source, out).n_files == 1
    (source / "0.parquet").write_bytes(before)
    os.utime(source / "0.parquet", ns=(state.st_atime_ns, state.st_mtime_ns))
    assert predict_to_folder(model, source, out).n_files == 0
    check(pa_parquet.read_table(out / "0.parquet"), model, swapped)
    # One cell amid a long file may be all that differs.
    content = (source / "0.parquet").read_bytes()
    monkeypatch.setattr("bayleaf.streams.batch_sources._END_BYTES", 4)
    where = content.index(b"PAR1") + 4
    changed = bytes([*content[:where], content[where] ^ 1, *content[where + 1 :]])
    (source / "0.parquet").write_bytes(changed)
    os.utime(source / "0.parquet", ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises((OSError, ValueError), match=r"0\.parquet"):
        predict_to_folder(model, source, out)


def test_predictions_of_deleted_files_are_removed(
    table: pa.Table, model: TANClassifier, tmp_path: Path
) -> None:
    source, out = in_files(table, tmp_path / "in"), tmp_path / "out"
    (source / "more").mkdir()
    os.replace(source / "2.parquet", source / "more" / "2.parquet")
    predict_to_folder(model, source, out)
    for name in ("0.parquet", "1.parquet"):
        (source / name).unlink()
    (out / "mine.parquet").write_bytes(b"")
    done = predict_to_folder(model, source, out)
    assert (done.n_removed, done.n_files, done.n_kept) == (2, 0, 1)
    names = {path.name for path in out.rglob("*.parquet")}
    assert names == {"2.parquet", "mine.parquet"}


def test_predictions_of_other_files_stay(
    table: pa.Table, model: TANClassifier, tmp_path: Path
) -> None:
    source, out = in_files(table, tmp_path / "in"), tmp_path / "out"
    predict_to_folder(model, source, out)
    done = predict_to_folder(model, [source / "1.parquet"], out)
    assert (done.n_removed, done.n_files, done.n_kept) == (0, 0, 1)


def test_predictions_are_not_written_into_the_table(
    table: pa.Table, model: TANClassifier, tmp_path: Path
) -> None:
    source = in_files(table, tmp_path / "in")
    (tmp_path / "disk2" / "inner").mkdir(parents=True)
    pa_parquet.write_table(table, tmp_path / "disk2" / "inner" / "more.parquet")
    os.symlink(tmp_path / "disk2", source / "part2")

    def refuse(case: tuple[Any, Path]) -> None:
        with pytest.raises(ValueError, match="would be read as files of the table"):
            predict_to_folder(model, *case)
        assert not (source / "out").exists()
        assert not (tmp_path / "disk2" / "out").exists()

    check_each(
        [
            (source, source / "out"),
            (source, source),
            (f"{source}/**/*.parquet", source / "out"),
            (f"{tmp_path}/*/*.parquet", source / "out"),
            ([source / "0.parquet"], tmp_path),
            (source, tmp_path / "disk2" / "out"),
            (f"{source}/**/*.parquet", tmp_path / "disk2" / "out"),
        ],
        refuse,
    )
    done = predict_to_folder(model, f"{source}/*.parquet", source / "out")
    assert done.n_rows == 400


def test_half_written_predictions_are_removed(
    table: pa.Table, model: TANClassifier, tmp_path: Path
) -> None:
    source, out = in_files(table, tmp_path / "in"), tmp_path / "out"
    out.mkdir()
    for _ in range(2):
        (out / "._bayleaf.json.0123abcd.part").touch()
        predict_to_folder(model, source, out)
        assert {path.suffix for path in out.iterdir()} == {".json", ".parquet"}


def test_classes_of_the_same_text_are_not_written(tmp_path: Path) -> None:
    table = pa.table({"x": [*"abc"] * 10})
    model = NaiveBayesClassifier().fit(table, [1, "1", 2] * 10)
    with pytest.raises(ValueError, match="two classes are written as '1'"):
        predict_to_folder(model, table, tmp_path / "out")
