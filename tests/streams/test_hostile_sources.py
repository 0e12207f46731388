"""Sources that are damaged, contradict themselves or meet another process."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf import (
    BayesianNetworkEstimator,
    CodeStore,
    NaiveBayesClassifier,
    TANClassifier,
)
from offenders import check_each
from oracles.batched_tables import SLOW_FIT, in_memory, reader, same_file, the_table

SMALL = pa.table({"x": ["a", "b"] * 50, "n": np.arange(100) / 2, "label": ["p"] * 100})


def density(source: Any, **more: Any) -> Any:
    """A density model of a table."""
    return BayesianNetworkEstimator(random_state=0, n_restarts=1).fit(source, **more)


def classifier(source: Any, **more: Any) -> Any:
    """A classifier of a table."""
    return NaiveBayesClassifier().fit(source, target="label", **more)


FITS = [density, classifier]


def one_sentence(error: pytest.ExceptionInfo[Exception]) -> None:
    """The error is our own, in one line."""
    assert type(error.value).__module__ == "builtins"
    assert "\n" not in str(error.value)


class Changing:
    """A stream whose second batch does not have the columns of the first."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        def batches() -> Any:
            yield SMALL.to_batches()[0]
            yield pa.record_batch({"x": [1], "n": ["?"], "label": ["q"]})

        return pa.RecordBatchReader.from_batches(
            SMALL.schema, batches()
        ).__arrow_c_stream__()


def failing(kind: type[Exception]) -> pa.RecordBatchReader:
    """A reader that breaks off."""

    def batches() -> Any:
        yield SMALL.to_batches()[0]
        raise kind("the line\nwent dead")

    return pa.RecordBatchReader.from_batches(SMALL.schema, batches())


def test_what_a_library_cannot_read_is_told_in_a_sentence() -> None:
    def check(case: tuple[Any, tuple[Any, str]]) -> None:
        fit, (source, said) = case
        with pytest.raises((ValueError, OSError), match=said) as error:
            fit(source())
        one_sentence(error)

    check_each(
        itertools.product(
            FITS,
            [
                (Changing, "cannot read the table: "),
                (lambda: failing(pa.ArrowInvalid), "the line went dead"),
                (lambda: reader(SMALL.slice(0, 0), 5), "the table has no rows"),
                (
                    lambda: pl.LazyFrame(SMALL).select(pl.col("no")),
                    "unable to find column",
                ),
                (
                    lambda: pl.LazyFrame(SMALL).with_columns(
                        pl.col("x").cast(pl.Int64)
                    ),
                    "conversion from",
                ),
                (lambda: [Path("no.parquet")], "no.parquet: there is no such file"),
            ],
        ),
        check,
    )


def test_columns_that_no_model_has_are_named() -> None:
    def check(case: tuple[Any, tuple[Any, str]]) -> None:
        fit, (column, said) = case
        with pytest.raises(
            (ValueError, TypeError), match=f"column 'z' {said}"
        ) as error:
            fit(reader(SMALL.append_column("z", column), 30))
        one_sentence(error)

    check_each(
        itertools.product(
            FITS,
            [
                (pa.array([float("inf")] * 100), "holds infinity"),
                (pa.array([[1, 2]] * 100), "holds list<item: int64>"),
                (pa.array([{"a": 1}] * 100), "holds struct<a: int64>"),
                (pa.array([b"\xff"] * 100), "holds binary"),
            ],
        ),
        check,
    )


def test_weights_that_cannot_be_used_are_told_of() -> None:
    def check(case: tuple[Any, tuple[list[Any], str]]) -> None:
        fit, (weights, said) = case
        table = SMALL.append_column("w", pa.array(weights))
        with pytest.raises(ValueError, match=said):
            fit(reader(table, 30), sample_weight="w")

    check_each(
        itertools.product(
            FITS,
            [
                ([-1.0] * 100, r"holds -1\.0 in row 0"),
                ([1.0] * 60 + [None] * 40, "holds nan in row 60"),
                ([0.0] * 100, "no rows of weight above zero"),
                ([1e308] * 100, "sums to inf, too much to count with"),
                (["a"] * 100, "must hold numbers"),
            ],
        ),
        check,
    )


@pytest.mark.slow
def test_values_beyond_those_of_two_bytes_share_a_state(tmp_path: Path) -> None:
    n_rows = 150_000
    table = pa.table(
        {
            "many": [f"v{i % 70_000}" for i in range(n_rows)],
            "few": [["a", "b"][i % 2] for i in range(n_rows)],
        }
    )
    found = density(reader(table, 40_000))
    same_file(density(table), found, tmp_path)
    assert found.encoder_.domain[0].other_state == "other values"


def test_csv_files_that_are_no_tables_are_told_of(tmp_path: Path) -> None:
    def check(case: tuple[Any, tuple[str, str]]) -> None:
        fit, (content, said) = case
        (tmp_path / "t.csv").write_text(content)
        with pytest.raises(ValueError, match=said) as error:
            fit(tmp_path / "t.csv", store=tmp_path / "codes")
        one_sentence(error)
        assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]

    check_each(
        itertools.product(
            FITS,
            [
                (
                    "x,label\na,p\nb\nc,q\n",
                    r"line 3 of .*t\.csv has 1 cells, but the header has 2",
                ),
                ("x,x,label\na,b,p\n", r"t\.csv has several columns called x;"),
                ("x,label\n", "the table has no rows"),
                ("", r"t\.csv is empty; add a header and rows"),
            ],
        ),
        check,
    )


def test_files_of_other_columns_are_refused(tmp_path: Path) -> None:
    def check(case: tuple[Any, tuple[pa.Table, str]]) -> None:
        fit, (second, said) = case
        pa_parquet.write_table(SMALL, tmp_path / "0.parquet")
        pa_parquet.write_table(second, tmp_path / "1.parquet")
        with pytest.raises(ValueError, match=said):
            fit(tmp_path)

    check_each(
        itertools.product(
            FITS,
            [
                (SMALL.drop_columns(["n"]), r"1\.parquet lacks the column 'n' that"),
                (
                    SMALL.append_column("more", SMALL["x"]),
                    r"0\.parquet lacks the column 'mo",
                ),
                (
                    SMALL.set_column(0, "x", SMALL["n"]),
                    "is string in some of the files and do",
                ),
            ],
        ),
        check,
    )


def test_files_may_differ_in_the_width_of_numbers_and_lack_values(
    tmp_path: Path,
) -> None:
    one = pa.table({"x": ["a", "b"] * 20, "n": pa.array([1, 2] * 20, pa.int8())})
    two = pa.table({"x": pa.nulls(30), "n": pa.array([3.5] * 30)})
    pa_parquet.write_table(one, tmp_path / "0.parquet")
    pa_parquet.write_table(two, tmp_path / "1.parquet")
    joined = pa.concat_tables([one, two], promote_options="permissive")
    found = density(tmp_path)
    same_file(density(joined), found, tmp_path)


def test_damaged_parquet_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pa_parquet.write_table(the_table(2000), path)
    content = bytearray(path.read_bytes())
    # The head of the first page, then a stretch that holds heads of pages.
    for place, n_bytes in ((4, 40), (len(content) // 4, len(content) // 4)):
        broken = content[:]
        broken[place : place + n_bytes] = b"\x99" * n_bytes
        path.write_bytes(broken)
        with pytest.raises((ValueError, OSError), match=r"t\.parquet") as error:
            density(path)
        one_sentence(error)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"t\.parquet is no Parquet file"):
        density(path)


@pytest.mark.parametrize("fit", FITS)
def test_no_changed_byte_of_a_file_of_codes_goes_unnoticed(
    fit: Any, tmp_path: Path
) -> None:
    pa_parquet.write_table(SMALL, tmp_path / "t.parquet")
    fit(tmp_path / "t.parquet", store=tmp_path / "codes")
    again = fit if fit is density else NaiveBayesClassifier().fit
    content = (tmp_path / "codes").read_bytes()
    rng = random.Random(0)
    for i in range(200):
        place, changed = rng.randrange(len(content)), bytearray(content)
        changed[place] ^= 1 << rng.randrange(8)
        (tmp_path / "codes").write_bytes(changed if i % 2 else content[:place])
        with pytest.raises(ValueError, match=r"damaged|no file of codes") as error:
            again(CodeStore.open(tmp_path / "codes"))
        one_sentence(error)


def test_files_of_codes_are_written_to_files(tmp_path: Path) -> None:
    def check(fit: Any) -> None:
        pa_parquet.write_table(SMALL, tmp_path / "t.parquet")
        for store, said in (
            ("no/codes", "no does not exist"),
            (".", "it is a folder"),
            ("t.parquet", "is no file of codes"),
        ):
            with pytest.raises((ValueError, OSError), match=said):
                fit(tmp_path / "t.parquet", store=tmp_path / store)
        assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]

    check_each(FITS, check)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs locks of POSIX")
def test_two_processes_do_not_write_one_file_of_codes(tmp_path: Path) -> None:
    path, store = tmp_path / "t.parquet", tmp_path / "codes"
    pa_parquet.write_table(the_table(), path, row_group_size=120)
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_FIT, path, store],
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.send_signal(signal.SIGSTOP)
        with pytest.raises(ValueError, match="another process is writing the codes"):
            TANClassifier().fit(path, target="label", store=store)
        running.send_signal(signal.SIGCONT)
        running.stdout.read()
    assert running.returncode == 0
    found = TANClassifier().fit(path, target="label", store=store)
    same_file(in_memory(TANClassifier(), the_table()), found, tmp_path)
    assert not list(tmp_path.glob("*.part"))


def test_datasets_of_other_types_are_cast_or_told_of(tmp_path: Path) -> None:
    pa_parquet.write_table(SMALL, tmp_path / "t.parquet")
    wrong = SMALL.schema.set(0, pa.field("x", pa.int64()))
    source = pa_dataset.dataset(tmp_path / "t.parquet", schema=wrong)
    with pytest.raises(ValueError, match="cannot read the table") as error:
        density(source)
    one_sentence(error)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_folders_that_may_not_be_written_are_named(tmp_path: Path) -> None:
    pa_parquet.write_table(SMALL, tmp_path / "t.parquet")
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(PermissionError, match="closed may not be written"):
        density(tmp_path / "t.parquet", store=tmp_path / "closed" / "codes")


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"PAR1\0\0", "let its name end in .parquet"),
        (b"%PDF-1.7\n", "save the table as CSV or Parquet"),
        (b"a,y\n\xe9,p\n\xe8,q\n", "save it as UTF-8, or pass a data frame"),
        (b"1,1\n2,1\n3,2\n", "pass a data frame with names"),
    ],
)
def test_files_of_other_kinds_are_refused_by_what_helps_in_python(
    tmp_path: Path, content: bytes, hint: str
) -> None:
    source = tmp_path / "t.csv"
    source.write_bytes(content)
    for table in (source, tmp_path):
        with pytest.raises(ValueError, match=hint) as raised:
            NaiveBayesClassifier().fit(table, target="y")
        one_sentence(raised)
        assert "--" not in str(raised.value)


def test_what_is_left_out_of_a_file_is_warned_of(tmp_path: Path) -> None:
    rows = "".join(f"{x};{y}\n" for x, y in zip("abab" * 9, "ppqq" * 9, strict=True))
    source = tmp_path / "t.csv"
    source.write_text(f"Sales of June\nx;y\n{rows}Source: the shop\n")
    with pytest.warns(UserWarning, match=r"t\.csv, 'Source: the shop' is skipped"):
        fitted = NaiveBayesClassifier().fit(source, target="y")
    assert fitted.encoder_.column_names == ("x",)
