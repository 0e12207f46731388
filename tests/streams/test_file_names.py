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
from bayleaf.streams.batch_sources import (
    file_identity,
    file_kind,
    files_of,
    open_source,
)
from offenders import check_each

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
            base = prediction_files._common_folder(paths)
            return prediction_files._names_of(paths, base)

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
    paths = ["a.csv", str(tmp_path / "more" / "b.csv")]
    names = prediction_files._names_of(paths, prediction_files._common_folder(paths))
    assert names == ["a.parquet", os.path.join("more", "b.parquet")]


def relative(files: list[str], folder: Path) -> list[str]:
    """Names of files below a folder."""
    return [Path(path).relative_to(folder).as_posix() for path in files]


def touched(folder: Path, *names: str) -> Path:
    """A folder with some empty files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize("pattern", ["", "/**/*.csv"])
def test_files_of_hidden_and_internal_folders_are_left_out(
    tmp_path: Path, pattern: str
) -> None:
    folder = touched(
        tmp_path / "_in",
        "a.csv",
        "_day=1/b.csv",
        "_temporary/0/c.csv",
        ".ipynb_checkpoints/a.csv",
        "d/_delta_log/e.csv",
    )
    found = files_of(f"{folder}{pattern}")
    assert relative(found, folder) == ["_day=1/b.csv", "a.csv"]


def test_a_glob_reads_an_internal_folder_that_it_spells_out(tmp_path: Path) -> None:
    touched(tmp_path, "a/_kept/b.csv")
    assert relative(files_of(f"{tmp_path}/*/_kept/*.csv"), tmp_path) == [
        "a/_kept/b.csv"
    ]


def test_linked_folders_and_files_are_read_once(tmp_path: Path) -> None:
    folder = touched(tmp_path / "in", "b/f.csv")
    touched(tmp_path / "disk2", "g.csv")
    for link, target in [
        ("a", folder / "b"),
        ("part2", tmp_path / "disk2"),
        ("part3", tmp_path / "disk2"),
        ("b/loop", folder),
        ("latest.csv", folder / "b" / "f.csv"),
    ]:
        os.symlink(target, folder / link)
    assert relative(files_of(folder), folder) == ["b/f.csv", "part2/g.csv"]


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    folder = touched(tmp_path / "in", "f.csv")
    os.symlink(tmp_path / "gone", folder / "part2")
    with pytest.raises(FileNotFoundError, match="part2: its link leads to no file or"):
        files_of(folder)
    os.symlink(tmp_path / "gone", folder / "g.csv")
    with pytest.raises(
        FileNotFoundError, match=r"g\.csv: its link leads to no file or"
    ):
        files_of(f"{folder}/*.csv")


def test_a_pattern_leaves_out_no_folder_of_files(tmp_path: Path) -> None:
    folder = touched(tmp_path / "in", "f.csv", "inner/g.csv")
    assert len(files_of(f"{folder}/*")) == 1
    os.symlink(tmp_path / "in" / "inner", tmp_path / "in" / "part2")
    with pytest.raises(IsADirectoryError, match="part2: it is a folder"):
        files_of(f"{folder}/*")
    assert len(files_of(f"{folder}/**/*.csv")) == 2


def test_lists_of_files_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(touched(tmp_path, "in/a.csv", "b.csv"))

    def check(case: tuple[type[Exception], str, list[object]]) -> None:
        kind, message, files = case
        with pytest.raises(kind, match=message):
            open_source(files)

    check_each(
        [
            (ValueError, "the list of files is empty; name at least one", []),
            (FileNotFoundError, "^cannot read no.csv: there is no such", ["no.csv"]),
            (ValueError, "names b.csv twice; list each", ["b.csv", "b.csv"]),
            (
                ValueError,
                r"names .*[\\/]b.csv twice, also as b.csv; list each",
                ["b.csv", tmp_path / "b.csv"],
            ),
            (
                IsADirectoryError,
                "cannot read in: a list may contain files only",
                ["in"],
            ),
            (TypeError, "must contain paths, got 3", [3]),
        ],
        check,
    )


def test_a_list_may_mix_absolute_and_relative_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.parquet", "b.parquet"):
        pa_parquet.write_table(TABLE, name)
    source = open_source(["a.parquet", tmp_path / "b.parquet"])
    assert pa.Table.from_batches(source.batches()).num_rows == 6


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_read_for_its_identity(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert file_identity(str(tmp_path / "pipe"))[1] == 0
