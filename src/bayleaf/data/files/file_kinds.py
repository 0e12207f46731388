"""Kinds of files by their first bytes."""

from __future__ import annotations

import re
from pathlib import Path

# How files whose names end so are compressed.
CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
PARQUET = (".parquet", ".pq")
JSON = (".json", ".jsonl", ".ndjson")
WORKBOOKS = (".xlsx", ".xlsm")
_EXPORT = "save the table as CSV or Parquet"
_UNPACK = "unpack it, or let its name end in "
WORKBOOK, STATA = "an Excel workbook (.xlsx)", "a Stata file (.dta)"
# What a file begins with, what it is, and what helps; the first that fits.
_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (
        rb"PK\x03\x04(?s:.)*xl/workbook\.bin",
        "a binary Excel workbook (.xlsb)",
        "save it as .xlsx, or the table as CSV",
    ),
    (rb"PK\x03\x04(?s:.)*xl/", WORKBOOK, _EXPORT),
    (rb"PK\x03\x04(?s:.)*\[Content_Types\]", "an Office document", _EXPORT),
    (rb"PK\x03\x04(?s:.){26}mimetype", "an OpenDocument spreadsheet", _EXPORT),
    (rb"PK\x03\x04", "a zip archive", "unpack it"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (.xls)", _EXPORT),
    (rb"\x1f\x8b\x08", "compressed by gzip", f"{_UNPACK}.gz"),
    (rb"BZh[1-9]1AY", "compressed by bzip2", f"{_UNPACK}.bz2"),
    (rb"\x28\xb5\x2f\xfd", "compressed by zstd", f"{_UNPACK}.zst"),
    (rb"\xfd7zXZ", "compressed by xz", "unpack it"),
    (rb"PAR1", "a Parquet file", "let its name end in .parquet"),
    (rb"ARROW1|FEA1", "a Feather or Arrow file", _EXPORT),
    (rb"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (rb"%PDF-", "a PDF document", _EXPORT),
    (rb"SQLite format 3\0", "an SQLite database", _EXPORT),
    (rb"\$FL[23]", "an SPSS file (.sav)", _EXPORT),
    (rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\x00", STATA, "let its name end in .dta"),
    (rb"\0{12}\xc2\xea\x81\x60", "a SAS data set (.sas7bdat)", _EXPORT),
    (rb"HEADER RECORD\*{7}LIB", "a SAS transport file (.xpt)", _EXPORT),
    (rb"RD[AX][23]\n", "an R data file", _EXPORT),
    (rb"\s*(?i:<!doctype html|<html|<table)[\s>]", "HTML", _EXPORT),
    (rb"\s*<\?xml\s", "XML", _EXPORT),
    (rb'\s*\{\s*"(?s:.)*?\}\s*\n\s*\{', "JSON lines", "let its name end in .jsonl"),
    (rb'\s*(\[\s*)?\{\s*"|\s*\[\s*\[', "JSON", "let its name end in .json"),
    (rb"\s*\\(?:begin\{|documentclass\b)", "LaTeX", _EXPORT),
    # The first or the second line is a rule that crosses the bars between cells.
    (
        rb"\s*(?:[^\n]*\n)?(?=[^\n]*[|+])(?=[^\n]*(?:---|===))[|+:= \t-]+\r?\n",
        "a table drawn with bars and lines, as Markdown and databases show them",
        _EXPORT,
    ),
    (rb"(\s*(%[^\n]*)?\n)*\s*@(?i:relation)\s", "ARFF", "let its name end in .arff"),
)


def other_kind(start: bytes, suffix: str = "") -> tuple[str, str] | None:
    """The kind of a file that is not CSV, by its first bytes, and a remedy.

    The suffix of its name distinguishes workbooks from other archives.
    """
    start = start.removeprefix(b"\xef\xbb\xbf")
    if start.startswith(b"PK\x03\x04") and suffix in WORKBOOKS:
        return WORKBOOK, _EXPORT
    kinds = ((kind, hint) for sign, kind, hint in _KINDS if re.match(sign, start))
    return next(kinds, None)


def inner_suffix(path: str) -> str:
    """The suffix of a name in lower case, without those of compression."""
    inner = Path(path)
    while inner.suffix.lower() in CODECS:
        inner = inner.with_suffix("")
    return inner.suffix.lower()
