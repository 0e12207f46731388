"""Files of Stata are read as they declare their columns."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf.cli.options import FormatOptions
from bayleaf.cli.table_reading import read_table
from bayleaf.data.files.table_files import read_batches
from offenders import check_each

Run = Callable[..., Any]
N = 60
LABELS = {1: "None", 2: "two, or more", 3: '"many"'}


def frame() -> pd.DataFrame:
    """Columns of every type."""
    row = np.arange(N)
    return pd.DataFrame(
        {
            "kids": (row % 3 + 1).astype("int8"),
            "age": np.where(row % 10 == 3, 77, 20 + row % 25).astype("int8"),
            "size": (row * 7 % 40 / 10).astype("float32"),
            "income": np.where(row % 9 == 1, np.nan, row * 1234.5),
            "land": [("NA", "DE", "", "a, b")[k % 4] for k in row],
            "zip": [f"{1067 + 7 * (k % 5):05}" for k in row],
            "day": pd.Timestamp("2020-02-28") + pd.to_timedelta(row, "D"),
            "time": pd.Timestamp("2020-02-28 10:00") + pd.to_timedelta(row * 7, "h"),
            "y": row // 30,
        }
    )


def write(path: Path, version: int = 118, **labels: dict[int, str]) -> None:
    """Write the frame, the 77 of an age as Stata's missing code ``.a``."""
    table = frame()
    dates = {"day": "td", "time": "tc"}
    table.to_stata(
        path,
        write_index=False,
        version=version,
        convert_dates=dates,
        value_labels={"kids": LABELS, "y": {0: "p", 1: "q"}, **labels},
    )
    head, mark, rows = path.read_bytes().rpartition(b"<data>")
    width = (rows.index(b"</data>")) // N
    cells = bytearray(rows)
    for start in range(0, N * width, width):
        if cells[start + 1] == 77:
            cells[start + 1] = 102
    path.write_bytes(head + mark + bytes(cells))


def test_columns_are_what_the_file_declares(run: Run, tmp_path: Path) -> None:
    source, model = tmp_path / "t.dta", tmp_path / "m.json"
    write(source)
    done = run("check", source, "--target", "y", "--json")
    facts = {c["name"]: c for c in json.loads(done.out)["columns"]}
    read = {
        n: (facts[n]["read_as"], facts[n]["n_missing"]) for n in frame() if n != "y"
    }
    assert read == {
        "kids": ("nominal", 0),
        "age": ("numeric", 6),
        "size": ("numeric", 0),
        "income": ("numeric", 7),
        "land": ("nominal", 15),
        "zip": ("nominal", 0),
        "day": ("date", 0),
        "time": ("date", 0),
    }
    assert facts["kids"]["states"] == sorted(LABELS.values())
    assert facts["land"]["states"] == ["DE", "NA", "a, b"]
    assert "is read as a Stata file (.dta)" in done.err
    # Numbers of four bytes are the decimals that were written to them.
    assert read_table(str(source)).column("size").to_pylist()[:3] == [0.0, 0.7, 1.4]
    fit = ["fit", source, "--target", "y", "--model", "nb", "-o", model]
    outputs = []
    for more in ([], ["--memory", "500MB"]):
        assert run(*fit, *more).code == 0
        outputs.append(run("predict", model, source).out)
        assert run("audit", model, source, "--by", "kids").code == 0
    assert outputs[0] == outputs[1]
    first = "None,20,0,0,NA,01067,2020-02-28,2020-02-28 10:00:00,p,p,"
    assert outputs[0].splitlines()[1].startswith(first)


@pytest.mark.parametrize("version", [117, 118, 119])
def test_both_ways_to_read_agree(tmp_path: Path, version: int) -> None:
    source = tmp_path / "t.dta"
    write(source, version)
    whole = read_table(str(source))
    batch = pa.Table.from_batches(read_batches(str(source), FormatOptions()))
    assert whole.column_names == batch.column_names == [*frame()]
    for name in ("kids", "y", "zip"):
        assert whole.column(name).to_pylist() == batch.column(name).to_pylist()
    assert pa.types.is_dictionary(whole.schema.field("y").type)


def test_codes_with_labels_among_numbers_are_missing(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "t.dta"
    write(source, age={44: "refused"})
    done = run("check", source, "--json")
    facts = {c["name"]: c for c in json.loads(done.out)["columns"]}
    n_missing = 6 + (frame()["age"] == 44).sum()
    assert (facts["age"]["read_as"], facts["age"]["n_missing"]) == (
        "numeric",
        n_missing,
    )
    assert "'refused', taken as missing" in str(facts["age"]["changes"])


def test_what_cannot_be_read_is_refused_in_a_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "t.dta"
    write(source)
    whole = source.read_bytes()

    def check(content: bytes) -> None:
        source.write_bytes(content)
        done = run("check", source)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert f"{source} is not a Stata file that can be read" in done.err

    check_each([b"", b"a,b\n1,2\n", whole[:200], whole[: len(whole) // 2]], check, repr)
    write(source, kids={1: "few", 2: "few", 3: "many"})
    done = run("check", source)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert "the same label for several codes of column 'kids'" in done.err
    write(source)
    assert "leave out --no-header" in run("check", source, "--no-header").err
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert (
        "needs pandas; install it with pip install pandas" in run("check", source).err
    )


def test_tables_are_not_written_as_stata(run: Run, tmp_path: Path) -> None:
    source, model = tmp_path / "t.dta", tmp_path / "m.json"
    write(source)
    assert run("fit", source, "--target", "y", "--model", "nb", "-o", model).code == 0
    done = run("predict", model, source, "-o", tmp_path / "p.dta")
    assert "let the name of the output end in .csv" in done.err
