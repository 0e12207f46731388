"""Readings that are killed, run out of room, or meet a file that is not theirs."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf import NaiveBayesClassifier, TANClassifier
from bayleaf.data.code_store import CodeStore
from bayleaf.files import locked
from bayleaf.streams import spilling
from offenders import check_each
from oracles.batched_tables import SLOW_FIT, in_memory, same_file, the_table


# Fits in small steps, and pauses in each so that it can be hit.
@pytest.fixture
def path(tmp_path: Path) -> Path:
    pa_parquet.write_table(the_table(), tmp_path / "t.parquet", row_group_size=120)
    return tmp_path / "t.parquet"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_reading_goes_on_where_it_was(path: Path, tmp_path: Path) -> None:
    store = tmp_path / "codes"
    starts = []
    for wanted in (3, 5, 4):
        with subprocess.Popen(
            [sys.executable, "-c", SLOW_FIT, path, store],
            stdout=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stdout is not None
            lines = [running.stdout.readline() for _ in range(wanted)]
            running.send_signal(signal.SIGKILL)
        starts.append(int(lines[0]))
        assert not store.exists()
    # Each went on after rows that were noted, and not from the first row.
    assert starts[0] < 100 < starts[1] < starts[2]
    found = TANClassifier().fit(path, target="label", store=store)
    same_file(in_memory(TANClassifier(), the_table()), found, tmp_path)
    assert store.exists()
    assert not list(tmp_path.glob("*.part"))


def test_a_reading_goes_on_in_one_process(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spilling, "_NOTED_ROWS", 60)
    monkeypatch.setattr("bayleaf.streams.batch_sources.BATCH_ROWS", 40)
    appended = spilling.SpilledTable.append
    begun: list[int] = []

    def interrupted(self: Any, batch: Any, ordered: Any) -> None:
        begun.append(self.n_read)
        if len(begun) == 11:
            raise KeyboardInterrupt
        appended(self, batch, ordered)

    monkeypatch.setattr(spilling.SpilledTable, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        TANClassifier().fit(path, target="label", store=tmp_path / "codes")
    found = TANClassifier().fit(path, target="label", store=tmp_path / "codes")
    assert begun[11] > 200
    same_file(in_memory(TANClassifier(), the_table()), found, tmp_path)


def test_another_fit_reads_the_codes_alone(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "codes"
    first = TANClassifier().fit(path, target="label", store=store)
    monkeypatch.setattr(spilling.SpilledTable, "append", None)
    again = TANClassifier().fit(path, target="label", store=store)
    same_file(first, again, tmp_path)
    opened = NaiveBayesClassifier().fit(CodeStore.open(store))
    same_file(in_memory(NaiveBayesClassifier(), the_table()), opened, tmp_path)


def test_codes_of_another_table_are_refused(path: Path, tmp_path: Path) -> None:
    store = tmp_path / "codes"
    TANClassifier().fit(path, target="label", store=store)
    with pytest.raises(ValueError, match="another table, or of this one read in"):
        TANClassifier(missing="state").fit(path, target="label", store=store)
    pa_parquet.write_table(the_table(seed=1), path)
    with pytest.raises(ValueError, match="holds the codes of another table"):
        TANClassifier().fit(path, target="label", store=store)


def test_changed_codes_are_not_used(path: Path, tmp_path: Path) -> None:
    store = tmp_path / "codes"
    TANClassifier().fit(path, target="label", store=store)
    written = store.read_bytes()

    def check(place: float) -> None:
        content = bytearray(written)
        content[int(place * len(content))] ^= 0x55
        store.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged|no file of codes"):
            TANClassifier().fit(CodeStore.open(store))
        store.write_bytes(content[: int(place * len(content))])
        with pytest.raises(ValueError, match=r"damaged|no file of codes"):
            CodeStore.open(store)

    check_each([0.0, 0.2, 0.5, 0.9, 0.97, 0.999], check)


@pytest.mark.slow
def test_a_full_disk_is_said_and_leaves_nothing(path: Path, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    del resource
    program = (
        "import os, resource, signal, sys\n"
        "from bayleaf import TANClassifier\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]\n"
        "for limit in (100, 3000, 9000):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))\n"
        "    try:\n"
        "        TANClassifier().fit(sys.argv[1], target='label', store=sys.argv[2])\n"
        "    except OSError as error:\n"
        "        print(error, os.listdir(os.path.dirname(sys.argv[2])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path, tmp_path / "codes"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert "has no room for the table's codes" in line
        assert line.endswith("['t.parquet']")
    assert done.stderr == ""


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_temporary_folder_is_emptied(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))

    def full(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(spilling.SpilledTable, "append", full)
    with pytest.raises(OSError, match="has no room"):
        TANClassifier().fit(path, target="label")
    assert not list((tmp_path / "temporary").iterdir())


def test_what_cannot_be_read_is_said(path: Path, tmp_path: Path) -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        what, said = case
        with pytest.raises((ValueError, TypeError), match=said):
            TANClassifier().fit(path, store=tmp_path / "codes", **what)
        assert not list(tmp_path.glob("codes*"))

    check_each(
        [
            ({"target": "lable"}, "did you mean label"),
            ({}, "name their column with target="),
            ({"target": "label", "sample_weight": "text"}, "must hold numbers"),
            ({"target": "label", "sample_weight": [1.0]}, "name their column, got"),
            ({"target": "text"}, "has missing values"),
            ({"target": "date"}, "dates or times"),
            ({"target": "number"}, "missing values|Unknown label type"),
            (
                {"target": "label", "max_rows_in_memory": 0},
                "max_rows_in_memory must be",
            ),
        ],
        check,
    )


def test_missing_files_and_empty_tables_are_said(tmp_path: Path) -> None:
    for name, said in (
        ("none.parquet", "there is no such file"),
        ("*.parquet", "no file has such a name"),
    ):
        with pytest.raises(FileNotFoundError, match=said):
            TANClassifier().fit(str(tmp_path / name), target="label")
    pa_parquet.write_table(the_table().slice(0, 0), tmp_path / "empty.parquet")
    with pytest.raises(ValueError, match="has no rows"):
        TANClassifier().fit(tmp_path / "empty.parquet", target="label")
    (tmp_path / "not.parquet").write_text("a,b\n")
    with pytest.raises(ValueError, match="is no Parquet file"):
        TANClassifier().fit(tmp_path / "not.parquet", target="label")


def test_a_reader_that_fails_is_told_of_at_once() -> None:
    table = the_table()

    def batches() -> Any:
        yield table.to_batches()[0]
        raise RuntimeError("the line went dead")

    reader = pa.RecordBatchReader.from_batches(table.schema, batches())
    start = time.monotonic()
    with pytest.raises(Exception, match="the line went dead"):
        TANClassifier().fit(reader, target="label")
    assert time.monotonic() - start < 30


def test_a_missing_cell_is_named_where_it_is_refused(tmp_path: Path) -> None:
    table = pa.table({"x": ["a", "b"] * 20 + [None], "label": ["p"] * 20 + ["q"] * 21})
    reader = table.to_reader(max_chunksize=9)
    with pytest.raises(ValueError, match=r"1 missing cells \(the first in row 40"):
        TANClassifier(missing="error").fit(reader, target="label")


def test_a_store_that_another_process_writes_is_refused(
    path: Path, tmp_path: Path
) -> None:
    store = tmp_path / "codes"
    with (
        locked(tmp_path / "codes.part.lock"),
        pytest.raises(
            ValueError, match=r"another process is writing the codes of .*s;"
        ),
    ):
        NaiveBayesClassifier().fit(path, target="label", store=store)
    # What a killed process leaves.
    (tmp_path / "codes.part.lock").touch()
    NaiveBayesClassifier().fit(path, target="label", store=store)
    assert {p.name for p in tmp_path.iterdir()} == {"codes", "t.parquet"}


@pytest.mark.parametrize("suffix", [".values", ".numbers", ".missing"])
def test_cells_that_the_disk_lost_are_reported(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    closed = spilling.SpilledTable.close

    def truncated(self: Any) -> None:
        closed(self)
        file = next(p for p in sorted(self.folder.glob(f"*{suffix}")) if file_size(p))
        os.truncate(file, file_size(file) - 8)

    monkeypatch.setattr(spilling.SpilledTable, "close", truncated)
    with pytest.raises(ValueError, match=rf"\{suffix}'? is incomplete: another pro"):
        TANClassifier().fit(path, target="label", store=tmp_path / "codes")
    assert not list(tmp_path.glob("codes*"))


def file_size(path: Path) -> int:
    return path.stat().st_size


def test_a_store_reads_any_stretch(path: Path, tmp_path: Path) -> None:
    NaiveBayesClassifier().fit(path, target="label", store=tmp_path / "codes")
    store = CodeStore.open(tmp_path / "codes")
    whole, part = store.read(range(store.n_rows)), store.read(range(100, 250))
    for column in range(len(store.cards)):
        np.testing.assert_array_equal(
            part.column(column), whole.column(column)[100:250]
        )
    assert "800 rows" in repr(store)


# Comes to its end while the next batch, which Python makes for Arrow, is being read.
_ENDING = """
import time
import pyarrow as pa
from bayleaf.streams import batch_sources
def rows():
    while True:
        time.sleep(0.2)
        yield pa.record_batch({"a": [1, 2, 3]})
batch_sources.BATCH_ROWS = 2
reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), rows())
batches = batch_sources.open_source(reader).batches()
next(batches)
"""


@pytest.mark.slow
def test_a_program_may_end_while_batches_are_read_ahead() -> None:
    command = [sys.executable, "-c", _ENDING]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(4)]
    ended = [(done.communicate(timeout=60)[1], done.returncode) for done in running]
    assert ended == [(b"", 0)] * 4
