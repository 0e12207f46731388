"""Names of files mean the same on every system, whatever their case and separators."""

from __future__ import annotations

import ntpath
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf.predictions import prediction_files
from bayleaf.streams.batch_sources import file_kind, files_of, open_source

TABLE = pa.table({"x": ["a", "b", None], "n": [1, 2, 3]})


@pytest.mark.parametrize("pattern", ["", "/**/*.csv"])
def test_files_are_in_the_order_of_their_folders(tmp_path: Path, pattern: str) -> None:
    # As texts, "a-b/" comes before "a/", and "a\\" after both.
    names = ["a/x.csv", "a/y/x.csv", "a-b/x.csv"]
    for name in reversed(names):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = files_of(f"{tmp_path}{pattern}")
    assert [Path(path).relative_to(tmp_path).as_posix() for path in found] == names


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("A.CSV", "csv"),
        ("a.TSV.GZ", "csv"),
        ("a.PQ", "parquet"),
        ("a.csv.old", "other"),
    ],
)
def test_the_case_of_a_suffix_does_not_matter(name: str, kind: str) -> None:
    assert file_kind(name) == kind


@pytest.mark.parametrize(
    "name", ["T.CSV", "T.TSV", "T.CSV.GZ", "t.tsv.gz", "T.TSV.BZ2", "T.PARQUET"]
)
def test_files_in_upper_case_are_read_as_those_in_lower_case(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if file_kind(name) == "parquet":
        pa_parquet.write_table(TABLE, path)
    else:
        codec = {".GZ": "gzip", ".BZ2": "bz2"}.get(path.suffix.upper())
        separator = "\t" if "TSV" in name.upper() else ","
        options = pa_csv.WriteOptions(delimiter=separator)
        with pa.output_stream(path, codec) as file:
            pa_csv.write_csv(TABLE, file, options)
    source = open_source(path)
    batches = pa.Table.from_batches(source.batches())
    assert batches.cast(TABLE.schema).equals(TABLE)


def test_predictions_of_files_on_windows_have_their_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def names_of(*paths: str) -> list[str]:
        with monkeypatch.context() as patch:
            patch.setattr(os, "path", ntpath)
            return prediction_files._names_of(paths)

    assert names_of(r"C:\t\a.csv", "c:/t/more/b.csv.gz", r"C:\t/c.v1.csv") == [
        "a.parquet",
        r"more\b.parquet",
        "c.parquet",
    ]
    assert names_of(r"C:\t\a.csv", r"D:\t\b.csv") == ["a.parquet", "b.parquet"]


def test_files_of_several_drives_need_names_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "path", ntpath)
        with pytest.raises(ValueError, match=r"would be predicted into [aA].parquet"):
            prediction_files.parts_of([r"C:\t\a.csv", r"D:\t\A.csv"], "the list")


def test_relative_and_absolute_names_have_a_common_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = prediction_files._names_of(["a.csv", str(tmp_path / "more" / "b.csv")])
    assert names == ["a.parquet", os.path.join("more", "b.parquet")]
