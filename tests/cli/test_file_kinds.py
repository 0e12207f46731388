"""Files that are not tables of text are named by their first bytes."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf.data.files.file_kinds import other_kind
from offenders import check_each

Run = Callable[..., Any]
TABLE = pa.table({"a": [1, 2], "y": ["p", "q"]})


def archive(*names: str) -> bytes:
    """A zip archive with empty files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as written:
        for name in names:
            written.writestr(name, "")
    return content.getvalue()


def written(write: Callable[[Any, Any], Any]) -> bytes:
    """The bytes of the table as a writer of Arrow makes them."""
    content = io.BytesIO()
    write(TABLE, content)
    return content.getvalue()


KINDS = {
    "a binary Excel workbook": archive("[Content_Types].xml", "xl/workbook.bin"),
    "an Office document": archive("[Content_Types].xml", "word/document.xml"),
    "an OpenDocument spreadsheet": archive("mimetype", "content.xml"),
    "a zip archive": archive("t.csv"),
    "an old Excel workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "compressed by gzip": gzip.compress(b"a,y\n1,p\n"),
    "a Parquet file": written(pa_parquet.write_table),
    "a Feather or Arrow file": written(pa_feather.write_feather),
    "an HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(100),
    "a PDF document": b"%PDF-1.7\n%\xe2\xe3\n",
    "an SPSS file": b"$FL2@(#) SPSS DATA FILE" + bytes(100),
    "a Stata file": b"<stata_dta><header><release>118</release>" + bytes(100),
    "a SAS data set": bytes(12) + b"\xc2\xea\x81\x60" + bytes(100),
    "a SAS transport file": b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!",
    "an R data file": b"RDX3\nX\n" + bytes(20),
    "HTML": b"\n<!DOCTYPE html>\n<html><table><tr><td>a",
    "XML": b"<?xml version='1.0'?>\n<rows/>",
    "JSON": b'[{"a": 1, "y": "p"},\n {"a": 2, "y": "q"}]',
    "JSON lines": b'{"a": 1, "y": "p"}\n{"a": 2, "y": "q"}\n',
    "LaTeX": b"\\begin{tabular}{ll}\na & y \\\\\n1 & p \\\\\n",
    "a table drawn with bars": b"| a | y |\r\n|--:|:---|\r\n| 1 | p |\r\n",
    "ARFF": b"% iris\n%\n@RELATION iris\n@attribute a numeric\n@data\n1\n",
}


@pytest.mark.parametrize("name", ["t.csv", "t.data"])
def test_a_file_of_another_kind_is_named(run: Run, tmp_path: Path, name: str) -> None:
    source = tmp_path / name

    def check(kind: str) -> None:
        source.write_bytes(KINDS[kind])
        done = run("check", source)
        assert (done.code, done.out) == (2, ""), done
        assert done.err.startswith(f"bayleaf: {source} is {kind}"), done.err
        assert "; " in done.err

    check_each(KINDS, check, repr)


def test_an_archive_is_a_workbook_by_its_name(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "book.XLSX"
    source.write_bytes(KINDS["a zip archive"])
    assert "is not an Excel workbook that can be read" in run("check", source).err


def test_a_stream_of_another_kind_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(KINDS["HTML"])))
    monkeypatch.setattr("sys.stdin", stream)
    assert "standard input is HTML" in run("check", "-").err


def test_text_that_begins_like_another_kind_is_read(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"

    def check(start: str) -> None:
        source.write_text(start + "".join(f"{i % 7},b\n" for i in range(20)))
        assert run("check", source).out.startswith("20 rows")

    check_each(["[mm],y\n", "{a},y\n", "@a,y\n", "<a>,y\n", "PKW,y\n"], check, repr)


WORDS = {
    "cp1252": ["grün", "weiß"],
    "cp1251": ["синий", "белый"],
    "shift_jis": ["東京", "大阪"],
    "cp932": ["①東京", "②大阪"],
    "gbk": ["北京", "上海"],
    "gb18030": ["𠀀北京", "上海"],
    "utf-16-le": ["grün", "weiß"],
}


def test_the_encoding_of_a_file_is_suggested_and_used(run: Run, tmp_path: Path) -> None:
    source, model = tmp_path / "t.csv", tmp_path / "m.json"

    def check(encoding: str) -> None:
        words = WORDS[encoding]
        rows = "".join(f"{words[i % 2]},{'pq'[i // 20]}\n" for i in range(40))
        source.write_bytes(f"wort,y\n{rows}".encode(encoding))
        fit = ["fit", source, "--target", "y", "--model", "nb", "-o", model]
        for command in (["check", source], fit, [*fit, "--memory", "500MB"]):
            done = run(*command)
            assert done.code == 2, done
            assert "UTF-8; give --encoding: " in done.err
            assert f"{encoding} ('{words[0]}')" in done.err, done.err
        done = run("check", source, "--encoding", encoding)
        assert done.code == 0
        assert words[0] in done.out
        assert run(*fit, "--encoding", encoding).code == 0
        done = run("predict", model, source)
        assert done.code == 2
        assert encoding == "utf-16-le" or "line 2 of" in done.err
        assert f"{encoding} ('{words[0]}')" in done.err
        scored = tmp_path / "scored.csv"
        words_of_file = ["--encoding", encoding, "-o", scored]
        assert run("predict", model, source, *words_of_file).code == 0
        assert words[0] in scored.read_bytes().decode(encoding)

    check_each(list(WORDS), check)


def test_an_encoding_that_does_not_fit_is_refused(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("wort,y\n" + "grün,p\nweiß,q\n" * 9, encoding="utf-8")
    done = run("check", source, "--encoding", "ascii")
    assert done.code == 2
    assert "is not text in ascii" in done.err
    assert "utf-8 ('grün')" in done.err


def test_a_table_drawn_in_text_is_named() -> None:
    for text in (
        "a | y\n---|---\n1 | p\n",
        "| a | y |\n|:--:|---:|\n| 1 | p |\n",
        "\n| a | y |\n|---+---|\n| 1 | p |\n",
        " a | y\n---+---\n 1 | p\n(1 row)\n",
        "+---+---+\n| a | y |\n+===+===+\n| 1 | p |\n+---+---+\n",
    ):
        kind, _ = other_kind(text.encode()) or ("", "")
        assert kind.startswith("a table drawn with bars"), text
    for text in ("a|y\n-|-\n1|p\n", "a y\n--- ---\n1 p\n", "a+b\n---\n1+2\n"):
        assert other_kind(text.encode()) is None, text
